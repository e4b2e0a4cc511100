package import PurchaseQueue

/// What the order number in a verdict does to a binding.
package enum VerdictBinding: Sendable, Hashable {
  /// Nothing: there is none, or it is the one that is bound.
  case keep
  /// The transaction is bound to this order from now on; commit it with the settlement.
  case bind(orderNumber: String)
  /// It contradicts what is bound here, and changes nothing. To be reported; the verdict itself stands: what the
  /// backend granted, it granted.
  case contradiction(reason: String)

  /// Decides by what is known here. `order` is the order that the verdict names; nil if it is not in this journal,
  /// for instance because it was made on another device. `holder` is the transaction that has such an order already.
  package init(
    verdictOrder number: String?, of key: EntryKey, productID: String, quantity: Int,
    known: KnownTransaction?, order: OrderFacts?, holder: EntryKey? = nil
  ) {
    guard let number else {
      self = .keep
      return
    }
    if let bound = known?.orderNumber {
      self = bound == number ? .keep : .contradiction(reason: "it is bound to another order")
    } else if let order, order.productID != productID || order.quantity != quantity {
      self = .contradiction(reason: "the order is for another product or quantity")
    } else if let other = order?.boundTo ?? holder, other != key {
      self = .contradiction(reason: "another transaction is bound to the order")
    } else {
      self = .bind(orderNumber: number)
    }
  }
}
