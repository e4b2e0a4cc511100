import PurchaseQueue

/// The pages of an account's open orders, asked for one after the other.
///
/// ```
///   no page ──▶ page ──▶ page … ──▶ complete: the last page, a page that was given before, or the hundredth
/// ```
struct OrderListing {
  private static let mostPages = 100

  private(set) var orders: [OrderDocument] = []
  private(set) var isComplete = false
  private var cursors: [String] = []

  /// Where the next page begins; nil for the first.
  var cursor: String? { cursors.last }

  /// The backend answered with the page at `cursor`.
  mutating func took(_ page: OrderListDocument) {
    orders += page.orders
    // A backend that repeats a page would be asked for ever.
    guard let next = page.next, !cursors.contains(next), cursors.count < Self.mostPages - 1 else {
      isComplete = true
      return
    }
    cursors.append(next)
  }
}

/// What this device knows of the number and of the account token of an order that the backend gives an account.
struct KnownOrder {
  /// Whether a request for an order has the number as its key.
  var isRequest: Bool
  /// The order with this number.
  var row: OrderRow?
  /// The account of the first order with this token.
  var tokenAccount: String?

  /// Why an order of the backend cannot be an order of this account; nil if it can. `isAnswer`: it answers a request, and
  /// is about to be paid.
  func objection(to document: OrderDocument, of account: String, isAnswer: Bool) -> String? {
    let number = document.number
    guard (1...VerdictBinding.longestNumber).contains(number.utf8.count) else {
      return "it gave an order a number of \(number.utf8.count) bytes"
    }
    guard !isRequest else { return "it gave an order the number \(number)" }
    if let row {
      guard row.order.account.hasSameBytes(as: account) else {
        return "it gave order \(number) to two accounts"
      }
      let order = row.order
      let isSame =
        order.accountToken == document.accountToken && order.productID == document.productID
        && order.quantity == document.quantity
      guard !isAnswer || isSame && row.boundTo == nil else {
        return "it gave order \(number) twice, with other contents or after its payment"
      }
    }
    guard let tokenAccount, !tokenAccount.hasSameBytes(as: account) else { return nil }
    return "it gave the account token of order \(number) to two accounts"
  }
}
