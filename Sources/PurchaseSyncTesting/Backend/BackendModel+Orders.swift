package import PurchaseQueue
package import PurchaseSync

extension BackendModel {
  /// An order, with the changes of the model.
  package struct OrderOutcome: Sendable, Hashable {
    package var order: BackendOrder
    /// False if the idempotency key was known: nothing changed.
    package var isNew: Bool
    package var writes: [BackendWrite]
  }

  /// Makes an order, or finds the account's order with the same idempotency key.
  ///
  /// Throws if the key belongs to a different order, or if the request is invalid. After `expiresAt` the backend no
  /// longer expects a payment.
  package mutating func createOrder(
    _ request: OrderRequest, account: String, idempotencyKey: String, now: Timestamp,
    expiresAt: Timestamp? = nil
  ) throws(BackendModelError) -> OrderOutcome {
    guard request.productID.contains(where: { !$0.isWhitespace }) else { throw .blankProduct }
    guard request.quantity >= 1 else { throw .invalidQuantity(request.quantity) }
    if let known = order(account: account, idempotencyKey: idempotencyKey) {
      guard known.productID == request.productID, known.quantity == request.quantity else {
        throw .idempotencyConflict
      }
      return OrderOutcome(order: known, isNew: false, writes: [])
    }
    // Drawn from seed and count, so that a backend never repeats a token after a kill.
    let count = orders.count + 1
    var mixer = SplitMix64(seed: seed)
    // A restored backend counts from an earlier number, and must not repeat the tokens since then.
    let restored = UInt64(restorations) << 32
    var generator = SplitMix64(seed: mixer.next() &+ restored &+ UInt64(count))
    let order = BackendOrder(
      number: restorations > 0 ? "order-\(restorations)-\(count)" : "order-\(count)", account: account,
      idempotencyKey: idempotencyKey,
      accountToken: generator.nextUUID(), productID: request.productID, quantity: request.quantity,
      createdAt: now, expiresAt: expiresAt)
    apply(.order(order))
    return OrderOutcome(order: order, isNew: true, writes: [.order(order)])
  }

  /// The account's orders, oldest first; with `state` only those in this state. Without a moment, no order has expired.
  package func orders(
    account: String, state: OrderState? = nil, at now: Timestamp = Timestamp(milliseconds: .min)
  ) -> [BackendOrder] {
    orders(of: account).filter { state == nil || $0.state(at: now) == state }
  }

  /// Moves an order to another state: deferred by Ask to Buy, cancelled or expired.
  ///
  /// A fulfilled or unknown order does not change, and nothing is written.
  package mutating func move(order number: String, to state: OrderState) -> [BackendWrite] {
    guard var order = order(number: number), order.fulfilledBy == nil, order.state != state else { return [] }
    order.state = state
    apply(.order(order))
    return [.order(order)]
  }
}
