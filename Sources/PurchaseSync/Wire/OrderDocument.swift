public import Foundation
public import PurchaseQueue

/// `POST /v1/orders`: what a person is about to buy. Sent with an `Idempotency-Key`.
public struct OrderRequest: Codable, Sendable, Hashable {
  /// The store's product id.
  public var productID: String
  /// How many, 1 or more.
  public var quantity: Int

  /// An intended purchase.
  public init(productID: String, quantity: Int) {
    self.productID = productID
    self.quantity = quantity
  }
}

/// An order as the backend tells it: the answer to `POST /v1/orders` and `GET /v1/orders/{number}`.
public struct OrderDocument: Codable, Sendable, Hashable {
  /// The app's order number, given by the backend.
  public var number: String
  /// Goes to the store with the payment and comes back in the transaction.
  public var accountToken: UUID
  /// The store's product id.
  public var productID: String
  /// How many.
  public var quantity: Int
  /// Where the order stands.
  public var state: OrderState
  /// When the backend made it, by the backend's clock.
  public var createdAt: Timestamp
  /// When the backend will no longer wait for a payment, if ever.
  public var expiresAt: Timestamp?

  /// An order with all of its fields.
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

/// Where an order stands. An open set: an unknown state is kept as it came.
public struct OrderState: RawRepresentable, Hashable, Sendable, Codable {
  /// The word on the wire.
  public var rawValue: String

  /// Any word, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Made, not yet paid.
  public static let open = OrderState(rawValue: "open")
  /// Waiting for somebody's approval (Ask to Buy).
  public static let deferred = OrderState(rawValue: "deferred")
  /// A transaction is bound to it.
  public static let paid = OrderState(rawValue: "paid")
  /// Fulfilled.
  public static let delivered = OrderState(rawValue: "delivered")
  /// Given up by the person; still binds by its token, since a payment may arrive all the same.
  public static let cancelled = OrderState(rawValue: "cancelled")
  /// Given up by time; still binds by its token.
  public static let expired = OrderState(rawValue: "expired")
}

/// The answer to `GET /v1/orders`.
package struct OrderListDocument: Codable, Sendable {
  package var orders: [OrderDocument]
}

/// `POST /v1/claims`: what this device bought is the asker's.
package struct DeviceClaimDocument: Codable, Sendable {
  package var device: UUID
}
