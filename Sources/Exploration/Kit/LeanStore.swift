import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

/// The App Store in numbers: charges, unfinished transactions of each account, and the contents of app receipts.
///
/// `StoreModel` does all that the App Store does, and forges proofs. This model does only what the machine can see, and
/// is a thousand times faster. A transaction is a number, its place in `sales`.
struct LeanStore {
  /// One transaction.
  struct Sale {
    var buyer: Int
    var product: Int
    var paidAt: Int64
    /// Whose token it carries; -1 for none.
    var order: Int
    /// The first of its chain.
    var original: Int
    var forgetsToken: Bool
    var proofs: Buying.ProofMix
    var poison: Buying.Poison
    /// Charged by the store itself, for one more period.
    var isRenewal = false
    var isUpgraded = false
    var revokedAt: Int64?
    /// How many units are refunded. The first refund has the date, and a later one adds a unit.
    var refundedUnits = 0
    /// How often it changed: each change has a signed transaction of its own.
    var version = 0
    /// The refunded units of each version, four bits each. Versions beyond the last place have none.
    fileprivate(set) var refundLog: UInt64 = 0
    /// It was refunded once, even if that was undone.
    var wasRefunded = false
    var expiresAt: Int64?
    /// The phone that asked for the payment: the old interface informs no other phone.
    var phone: Int
    /// The store delivers it until it is finished, and again after a change.
    var isListed = true
    /// When the store began to list it: at the payment, or at a change after it was finished.
    var listedAt: Int64 = 0
    /// It was finished once: the next receipt then no longer holds a consumable.
    var wasFinished = false
    /// Of a subscription in a bundle: the first transaction of the bundle's payment, and its own place among them. -1 for
    /// no bundle. `product` is the bundle, which the order names.
    fileprivate(set) var bundle = -1
    fileprivate(set) var member = 0
    /// Of an assigned seat, which its purchaser has paid: the order whose token it carries; -1 for none. Nil for what the buyer
    /// has paid.
    var seat: Int?

    var isSeat: Bool { seat != nil }
    /// Whether it is a subscription that its buyer has paid.
    var canHaveSeats: Bool { expiresAt != nil && !isSeat && bundle < 0 }
    var units: Int { Names.units(of: product) }
    /// How many units were refunded in a version; nil for one that is not known any more.
    func refundedUnits(in version: Int) -> Int? {
      (0..<16).contains(version) ? Int(refundLog >> (4 * version) & 15) : nil
    }

    fileprivate mutating func beginVersion() {
      version += 1
      if version < 16 { refundLog |= UInt64(refundedUnits) << (4 * version) }
    }

    /// What its transaction names: of a bundle, the subscription.
    var productID: String { bundle < 0 ? Names.products[product] : Names.member(member, of: product) }

    /// Whether no unit of it is left.
    var isTakenBack: Bool { revokedAt != nil && refundedUnits >= units }
  }

  /// The contents of one app receipt.
  struct Receipt {
    var held: [Int32]
  }

  private(set) var sales: [Sale] = []
  /// The tokens of orders that a device made, or of accounts, by the order. The others follow from their numbers.
  var tokens: [Int: UUID] = [:]
  /// Of each store account, in order.
  private(set) var listed: [[Int32]]
  private(set) var receipts: [Receipt] = []
  private var current: [Int?]
  private var isStale: [Bool]

  init(storeAccounts: Int) {
    listed = Array(repeating: [], count: storeAccounts)
    current = Array(repeating: nil, count: storeAccounts)
    isStale = Array(repeating: true, count: storeAccounts)
  }

  static let period: Int64 = 7 * 86_400_000

  // MARK: Charges

  mutating func charge(_ sale: Sale) -> Int {
    sales.append(sale)
    sales[sales.count - 1].listedAt = sale.paidAt
    listed[sale.buyer].append(Int32(sales.count - 1))
    isStale[sale.buyer] = true
    return sales.count - 1
  }

  /// The payment of a bundle of two: a transaction for each. `isTokenOnBoth`: else only the first one has the order's token.
  mutating func chargeBundle(_ sale: Sale, isTokenOnBoth: Bool) -> [Int] {
    let first = sales.count
    return (0..<2).map { member in
      var sold = sale
      (sold.bundle, sold.member, sold.original) = (first, member, sales.count)
      if member > 0, !isTokenOnBoth { sold.order = -1 }
      return charge(sold)
    }
  }

  /// Whether it is part of a bundle whose payment has a token, and does not have it itself. What a planted bug uploads need
  /// not be a sale.
  func lacksToken(_ sale: Int) -> Bool {
    sales.indices.contains(sale) && sales[sale].bundle >= 0 && sales[sale].order < 0
  }

  /// The first of the transactions that have one owner: of a subscription, or of a bundle's payment. A seat in its purchaser's
  /// subscription is apart.
  func chain(of sale: Int) -> Int {
    let sold = sales[sale]
    if sold.bundle >= 0 { return sold.bundle }
    return sold.isSeat && !sales[sold.original].isSeat ? sale : sold.original
  }

  /// The transactions of the same payment of a bundle, without this one.
  func siblings(of sale: Int) -> [Int] {
    let bundle = sales[sale].bundle
    guard bundle >= 0 else { return [] }
    return [bundle, bundle + 1].filter {
      $0 != sale && sales.indices.contains($0) && sales[$0].bundle == bundle
    }
  }

  /// The next period of a subscription, or another plan from now on.
  mutating func renew(_ sale: Int, isUpgrade: Bool, at now: Int64) -> Int? {
    let old = sales[sale]
    guard old.expiresAt != nil, old.revokedAt == nil, !old.isUpgraded else { return nil }
    var next = old
    next.paidAt = now
    next.original = old.original
    next.expiresAt = now + Self.period
    next.isRenewal = !isUpgrade
    next.isListed = true
    next.wasFinished = false
    next.poison = .none
    next.bundle = -1
    if isUpgrade {
      sales[sale].isUpgraded = true
      announce(sale, at: now)
    }
    return charge(next)
  }

  /// The same subscription, bought again with an order: it keeps the original's id and has a token of its own.
  mutating func resubscribe(_ sale: Int, order: Int, phone: Int, at now: Int64) -> Int {
    var next = sales[sale]
    (next.order, next.phone, next.paidAt, next.expiresAt) = (order, phone, now, now + Self.period)
    (next.isRenewal, next.isUpgraded, next.wasRefunded, next.revokedAt) = (false, false, false, nil)
    next.refundedUnits = 0
    next.bundle = -1
    (next.isListed, next.wasFinished, next.forgetsToken) = (true, false, false)
    (next.proofs, next.poison, next.version, next.refundLog) = (.signed, .none, 0, 0)
    return charge(next)
  }

  /// Refunds one unit, or one more. False if none is left.
  mutating func refund(_ sale: Int, at now: Int64) -> Bool {
    guard !sales[sale].isTakenBack else { return false }
    sales[sale].revokedAt = sales[sale].revokedAt ?? now
    sales[sale].refundedUnits += 1
    sales[sale].wasRefunded = true
    announce(sale, at: now)
    return true
  }

  mutating func reverseRefund(_ sale: Int, at now: Int64) -> Bool {
    guard sales[sale].revokedAt != nil else { return false }
    sales[sale].revokedAt = nil
    sales[sale].refundedUnits = 0
    announce(sale, at: now)
    return true
  }

  /// Lists a changed transaction again. The caller delivers it.
  private mutating func announce(_ sale: Int, at now: Int64) {
    sales[sale].beginVersion()
    isStale[sales[sale].buyer] = true
    // The old interface and the receipt cannot express the change.
    guard !sales[sale].isListed, sales[sale].proofs != .receipt else { return }
    if sales[sale].proofs == .both { sales[sale].proofs = .signed }
    (sales[sale].isListed, sales[sale].listedAt) = (true, now)
    listed[sales[sale].buyer].append(Int32(sale))
  }

  /// Ends redelivery; false if it is not listed for that account.
  mutating func finish(_ sale: Int, as storeAccount: Int) -> Bool {
    guard sales[sale].buyer == storeAccount, sales[sale].isListed else { return false }
    sales[sale].isListed = false
    sales[sale].wasFinished = true
    listed[storeAccount].removeAll { $0 == sale }
    isStale[storeAccount] = true
    return true
  }

  // MARK: Handing over

  /// Whether the store lists it to a phone: the old interface lists it only to the phone that paid.
  func lists(_ sale: Int, to phone: Int, as storeAccount: Int) -> Bool {
    sales[sale].isListed && sales[sale].buyer == storeAccount
      && (sales[sale].proofs != .receipt || sales[sale].phone == phone)
  }

  /// The transaction with one of its proofs. `isPaying`: the launch of the app that paid receives it.
  mutating func transaction(
    _ number: Int, bySignature: Bool, isPaying: Bool, lacksNewest: Bool, at now: Int64
  ) -> StoreTransaction {
    let sale = sales[number]
    let proof =
      bySignature
      ? Self.signature(number, version: sale.version)
      : receiptProof(of: sale.buyer, lacking: lacksNewest ? number : nil)
    let order = sale.seat ?? sale.order
    let keepsToken = order >= 0 && (bySignature ? true : !sale.forgetsToken || isPaying)
    var transaction = StoreTransaction(
      environment: .production, transactionID: Names.id(number),
      originalTransactionID: Names.id(sale.original),
      productID: sale.productID, quantity: sale.units,
      purchasedAt: Timestamp(milliseconds: sale.paidAt),
      accountToken: keepsToken ? tokens[order] ?? Names.token(order) : nil, proof: proof)
    transaction.revokedAt = sale.revokedAt.map(Timestamp.init(milliseconds:))
    transaction.expiresAt = sale.expiresAt.map(Timestamp.init(milliseconds:))
    guard bySignature else { return transaction }
    transaction.signedAt = Timestamp(milliseconds: now)
    if sale.isSeat { transaction.ownership = .assigned }
    if sale.bundle >= 0 {
      transaction.bundle = BundlePurchase(
        productID: Names.products[sale.product], transactionID: "9" + Names.id(sale.bundle),
        originalTransactionID: "9" + Names.id(sale.bundle))
    }
    if sale.revokedAt != nil {
      transaction.refundedShare = RefundedShare(units: sale.refundedUnits, of: sale.units)
    }
    transaction.isUpgraded = sale.isUpgraded
    if sale.expiresAt != nil { transaction.reason = sale.isRenewal ? .renewal : .purchase }
    return transaction
  }

  /// The first byte of a proof: a signed transaction or a receipt.
  static let signedMark = UInt8(ascii: "s")
  static let receiptMark = UInt8(ascii: "r")

  /// The next receipt of the Apple ID is another one, with the same content.
  mutating func signAnew(receiptOf storeAccount: Int) { isStale[storeAccount] = true }

  /// Signs the transaction again, as the store does when it delivers it again. A few times only: each new one is an
  /// update for a device that has settled the transaction, and a store without a limit would feed itself.
  mutating func resign(_ sale: Int) {
    guard sales[sale].version < 3 else { return }
    sales[sale].beginVersion()
  }

  static func signature(_ sale: Int, version: Int) -> Payload {
    var proof = proof("signedTransaction", signedMark, sale)
    proof.bytes.append(UInt8(truncatingIfNeeded: version))
    return proof
  }

  /// Whether the text is a signed transaction of this sale, of its present version or of an earlier one.
  func hasSigned(_ text: String, as sale: Int) -> Bool {
    (0...sales[sale].version).contains {
      text == String(decoding: Self.signature(sale, version: $0).bytes, as: UTF8.self)
    }
  }

  /// The version of a signed transaction.
  static func version(of proof: Payload) -> Int { Int(proof.bytes.last ?? 0) }

  static func receipt(_ number: Int) -> Payload { proof("appReceipt", receiptMark, number) }

  private static func proof(_ kind: String, _ mark: UInt8, _ number: Int) -> Payload {
    Payload(
      kind: kind,
      bytes: [
        mark, UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8),
        UInt8(truncatingIfNeeded: number >> 16), secret, secret, secret,
      ])
  }

  /// A byte that only proofs hold.
  static let secret = UInt8(ascii: "#")

  /// The number of the receipt or transaction of a proof.
  static func number(in proof: Payload) -> Int {
    Int(proof.bytes[1]) | Int(proof.bytes[2]) << 8 | Int(proof.bytes[3]) << 16
  }

  // MARK: Receipts

  private mutating func receiptProof(of storeAccount: Int, lacking: Int?) -> Payload {
    Self.receipt(receipt(of: storeAccount, lacking: lacking))
  }

  /// The receipt on the device. After a change the store writes a new one without the finished consumables.
  mutating func receipt(of storeAccount: Int, lacking: Int? = nil) -> Int {
    if !isStale[storeAccount], let known = current[storeAccount] { return known }
    var held: [Int32] = []
    for number in sales.indices where sales[number].buyer == storeAccount && number != lacking {
      let sale = sales[number]
      if !sale.wasFinished || sale.product > 1 { held.append(Int32(number)) }
    }
    receipts.append(Receipt(held: held))
    // A receipt that lacks a transaction is replaced at the next reading.
    isStale[storeAccount] = lacking != nil
    current[storeAccount] = receipts.count - 1
    return receipts.count - 1
  }

  func holds(receipt: Int, _ sale: Int) -> Bool { receipts[receipt].held.contains(Int32(sale)) }
}
