public import Foundation
public import PurchaseQueue
public import PurchaseSync

/// An order as the backend keeps it.
public struct BackendOrder: Sendable, Hashable, Codable {
  /// The order number.
  public var number: String
  /// Who made it and gets what it buys.
  public var account: String
  /// What makes a repeated request the same order; unique per account.
  public var idempotencyKey: String
  /// Goes to the store with the payment.
  public var accountToken: UUID
  /// What is bought.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// Where it stands.
  public var state: OrderState
  /// When it was made.
  public var createdAt: Timestamp
  /// When the backend stops waiting, if ever. It binds by its token all the same.
  public var expiresAt: Timestamp?
  /// The transaction that fulfilled it. Set once, never changed.
  public var fulfilledBy: TransactionKey?

  /// An order with all of its fields.
  public init(
    number: String, account: String, idempotencyKey: String, accountToken: UUID, productID: String,
    quantity: Int, state: OrderState = .open, createdAt: Timestamp, expiresAt: Timestamp? = nil,
    fulfilledBy: TransactionKey? = nil
  ) {
    self.number = number
    self.account = account
    self.idempotencyKey = idempotencyKey
    self.accountToken = accountToken
    self.productID = productID
    self.quantity = quantity
    self.state = state
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.fulfilledBy = fulfilledBy
  }

  /// The state at a moment: one that nobody paid in time has expired.
  public func state(at now: Timestamp) -> OrderState {
    guard state == .open || state == .deferred, let expiresAt, expiresAt <= now else { return state }
    return .expired
  }

  /// The order as the wire protocol tells it at a moment.
  public func document(at now: Timestamp) -> OrderDocument {
    OrderDocument(
      number: number, accountToken: accountToken, productID: productID, quantity: quantity,
      state: state(at: now), createdAt: createdAt, expiresAt: expiresAt)
  }
}
