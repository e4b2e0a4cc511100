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
  /// Fulfilled, and refunded since. Only the device uses this word; the backend knows the order as delivered.
  public static let refunded = OrderState(rawValue: "refunded")
  /// Fulfilled, and some of its units refunded since. Only the device uses this word; the backend knows the order as
  /// delivered.
  public static let partlyRefunded = OrderState(rawValue: "partlyRefunded")
  /// Its sheet was closed, and no payment is known. Still binds by its token, because a payment may arrive later.
  public static let cancelled = OrderState(rawValue: "cancelled")
  /// The store answered with a purchase that was made before this order: nothing was charged for it. Only the device
  /// uses this word; the backend knows the order as cancelled.
  public static let alreadyOwned = OrderState(rawValue: "alreadyOwned")
  /// Expired. Still binds by its token.
  public static let expired = OrderState(rawValue: "expired")
}

/// The answer to `GET /v1/orders`: one page.
package struct OrderListDocument: Codable, Sendable {
  package var orders: [OrderDocument]
  /// The value of `after` for the next page; nil on the last one.
  package var next: String?

  package init(orders: [OrderDocument], next: String? = nil) {
    self.orders = orders
    self.next = next
  }
}

/// An order that a device made while the backend was out of reach: the body of `PUT /v1/orders/{number}`, and part of
/// its transaction's claim. The backend registers it once, however often it is sent.
public struct DeviceOrder: Codable, Sendable, Hashable {
  /// The order's number: `device-` and a UUID.
  public var number: String
  /// Goes to the store with the payment and comes back in the transaction.
  public var accountToken: UUID
  /// The account that buys. It has to be the one that sends the request.
  public var account: String
  /// The store's product id.
  public var productID: String
  /// How many units.
  public var quantity: Int
  /// `open`, `deferred` or `cancelled`.
  public var state: OrderState
  /// When the device made it, by the device's clock.
  public var createdAt: Timestamp

  /// Creates an order.
  public init(
    number: String, accountToken: UUID, account: String, productID: String, quantity: Int,
    state: OrderState = .open, createdAt: Timestamp
  ) {
    self.number = number
    self.accountToken = accountToken
    self.account = account
    self.productID = productID
    self.quantity = quantity
    self.state = state
    self.createdAt = createdAt
  }

  /// A number that no other order has.
  package static func number(_ uuid: UUID) -> String { prefix + uuid.uuidString }

  /// Whether the number is one that devices give, so that it cannot be the number of one of the backend's own orders.
  package static func isNumber(_ number: String) -> Bool {
    number.hasPrefix(prefix) && UUID(uuidString: String(number.dropFirst(prefix.count))) != nil
  }

  private static var prefix: String { "device-" }
}

/// Body of `POST /v1/adoptions`, and of its answer: the asking account takes over this device's purchases.
package struct AdoptionDocument: Codable, Sendable {
  package var device: UUID

  package init(device: UUID) { self.device = device }
}
