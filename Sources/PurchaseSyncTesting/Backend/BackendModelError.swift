/// The reason for which the model refuses a whole request. Claims are never refused this way.
package enum BackendModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The account used this idempotency key for a different order.
  case idempotencyConflict
  /// The number or the token is that of an order with other contents.
  case orderConflict
  /// The device registers an order of another account than the one that asks.
  case orderOfAnotherAccount
  /// A device gives only numbers that cannot be the backend's.
  case invalidOrderNumber
  /// The device is known with another secret.
  case deviceSecret
  /// The product's name is blank.
  case blankProduct
  /// Less than one.
  case invalidQuantity(Int)

  /// One line for a problem document.
  package var description: String {
    switch self {
    case .idempotencyConflict: "this Idempotency-Key belongs to an order of another product or quantity"
    case .orderConflict: "the number or the token is that of an order with other contents"
    case .orderOfAnotherAccount: "the order is of another account than the credentials"
    case .invalidOrderNumber: "the number of a device's order is device- and a UUID"
    case .deviceSecret: "this device is known with another secret"
    case .blankProduct: "productID is blank"
    case .invalidQuantity(let quantity): "quantity is \(quantity); it has to be 1 or more"
    }
  }
}
