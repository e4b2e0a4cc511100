public import Foundation
public import PurchaseQueue

/// Body of `POST /v1/orders`: the intended purchase. Sent with an `Idempotency-Key`.
public struct OrderRequest: Codable, Sendable, Hashable {
  /// The store's product id.
  public var productID: String
  /// How many units, 1 or more.
  public var quantity: Int

  /// Creates a request.
  public init(productID: String, quantity: Int) {
    self.productID = productID
    self.quantity = quantity
  }
}

/// An order as the backend describes it: the answer to `POST /v1/orders` and `GET /v1/orders/{number}`.
public struct OrderDocument: Codable, Sendable, Hashable {
  /// The app's order number, given by the backend.
  public var number: String
  /// Goes to the store with the payment and comes back in the transaction.
  public var accountToken: UUID
  /// The store's product id.
  public var productID: String
  /// How many units.
  public var quantity: Int
  /// The order's state.
  public var state: OrderState
  /// When the backend made it, by the backend's clock.
  public var createdAt: Timestamp
  /// When the backend stops waiting for a payment; nil if never.
  public var expiresAt: Timestamp?

  /// Creates an order with all of its fields.
  public init(
    number: String, accountToken: UUID, productID: String, quantity: Int, state: OrderState,
    createdAt: Timestamp, expiresAt: Timestamp? = nil
  ) {
    self.number = number
    self.accountToken = accountToken
    self.productID = productID
    self.quantity = quantity
    self.state = state
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }
}

/// The state of an order. An open set: an unknown state is kept as it is.
public struct OrderState: RawRepresentable, Hashable, Sendable, Codable {
  /// The word on the wire.
  public var rawValue: String

  /// Any word, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Made, not yet paid.
  public static let open = OrderState(rawValue: "open")
  /// Waiting for approval by another person (Ask to Buy).
  public static let deferred = OrderState(rawValue: "deferred")
  /// A transaction is bound to the order.
  public static let paid = OrderState(rawValue: "paid")
  /// Fulfilled.
  public static let delivered = OrderState(rawValue: "delivered")
  /// Cancelled by the user. Still binds by its token, because a payment may arrive later.
  public static let cancelled = OrderState(rawValue: "cancelled")
  /// Expired. Still binds by its token.
  public static let expired = OrderState(rawValue: "expired")
}

/// The answer to `GET /v1/orders`.
package struct OrderListDocument: Codable, Sendable {
  package var orders: [OrderDocument]
}

/// Body of `POST /v1/adoptions`: the asking account takes over this device's purchases.
package struct AdoptionDocument: Codable, Sendable {
  package var device: UUID
}
