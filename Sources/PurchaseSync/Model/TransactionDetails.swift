import AppStoreReceipts
import Foundation
package import PurchaseQueue

/// An entry's `details`, stored as JSON: the values that its claim states apart from the order, and that later
/// deliveries are compared with. They contain no account token and no proof.
///
/// Every field that the first version did not have is optional, so that details of older versions can be
/// read.
package struct TransactionDetails: Codable, Hashable, Sendable {
  package var environment: String
  package var transactionID: String
  package var originalTransactionID: String
  package var productID: String
  package var quantity: Int
  package var purchasedAt: Timestamp
  package var unverified: Bool?
  // These can change after the transaction is settled.
  package var expiresAt: Timestamp?
  package var revokedAt: Timestamp?
  package var revocationReason: Int?
  /// In thousandths of a percent.
  package var refundedShare: Int?
  /// Nil where the proof does not say; 0 if it could, and there are none.
  package var revokedSeats: Int?
  package var isUpgraded: Bool?
  package var signedAt: Timestamp?
  /// The bundle that was paid, if it is part of one, and the payment of it.
  package var bundleProductID: String?
  package var bundleTransactionID: String?
  /// True if another person has paid: it fulfils no order.
  package var isOfAnotherPayer: Bool?
  /// The store account whose listing had the transaction: its finish waits for that account.
  package var storeAccount: String?
  // The match at the time of queueing. The order number itself is in the entry.
  package var transactionClass: String?
  package var candidates: [String]?
  package var evidence: String?

  package init(_ transaction: StoreTransaction, match: OrderMatch? = nil) {
    environment = transaction.environment.rawValue
    transactionID = transaction.transactionID
    originalTransactionID = transaction.originalTransactionID
    productID = transaction.productID
    quantity = transaction.quantity
    purchasedAt = transaction.purchasedAt
    unverified = transaction.isVerified ? nil : true
    expiresAt = transaction.expiresAt
    revokedAt = transaction.revokedAt
    revocationReason = transaction.revocationReason?.rawValue
    refundedShare = transaction.refundedShare?.milliPercent
    revokedSeats = transaction.revokedSeats
    isUpgraded = transaction.isUpgraded
    signedAt = transaction.signedAt
    bundleProductID = transaction.bundle?.productID
    bundleTransactionID = transaction.bundle?.transactionID
    isOfAnotherPayer = transaction.isOfAnotherPayer ? true : nil
    guard let match else { return }
    transactionClass = match.transactionClass.rawValue
    candidates = match.candidates.isEmpty ? nil : match.candidates
    evidence = match.evidence.isEmpty ? nil : match.evidenceText
  }

  /// What the customer paid for: the bundle that it is part of, else the product. An order names it.
  package var soldProductID: String { bundleProductID ?? productID }

  /// The details in a row's text; nil if the text is not their JSON. Only `EntryDetails` reads rows.
  init?(text: String) { self.init(json: text.utf8) }

  package func text() throws(QueueError) -> String {
    try jsonText(of: "transaction \(transactionID)")
  }

  /// The details of an update. It keeps the store account of the settled delivery: the finish waits for that account.
  /// And that another person has paid: a receipt does not say it.
  func keeping(from tombstone: Tombstone) -> TransactionDetails {
    guard let known = EntryDetails(of: tombstone).known else { return self }
    var details = self
    details.storeAccount = known.storeAccount
    details.isOfAnotherPayer = isOfAnotherPayer ?? known.isOfAnotherPayer
    return details
  }

  /// How many units it gives if it is fulfilled: what it paid for, without the seats that were refunded.
  package var units: Int {
    let (left, isBelow) = quantity.subtractingReportingOverflow(max(0, revokedSeats ?? 0))
    return isBelow ? 0 : max(0, left)
  }

  /// The claim of an entry that is bound to this order, or to no order.
  package func claim(orderNumber: String?) -> Claim {
    let proposed = orderNumber == nil ? candidates : nil
    return Claim(
      transactionID: transactionID, originalTransactionID: originalTransactionID, environment: environment,
      productID: productID, quantity: quantity, purchasedAt: purchasedAt,
      match: orderNumber != nil ? .bound : proposed != nil ? .proposed : .none, orderNumber: orderNumber,
      candidates: proposed, evidence: evidence, unverified: unverified)
  }
}

extension TransactionDetails {
  /// A property of a transaction that the store may change after it is settled.
  package enum Change: String, Hashable, CaseIterable {
    case revocation, upgrade, expiry, seats
  }

  /// The changes against `known`, the details of an earlier delivery.
  ///
  /// Empty if this delivery's proof is the older one. Moments are compared in whole seconds, and a missing
  /// value is no change: an app receipt has no fractions of a second and no mark of an upgrade. Otherwise
  /// each delivery through the other interface would look like an update.
  package func changes(since known: TransactionDetails) -> [Change] {
    if let signedAt, let other = known.signedAt, signedAt.wholeSeconds < other.wholeSeconds { return [] }
    var changes: [Change] = []
    if isRevocationNew(since: known) { changes.append(.revocation) }
    if isUpgraded == true, known.isUpgraded != true { changes.append(.upgrade) }
    if let expiresAt, let other = known.expiresAt, expiresAt.wholeSeconds != other.wholeSeconds {
      changes.append(.expiry)
    }
    // A receipt says nothing of seats.
    if let revokedSeats, revokedSeats != known.revokedSeats ?? 0 { changes.append(.seats) }
    return changes
  }

  /// Whether this delivery is an update of a transaction that was settled with these details and this
  /// verdict.
  ///
  /// The backend may have known of a refund that no delivery mentioned. A later delivery without a revocation
  /// then means that the refund was undone.
  package func isNews(since known: TransactionDetails, settledAs verdict: Verdict) -> Bool {
    if verdict == .refunded, revokedAt == nil, known.revokedAt == nil, let signedAt,
      let before = known.signedAt,
      signedAt.wholeSeconds > before.wholeSeconds
    {
      return true
    }
    return !changes(since: known).isEmpty
  }

  private func isRevocationNew(since known: TransactionDetails) -> Bool {
    guard let other = known.revokedAt else { return revokedAt != nil }
    if let revokedAt {
      if revokedAt.wholeSeconds != other.wholeSeconds { return true }
      // A second refund of the same payment changes the share alone. A proof without a share says nothing of it.
      return refundedShare.map { $0 != known.refundedShare } ?? false
    }
    // The revocation is gone. The refund was reversed only if this delivery is known to be the later one.
    guard let signedAt, let before = known.signedAt else { return false }
    return signedAt.wholeSeconds > before.wholeSeconds
  }
}
