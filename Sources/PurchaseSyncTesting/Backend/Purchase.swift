import AppStoreReceipts
package import Foundation
package import PurchaseQueue

/// A row of table C (R3.7): one verified transaction and its payment status.
///
/// Without account and device it has no owner: it was in a proof and was not claimed.
package struct Purchase: Sendable, Hashable {
  /// The payment status (`subscription_fee_status`).
  package enum FeeStatus: Int, Sendable, Hashable {
    /// A free trial.
    case trial = 0
    /// Charged.
    case charged = 1
    /// Refunded or revoked, so that nothing of it is left.
    case refunded = 2
    /// Its renewal could not be charged, and the store retries.
    case chargeFailed = 3
  }

  /// The transaction in the store's latest statement.
  package var facts: VerifiedTransaction
  /// `uid`: the account that got it.
  package var account: String?
  /// `uuid`: the device that uploaded it.
  package var device: UUID?
  /// `auto_renew_status` of the newest period of a subscription; nil for unknown.
  package var willAutoRenew: Bool?
  /// `subscription_fee_status`
  package var feeStatus: FeeStatus
  /// `createtime`: when the backend first learned of it.
  package var createdAt: Timestamp
  /// `updatetime`: when something about it last changed.
  package var updatedAt: Timestamp

  package init(_ facts: VerifiedTransaction, at now: Timestamp) {
    self.facts = facts
    feeStatus = .charged
    createdAt = now
    updatedAt = now
    feeStatus = status(isInBillingRetry: false)
  }

  package var transaction: TransactionKey { TransactionKey(facts) }

  /// Whether it is a period of a subscription: it has an end (R3.3).
  package var isSubscription: Bool { facts.expiresDate != nil }

  /// Whether it is the first of its chain (R3.3).
  package var isFirst: Bool { facts.transactionID == facts.originalTransactionID }

  /// The payment status. `isInBillingRetry` is whether the store tries to charge for the next period.
  func status(isInBillingRetry: Bool) -> FeeStatus {
    if facts.isTakenBack { return .refunded }
    if isInBillingRetry { return .chargeFailed }
    return facts.isTrial == true ? .trial : .charged
  }

  /// Its place among the periods of its subscription, by their begin: an upgrade begins before the end of the replaced
  /// period.
  var place: (Int64, Int64, String) {
    (facts.purchaseDate, facts.expiresDate ?? .min, facts.transactionID)
  }
}
