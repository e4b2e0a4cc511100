package import PurchaseQueue

/// The effect of a verdict's order number on a binding.
package enum VerdictBinding: Sendable, Hashable {
  /// No change: the verdict names no order, or the one that is already bound.
  case keep
  /// The transaction is bound to this order from now on. Commit the binding with the settlement.
  case bind(orderNumber: String)
  /// The number contradicts the binding in this file, and the binding stays. Report it. The verdict itself
  /// counts: the backend has granted the purchase.
  case contradiction(reason: String)

  /// The most bytes of an order's number that a verdict may name: it is stored.
  static var longestNumber: Int { 256 }

  /// Decides by the facts in this file. `order` is the order that the verdict names; nil if the journal does
  /// not have it, for instance because it was made on another device. `holder` is the transaction that
  /// already has such an order.
  package init(
    verdictOrder number: String?, of key: EntryKey, productID: String, quantity: Int,
    known: KnownTransaction?, order: OrderFacts?, holder: EntryKey? = nil
  ) {
    guard let number else {
      self = .keep
      return
    }
    guard number.utf8.count <= Self.longestNumber else {
      self = .contradiction(reason: "the number of the order has \(number.utf8.count) bytes")
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
