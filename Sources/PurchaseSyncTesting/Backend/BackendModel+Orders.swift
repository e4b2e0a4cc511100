public import PurchaseQueue
public import PurchaseSync

extension BackendModel {
  /// An order, and whether and how the model changed for it.
  public struct OrderOutcome: Sendable, Hashable {
    /// The order, old or new.
    public var order: BackendOrder
    /// False if the idempotency key was known: nothing changed.
    public var isNew: Bool
    /// What a store has to make durable.
    public var writes: [BackendWrite]
  }

  /// Makes an order, or finds the one that this account made under the same idempotency key.
  ///
  /// Throws if the key belongs to a different order, or the request makes no sense. `expiresAt` is the moment
  /// from which the backend no longer expects a payment.
  public mutating func createOrder(
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
    // Drawn from seed and count, so that a backend that was killed and opened again never repeats a token.
    let count = orders.count + 1
    var mixer = SplitMix64(seed: seed)
    var generator = SplitMix64(seed: mixer.next() &+ UInt64(count))
    let order = BackendOrder(
      number: "order-\(count)", account: account, idempotencyKey: idempotencyKey,
      accountToken: generator.nextUUID(), productID: request.productID, quantity: request.quantity,
      createdAt: now, expiresAt: expiresAt)
    apply(.order(order))
    return OrderOutcome(order: order, isNew: true, writes: [.order(order)])
  }

  /// The account's orders, oldest first; only those in `state`, if it is given.
  public func orders(account: String, state: OrderState? = nil) -> [BackendOrder] {
    orders.filter { $0.account == account && (state == nil || $0.state == state) }
  }
}
