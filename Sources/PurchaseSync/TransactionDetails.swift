import AppStoreReceipts
import Foundation
package import PurchaseQueue

/// What a queued transaction's claim says beside its order, and what updates of it are held against: the entry's
/// `details`, as JSON. No token, no proof.
///
/// Everything beyond the first version's fields is optional: details that an older version wrote are read.
package struct TransactionDetails: Codable, Equatable, Sendable {
  package var environment: String
  package var transactionID: String
  package var originalTransactionID: String
  package var productID: String
  package var quantity: Int
  package var purchasedAt: Timestamp
  package var unverified: Bool?
  // What can change after the transaction was settled.
  package var expiresAt: Timestamp?
  package var revokedAt: Timestamp?
  package var revocationReason: Int?
  package var isUpgraded: Bool?
  package var signedAt: Timestamp?
  /// Whose listing it was in: its finish waits for that store account.
  package var storeAccount: String?
  // What the match was when it was queued. The order itself is the entry's.
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
    isUpgraded = transaction.isUpgraded
    signedAt = transaction.signedAt
    guard let match else { return }
    transactionClass = match.transactionClass.rawValue
    candidates = match.candidates.isEmpty ? nil : match.candidates
    evidence = match.evidence.isEmpty ? nil : match.evidenceText
  }

  package init(text: String, key: EntryKey) throws(QueueError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    } catch {
      throw .damaged(path: "entry \(key)", what: "its details are not the JSON that was written")
    }
  }

  package func text() throws(QueueError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    } catch {
      throw .invalid(what: "transaction \(transactionID) cannot be written as JSON")
    }
  }

  /// The claim of an entry that is bound to this order, or to none.
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
  /// Something about a transaction that the store may change after it was settled.
  package enum Change: String, Hashable, CaseIterable {
    case revocation, upgrade, expiry
  }

  /// What is new since `known`, the details of an earlier delivery.
  ///
  /// Nothing, if this delivery's proof is the older one. Moments are compared in whole seconds and what is not said is
  /// no change: an app receipt has no fractions and knows no upgrades, and telling the two interfaces' deliveries
  /// apart would make updates out of nothing.
  package func changes(since known: TransactionDetails) -> [Change] {
    if let signedAt, let other = known.signedAt, signedAt.wholeSeconds < other.wholeSeconds { return [] }
    var changes: [Change] = []
    if isRevocationNew(since: known) { changes.append(.revocation) }
    if isUpgraded == true, known.isUpgraded != true { changes.append(.upgrade) }
    if let expiresAt, let other = known.expiresAt, expiresAt.wholeSeconds != other.wholeSeconds {
      changes.append(.expiry)
    }
    return changes
  }

  /// Whether the store says something new of what was settled with these details and that verdict.
  ///
  /// A refund may have been known to the backend alone; a delivery from later that knows of none says that it was undone.
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
    if let revokedAt { return revokedAt.wholeSeconds != other.wholeSeconds }
    // Gone: the refund was reversed, if this is known to be the later word.
    guard let signedAt, let before = known.signedAt else { return false }
    return signedAt.wholeSeconds > before.wholeSeconds
  }
}
