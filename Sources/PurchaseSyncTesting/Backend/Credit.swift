import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// One line of the ledger: somebody got something for a transaction.
///
/// The ledger is append-only and **has no uniqueness constraint**: a backend that grants twice shows two lines.
public struct Credit: Sendable, Hashable, Codable {
  /// Why it was granted.
  public enum Cause: String, Sendable, Hashable, Codable {
    /// To the one who uploaded it.
    case granted
    /// To the order's owner, who is not the one who uploaded it.
    case otherOwner
    /// A later period of a subscription, to whom an earlier one was granted; nobody uploaded it.
    case renewal
  }

  /// Its place in the ledger, from 1.
  public var sequence: Int
  /// What was paid for.
  public var transaction: TransactionKey
  /// The order it fulfils, if any.
  public var orderNumber: String?
  /// To whom it was granted, at that time. A device's credits move by a `DeviceClaim`, not by a change here.
  public var owner: Uploader
  /// What was granted.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// Why.
  public var cause: Cause
  /// When.
  public var at: Timestamp
  /// When it ends by itself, of subscriptions.
  public var expiresAt: Timestamp?
  /// When the store charged. A device's claim covers what was paid before it, whenever it is granted.
  public var purchasedAt: Timestamp?

  /// A line with all of its fields.
  public init(
    sequence: Int, transaction: TransactionKey, orderNumber: String?, owner: Uploader, productID: String,
    quantity: Int, cause: Cause, at: Timestamp, expiresAt: Timestamp? = nil, purchasedAt: Timestamp? = nil
  ) {
    self.sequence = sequence
    self.transaction = transaction
    self.orderNumber = orderNumber
    self.owner = owner
    self.productID = productID
    self.quantity = quantity
    self.cause = cause
    self.at = at
    self.expiresAt = expiresAt
    self.purchasedAt = purchasedAt
  }

  /// Whether nobody was charged for it: everything outside of production.
  public var isSandbox: Bool { transaction.environment != .production }
}

/// A credit taken back: refunded or revoked by the store. At most one per transaction.
public struct Reversal: Sendable, Hashable, Codable {
  /// What was taken back.
  public var transaction: TransactionKey
  /// When the store did so.
  public var at: Timestamp
  /// When the store undid it, if it did: then the credit counts again.
  public var undoneAt: Timestamp?

  /// A reversal.
  public init(transaction: TransactionKey, at: Timestamp, undoneAt: Timestamp? = nil) {
    self.transaction = transaction
    self.at = at
    self.undoneAt = undoneAt
  }
}

/// A device's grants moved to an account: those up to a line of the ledger, and those for what was paid before the
/// claim and is uploaded only later, because it still waited on the device.
public struct DeviceClaim: Sendable, Hashable, Codable {
  /// Whose grants.
  public var device: UUID
  /// To whom.
  public var account: String
  /// The last line of the ledger at that time. Later grants for what is paid later wait for another claim.
  public var throughSequence: Int
  /// When, by the backend's clock.
  public var at: Timestamp

  /// A claim over everything up to a line of the ledger.
  public init(device: UUID, account: String, throughSequence: Int, at: Timestamp) {
    self.device = device
    self.account = account
    self.throughSequence = throughSequence
    self.at = at
  }

  /// Whether the grant is among those that it moves.
  public func covers(_ credit: Credit) -> Bool {
    guard credit.owner == .device(device) else { return false }
    if credit.sequence <= throughSequence { return true }
    return credit.purchasedAt.map { $0 < at } ?? false
  }
}
