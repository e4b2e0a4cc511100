/// Why the model of the store refused.
public enum StoreModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No such product is sold.
  case unknownProduct(String)
  /// Not between 1 and 10, or more than 1 of a product that one can own only once.
  case invalidQuantity(Int, productID: String)
  /// A payment needs a store account.
  case noStoreAccount
  /// The store never charged such a transaction.
  case unknownTransaction(String)
  /// Only a subscription renews or changes its plan, and only to another subscription.
  case noSubscription(String)
  /// The person was asked, and no new receipt came.
  case refreshFailed

  /// One line for a log.
  public var description: String {
    switch self {
    case .unknownProduct(let id): "the store sells no product \"\(id)\""
    case .invalidQuantity(let quantity, let id): "\(quantity) is no quantity for product \"\(id)\""
    case .noStoreAccount: "the payment names no store account"
    case .unknownTransaction(let id): "the store has no transaction \"\(id)\""
    case .noSubscription(let id): "transaction \"\(id)\" is no subscription, or the product is none"
    case .refreshFailed: "the app receipt could not be refreshed"
    }
  }
}
