public import Foundation
public import PurchaseQueue
public import PurchaseSync

/// An order as the backend keeps it.
public struct BackendOrder: Sendable, Hashable, Codable {
  /// The order number.
  public var number: String
  /// The account that made it and gets the purchase.
  public var account: String
  /// The key that makes a repeated request the same order; unique per account.
  public var idempotencyKey: String
  /// Goes to the store with the payment.
  public var accountToken: UUID
  /// The product.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// Where it stands.
  public var state = OrderState.open
  /// When it was made.
  public var createdAt: Timestamp
  /// When the backend stops waiting; nil for no limit. An expired order still binds by its token.
  public var expiresAt: Timestamp?
  /// The transaction that fulfilled it. It changes only if that was a guess, and the store's record names another payer.
  public var fulfilledBy: TransactionKey?

  /// The state at a moment: an order that was not paid in time has expired.
  public func state(at now: Timestamp) -> OrderState {
    guard state == .open || state == .deferred, let expiresAt, expiresAt <= now else { return state }
    return .expired
  }

  /// Its place among the orders to which this backend gave numbers; 0 for an order that a device made.
  var ownNumber: Int {
    guard number.hasPrefix("order-") else { return 0 }
    return number.split(separator: "-").last.flatMap { Int($0) } ?? 0
  }

  /// Whether the device means this order. States and times may differ.
  func isSame(as order: DeviceOrder) -> Bool {
    number == order.number && accountToken == order.accountToken && account == order.account
      && productID == order.productID && quantity == order.quantity
  }

  /// The order after this transaction has fulfilled it.
  func fulfilled(by transaction: TransactionKey) -> BackendOrder {
    var order = self
    order.state = .delivered
    order.fulfilledBy = transaction
    return order
  }

  /// The order after its transaction turned out to be another's.
  func waitingAgain() -> BackendOrder {
    var order = self
    (order.state, order.fulfilledBy) = (.open, nil)
    return order
  }

  /// The order in the wire protocol at a moment.
  package func document(at now: Timestamp) -> OrderDocument {
    OrderDocument(
      number: number, accountToken: accountToken, productID: productID, quantity: quantity,
      state: state(at: now), createdAt: createdAt, expiresAt: expiresAt)
  }
}

extension BackendOrder {
  /// An order that a device made, when it is registered.
  package init(_ order: DeviceOrder, of account: String, createdAt: Timestamp) {
    self.init(
      number: order.number, account: account, idempotencyKey: order.number, accountToken: order.accountToken,
      productID: order.productID, quantity: order.quantity, createdAt: createdAt)
    if order.state == .deferred || order.state == .cancelled { state = order.state }
  }
}
