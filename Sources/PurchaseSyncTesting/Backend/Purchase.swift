import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// A row of table C (R3.7): one verified transaction, whoever told of it, and what became of the money.
///
/// Without account and device it is recorded and nobody's: it was in somebody's proof, and not claimed.
public struct Purchase: Sendable, Hashable {
  /// What became of the money (`subscription_fee_status`).
  public enum FeeStatus: Int, Sendable, Hashable {
    /// A free trial.
    case trial = 0
    /// Charged.
    case charged = 1
    /// Refunded or revoked.
    case refunded = 2
    /// Its renewal could not be charged, and the store goes on trying.
    case chargeFailed = 3
  }

  /// The transaction, as the store told of it last.
  public var facts: VerifiedTransaction
  /// `uid`: the account that got it.
  public var account: String?
  /// `uuid`: the device that uploaded it.
  public var device: UUID?
  /// `auto_renew_status`, of the newest period of a subscription; nil where nobody told.
  public var willAutoRenew: Bool?
  /// `subscription_fee_status`
  public var feeStatus: FeeStatus
  /// `createtime`: when the backend first heard of it.
  public var createdAt: Timestamp
  /// `updatetime`: when something about it last changed.
  public var updatedAt: Timestamp

  /// A transaction that nobody claimed yet.
  public init(_ facts: VerifiedTransaction, at now: Timestamp) {
    self.facts = facts
    feeStatus = .charged
    createdAt = now
    updatedAt = now
    feeStatus = status(isInBillingRetry: false)
  }

  /// Its identity.
  public var transaction: TransactionKey { TransactionKey(facts) }

  /// Whether it is a period of a subscription: it has an end (R3.3).
  public var isSubscription: Bool { facts.expiresDate != nil }

  /// Whether it is the first of its chain (R3.3).
  public var isFirst: Bool { facts.transactionID == facts.originalTransactionID }

  /// What became of the money; `isInBillingRetry` is whether the store tries to charge for the period after this one.
  func status(isInBillingRetry: Bool) -> FeeStatus {
    if facts.revocationDate != nil { return .refunded }
    if isInBillingRetry { return .chargeFailed }
    return facts.isTrial == true ? .trial : .charged
  }

  /// Where it stands among the periods of its subscription: by when they began, since an upgrade begins before the
  /// period ends that it replaces.
  var place: (Int64, Int64, String) {
    (facts.purchaseDate, facts.expiresDate ?? .min, facts.transactionID)
  }
}
