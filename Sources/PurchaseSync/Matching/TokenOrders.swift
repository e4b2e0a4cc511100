package import Foundation
import PurchaseQueue

/// A query for the orders with one account token.
package struct TokenQuery: Sendable, Hashable {
  package var token: UUID
  /// Only orders of this product, and of this quantity if there is one; nil for all.
  package var product: Product?
  /// The greatest number of orders in the result.
  package var limit: Int

  package struct Product: Sendable, Hashable {
    package var id: String
    /// Nil for any: of a subscription the number of seats that were paid is not that of the order.
    package var quantity: Int?
  }

  package init(_ token: UUID, product: Product? = nil, limit: Int) {
    (self.token, self.product, self.limit) = (token, product, limit)
  }
}

/// The orders that one account token names, for one transaction.
///
/// A backend gives each order a token of its own, or each account one token. The device does not ask which: with one for
/// each account, several orders have it. The account is certain either way.
package struct TokenOrders: Sendable, Hashable {
  /// The most orders that are read of one token, product and quantity.
  private static let most = 64

  /// The account that the token proves.
  package var account: String
  /// Whether an order with the token has the product and the quantity of the transaction.
  package var hasAgreeing: Bool
  /// Of these orders, those that the transaction can have paid, the most likely first.
  package var payable: [OrderFacts]

  /// Nil if no order has the token.
  init?(
    of token: UUID, for transaction: borrowing StoreTransaction, from source: some MatchSource,
    _ window: MatchWindow
  ) throws(QueueError) {
    // Two show that the token is that of several orders.
    let named = try source.orders(TokenQuery(token, limit: 2))
    guard let first = named.first else { return nil }
    account = first.account
    guard named.count > 1 else {
      hasAgreeing = first.agrees(with: transaction)
      payable = hasAgreeing && Self.isOnlyOrder(first, payable: transaction, window) ? [first] : []
      return
    }
    let product = TokenQuery.Product(
      id: transaction.soldProductID, quantity: transaction.isSubscription ? nil : transaction.quantity)
    let agreeing = try source.orders(TokenQuery(token, product: product, limit: Self.most))
    hasAgreeing = !agreeing.isEmpty
    payable = Self.payable(agreeing, by: transaction, window)
  }

  /// A payment is not for an order that was made after it: the person bought the product before, such as with an earlier
  /// version of the app. The time of an order that a device made says nothing, and its token is its own.
  private static func isOnlyOrder(
    _ order: OrderFacts, payable transaction: borrowing StoreTransaction, _ window: MatchWindow
  ) -> Bool {
    guard order.boundTo == nil else { return false }
    let end = transaction.purchasedAt.adding(milliseconds: window.tokenToleranceMilliseconds)
    return order.createdAt <= end || DeviceOrder.isNumber(order.number)
  }

  /// A cancelled order may be paid late, and comes after the others.
  private static func payable(
    _ agreeing: [OrderFacts], by transaction: borrowing StoreTransaction, _ window: MatchWindow
  ) -> [OrderFacts] {
    let paid = transaction.purchasedAt
    let end = paid.adding(milliseconds: window.toleranceMilliseconds)
    let done: Set<OrderState> = [
      .alreadyOwned, .paid, .delivered, .refunded, .partlyRefunded,
    ]
    let possible = agreeing.filter { $0.boundTo == nil && $0.createdAt <= end && !done.contains($0.state) }
    let waiting = possible.filter { $0.state != .cancelled }
    let likely =
      waiting.filter { $0.createdAt <= paid } + waiting.filter { $0.createdAt > paid }.reversed()
      + possible.filter { $0.state == .cancelled }
    // Of several numbers of seats, the order of just as many comes first.
    let quantity = transaction.quantity
    return likely.filter { $0.quantity == quantity } + likely.filter { $0.quantity != quantity }
  }
}
