/// Why the model of the store refused.
public enum StoreModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No such product is sold.
  case unknownProduct(String)
  /// Not between 1 and 10, or more than 1 of a product that one can own only once.
  case invalidQuantity(Int, productID: String)
  /// A payment needs a store account.
  case noStoreAccount
  /// The store never made such a transaction.
  case unknownTransaction(String)
  /// Only a subscription renews or changes its plan, and only to another subscription of its group.
  case noSubscription(String)
  /// The store account has this subscription, and it will renew.
  case alreadySubscribed(String)
  /// The store account's way of paying does not work.
  case paymentDeclined
  /// Nobody paid for this transaction: it was restored or shared.
  case notCharged(String)
  /// Nothing is charged yet; the id is that of the purchase that waits.
  case waits(String)
  /// No purchase waits under this id.
  case unknownRequest(String)
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
    case .alreadySubscribed(let id): "the store account is subscribed to \"\(id)\""
    case .paymentDeclined: "the store account cannot be charged"
    case .notCharged(let id): "nobody paid for transaction \"\(id)\""
    case .waits(let id): "the purchase waits, as \"\(id)\""
    case .unknownRequest(let id): "no purchase \"\(id)\" waits"
    case .refreshFailed: "the app receipt could not be refreshed"
    }
  }
}
