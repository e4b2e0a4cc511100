public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// One line of the ledger: a grant for a transaction.
///
/// Lines are appended, and none is removed. The ledger **has no uniqueness constraint**: a backend that grants twice has two lines.
public struct Credit: Sendable, Hashable, Codable {
  /// The reason of the grant.
  public enum Cause: String, Sendable, Hashable, Codable {
    /// Granted to the uploader.
    case granted
    /// Granted to the order's owner, who is not the uploader.
    case otherOwner
    /// Granted with an order that was only proposed: a guess, which gives way to an order that a sheet has bound.
    case proposed
    /// A later period of a granted subscription, granted without an upload.
    case renewal
  }

  /// Its place in the ledger, from 1.
  public var sequence: Int
  /// The paid transaction.
  public var transaction: TransactionKey
  /// The order it fulfils, if any.
  public var orderNumber: String?
  /// The owner: at first that of the grant. A line without an order moves to the account of the order that its token
  /// names, once that order is known; a device's line moves to the next device or account that proves the transaction. An
  /// `AdoptionRecord` moves a device's credits without a change of this field.
  public var owner: Uploader
  /// The granted product.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// Why.
  public var cause: Cause
  /// When.
  public var at: Timestamp
  /// The end of the period, for subscriptions.
  public var expiresAt: Timestamp?
  /// When the store charged. An adoption covers earlier charges, whenever they are granted.
  public var purchasedAt: Timestamp?

  /// Whether it is free of charge: everything outside production is.
  public var isSandbox: Bool { transaction.environment != .production }
}

/// A transaction that the store refunded or revoked, or a part of it. At most one per transaction: a later refund of the
/// same payment replaces it, because its share covers the earlier ones.
public struct Reversal: Sendable, Hashable, Codable {
  /// The reversed transaction.
  public var transaction: TransactionKey
  /// When the store did so.
  public var at: Timestamp
  /// When the store undid it; then the credit counts again.
  public var undoneAt: Timestamp?
  /// How much of the price the store gave back; nil for all of it, and where it does not say.
  public var share: RefundedShare?
  /// How many units of the credit it takes back; nil for all of them.
  public var units: Int?

  package init(
    transaction: TransactionKey, at: Timestamp, undoneAt: Timestamp? = nil, share: RefundedShare? = nil,
    units: Int? = nil
  ) {
    (self.transaction, self.at, self.undoneAt) = (transaction, at, undoneAt)
    (self.share, self.units) = (share, units)
  }
}

/// An account's adoption of a device: its grants up to a line of the ledger, and grants for earlier charges that the
/// device uploads later.
public struct AdoptionRecord: Sendable, Hashable, Codable {
  /// The adopted device.
  public var device: UUID
  /// The account.
  public var account: String
  /// The last line of the ledger at that time. Grants for later charges need another adoption.
  public var throughSequence: Int
  /// When, by the backend's clock.
  public var at: Timestamp

  /// Whether the adoption moves this credit.
  package func covers(_ credit: Credit) -> Bool {
    guard credit.owner == .device(device) else { return false }
    if credit.sequence <= throughSequence { return true }
    return credit.purchasedAt.map { covers(chargeAt: $0.milliseconds) } ?? false
  }

  /// Whether the adoption covers a charge at this moment, milliseconds since 1970, that the device uploads later.
  func covers(chargeAt moment: Int64) -> Bool { moment < at.milliseconds }
}
