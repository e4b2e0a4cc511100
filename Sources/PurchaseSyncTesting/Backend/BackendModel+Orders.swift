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
    // A restored backend counts again from an earlier number, and must not repeat what it gave out since.
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

  /// The account's orders, oldest first; only those in `state`, if it is given. Without a moment nothing has expired.
  public func orders(
    account: String, state: OrderState? = nil, at now: Timestamp = Timestamp(milliseconds: .min)
  ) -> [BackendOrder] {
    orders(of: account).filter { state == nil || $0.state(at: now) == state }
  }

  /// Moves an order to another state: deferred by Ask to Buy, cancelled by the person, expired.
  ///
  /// An order that is fulfilled, or unknown, stays as it is, and nothing is written.
  public mutating func move(order number: String, to state: OrderState) -> [BackendWrite] {
    guard var order = order(number: number), order.fulfilledBy == nil, order.state != state else { return [] }
    order.state = state
    apply(.order(order))
    return [.order(order)]
  }
}
