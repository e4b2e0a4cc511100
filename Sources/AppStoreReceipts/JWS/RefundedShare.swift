/// How much of a purchase the store took back: a part of the price of its whole quantity, in thousandths of a percent.
///
/// `revocationPercentage` has it (StoreFacts c.2, since 2025-12). One unit of three that is refunded is about 33,333: the
/// store counts parts of the whole quantity, and rounds. A refund of a subscription says by it how much of the period was
/// left: the period ends, whatever the share is.
public struct RefundedShare: Sendable, Hashable, Comparable {
  /// 0 to 100,000.
  public let milliPercent: Int

  /// All of it.
  public static let whole = RefundedShare(unchecked: 100_000)

  /// Nil for a number below 0 or above 100,000.
  public init?(milliPercent: some BinaryInteger) {
    guard let number = Int(exactly: milliPercent), 0...100_000 ~= number else { return nil }
    self.milliPercent = number
  }

  /// The share of some units of a quantity, as the store rounds it. Nil unless it is 0 to `quantity` units of at least one.
  public init?(units: Int, of quantity: Int) {
    guard quantity > 0, 0...quantity ~= units else { return nil }
    let (share, rest) = quantity.dividingFullWidth(units.multipliedFullWidth(by: 100_000))
    milliPercent = share + (rest >= quantity - rest ? 1 : 0)
  }

  private init(unchecked milliPercent: Int) { self.milliPercent = milliPercent }

  /// The smaller part first.
  public static func < (left: RefundedShare, right: RefundedShare) -> Bool {
    left.milliPercent < right.milliPercent
  }

  /// From 0 to 1.
  public var fraction: Double { Double(milliPercent) / 100_000 }

  /// How many units of a quantity are refunded: those that the share covers completely, with the store's rounding. Of a
  /// unit that is refunded in part, a part is still paid, so it is not taken back.
  public func units(of quantity: Int) -> Int {
    guard self != .whole else { return max(0, quantity) }
    guard milliPercent > 0, quantity > 0 else { return 0 }
    // At most the quantity, because the number is below 100,000 here.
    return 100_000.dividingFullWidth(quantity.multipliedFullWidth(by: milliPercent + 1)).quotient
  }

  /// What is refunded of an amount that the units of a quantity have together, such as the coins of three packs. To the
  /// unit, if the share is one of whole units.
  public func part(of amount: Int, in quantity: Int) -> Int {
    guard amount > 0, quantity > 0 else { return 0 }
    let units = units(of: quantity)
    let exact = RefundedShare(units: units, of: quantity)?.milliPercent ?? milliPercent
    // Both quotients are at most the amount.
    guard abs(exact - milliPercent) > 1 else {
      return quantity.dividingFullWidth(amount.multipliedFullWidth(by: units)).quotient
    }
    return 100_000.dividingFullWidth(amount.multipliedFullWidth(by: milliPercent)).quotient
  }
}

extension RefundedShare: Codable {
  /// A whole number of thousandths of a percent. Throws for one that is no share.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let share = RefundedShare(milliPercent: try container.decode(Int.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "a share of 0 to 100,000")
    }
    self = share
  }

  /// The number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(milliPercent)
  }
}

/// What contradicts itself in a transaction's statement about a refund. The purchase is read all the same.
public enum RefundFinding: String, Sendable, Hashable, CaseIterable {
  /// A share or a type, and no date. Only a date says that something was taken back: nothing is refunded.
  case withoutDate
  /// A prorated refund that does not say how much. All of it counts as refunded, until another proof says the share.
  case withoutShare
  /// A refund of the whole price, or the end of a family's share, with a smaller share. The type counts.
  case partOfWhole
}

extension SignedTransaction {
  /// How much the store took back. Nil if nothing is, which only an absent ``revocationDate`` says, and where the payload
  /// does not say how much: then it is all of it. The type wins over a share that contradicts it.
  public var refundedShare: RefundedShare? {
    guard revocationDate != nil else { return nil }
    if takesWhole { return .whole }
    return revocationPercentage.flatMap { RefundedShare(milliPercent: $0) }
  }

  /// What contradicts itself about the refund; nil for nothing.
  public var refundFinding: RefundFinding? {
    guard revocationDate != nil else {
      return revocationPercentage == nil && revocationType == nil ? nil : .withoutDate
    }
    if takesWhole { return revocationPercentage.map { $0 == 100_000 } ?? true ? nil : .partOfWhole }
    return revocationType == .proratedRefund && revocationPercentage == nil ? .withoutShare : nil
  }

  private var takesWhole: Bool { revocationType == .fullRefund || revocationType == .familyRevoke }
}
