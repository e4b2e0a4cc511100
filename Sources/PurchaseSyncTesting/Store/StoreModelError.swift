/// The reason of a refusal by the store's model.
public enum StoreModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The product is not for sale.
  case unknownProduct(String)
  /// The quantity is not between 1 and 10, or above 1 for a product that can be owned only once.
  case invalidQuantity(Int, productID: String)
  /// A payment needs a store account.
  case noStoreAccount
  /// The store has no such transaction.
  case unknownTransaction(String)
  /// The transaction is no subscription, or the product is no subscription of its group.
  case noSubscription(String)
  /// The store account already has this subscription, and it will renew.
  case alreadySubscribed(String)
  /// The payment is for fewer seats than there are: that is for the store's settings.
  case seatReduction(String)
  /// There is no such seat to give or to take, or not that many.
  case invalidSeats(String)
  /// The store account cannot be charged.
  case paymentDeclined
  /// The transaction was restored or shared, not charged.
  case notCharged(String)
  /// This transaction has not that many units, no such share, or no time left.
  case invalidRefund(String)
  /// Nothing is charged yet: the purchase with this id waits.
  case waits(String)
  /// No purchase with this id waits.
  case unknownRequest(String)
  /// The person was prompted, and no new receipt came.
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
    case .seatReduction(let id): "the subscription to \"\(id)\" has more seats than that"
    case .invalidSeats(let id): "the subscription of transaction \"\(id)\" has no such seats"
    case .paymentDeclined: "the store account cannot be charged"
    case .notCharged(let id): "transaction \"\(id)\" was restored or shared, not charged"
    case .invalidRefund(let id):
      "transaction \"\(id)\" cannot be refunded so: it takes 1 unit to all, a share above 0, or time that is left"
    case .waits(let id): "the purchase waits, as \"\(id)\""
    case .unknownRequest(let id): "no purchase \"\(id)\" waits"
    case .refreshFailed: "the app receipt could not be refreshed"
    }
  }
}
