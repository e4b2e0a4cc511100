import AppStoreReceipts

/// What a purchase gives after a refund.
extension Outcome {
  /// How much of the price the store gave back, from 0 to 1, if the verdict is `refunded`: as the backend says, else the
  /// proof, else 1. A prorated refund is a part: of three units, one that is refunded is a third. Nil for every other
  /// verdict.
  public var refundedShare: Double? {
    guard verdict == .refunded else { return nil }
    return (refund?.share ?? refundNote?.share ?? .whole).fraction
  }

  /// How many units of the purchase are refunded, if the verdict is `refunded`. A period of a subscription is over with
  /// any refund, so all of it is. Nil for every other verdict, and if the details in the file are damaged.
  public var refundedUnits: Int? { refund?.units }

  /// How many units the purchase gives now: all of them if it is fulfilled, without refunded seats; what is left after a
  /// refund; else none. Nil if the details in the file are damaged. Of another account's purchase it is 0.
  public var unitsHeld: Int? {
    guard let units = paidUnits else { return nil }
    if isFulfilled { return units }
    guard owner != .another, let refund else { return 0 }
    return refund.quantity - refund.units
  }

  /// Whether the purchase gives anything now: all of it, or what a refund leaves.
  var givesUnits: Bool { isFulfilled || (unitsHeld ?? 0) > 0 }

  /// How much the purchase gives now, if each unit gives this much, such as the coins of a pack. If the backend
  /// does not say how many units are refunded, a share that is no number of whole units takes back its part of the amount,
  /// rounded down. Nil like ``unitsHeld``.
  public func amount(perUnit: Int) -> Int? {
    guard let quantity = paidUnits else { return nil }
    let (all, isTooMuch) = max(0, perUnit).multipliedReportingOverflow(by: max(0, quantity))
    let amount = isTooMuch ? .max : all
    if isFulfilled { return amount }
    guard owner != .another, let refund, refund.leavesUnits else { return 0 }
    let counted = refund.share.units(of: refund.quantity)
    // Units that the backend states are what it took back, whatever the share is.
    guard refundNote?.units == nil, refund.units == counted else {
      return amount - refund.quantity.dividingFullWidth(amount.multipliedFullWidth(by: refund.units)).quotient
    }
    return amount - refund.share.part(of: amount, in: refund.quantity)
  }

  /// A text of a refund in part; nil for every other outcome.
  var partText: String? {
    guard owner != .another, let refund, refund.leavesUnits else { return nil }
    if refund.units > 0 { return "\(refund.units) of \(refund.quantity) of this purchase were refunded." }
    return "A part of the price of this purchase was refunded."
  }
}
