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
    let count = lastOrder + 1
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
    return OrderOutcome(
      order: order, isNew: true, writes: [.order(order)] + pruneOrders(of: account, now: now))
  }

  /// Takes over an order that a device made, once. A repeated registration only moves an unpaid order to the state that
  /// the device says.
  ///
  /// Throws if the order is of another account than the sender, if a device may not give this number, or if the number
  /// or the token is that of an order with other contents.
  package mutating func register(
    _ order: DeviceOrder, from account: String, now: Timestamp
  ) throws(BackendModelError) -> OrderOutcome {
    guard order.account == account else { throw .orderOfAnotherAccount }
    guard DeviceOrder.isNumber(order.number) else { throw .invalidOrderNumber }
    guard order.productID.contains(where: { !$0.isWhitespace }) else { throw .blankProduct }
    guard order.quantity >= 1 else { throw .invalidQuantity(order.quantity) }
    if let known = self.order(number: order.number) ?? orders(accountToken: order.accountToken).first {
      guard known.isSame(as: order) else { throw .orderConflict }
      let writes = move(order: known.number, on: order.state)
      return OrderOutcome(order: self.order(number: known.number) ?? known, isNew: false, writes: writes)
    }
    let made = BackendOrder(
      order, of: account,
      // A device's clock may be wrong. An order is never younger than its registration, and not of before 1970.
      createdAt: min(max(order.createdAt, Timestamp(milliseconds: 0)), now))
    apply(.order(made))
    return OrderOutcome(
      order: made, isNew: true, writes: [.order(made)] + pruneOrders(of: account, now: now))
  }

  /// The account's orders, oldest first; with `state` only those in this state. Without a moment, no order has expired.
  package func orders(
    account: String, state: OrderState? = nil, at now: Timestamp = Timestamp(milliseconds: .min)
  ) -> [BackendOrder] {
    orders(of: account).filter { state == nil || $0.state(at: now) == state }
  }

  /// One page of these orders: those after the order of that number.
  package func orderPage(
    account: String, state: OrderState?, after number: String?, limit: Int, at now: Timestamp
  ) -> (orders: [BackendOrder], next: String?) {
    var found = orders(account: account, state: state, at: now)
    if let number, let last = index.orders[number] {
      let later = Set(orders[(last + 1)...].map(\.number))
      found = found.filter { later.contains($0.number) }
    }
    let page = Array(found.prefix(max(1, limit)))
    return (page, found.count > page.count ? page.last?.number : nil)
  }

  /// Moves an unpaid order on: from open to deferred, and from both to cancelled. Everything else changes nothing, so
  /// that a request can be repeated and can come late.
  package mutating func move(order number: String, on state: OrderState) -> [BackendWrite] {
    guard let order = order(number: number) else { return [] }
    switch (order.state, state) {
    case (.open, .deferred), (.open, .cancelled), (.deferred, .cancelled):
      return move(order: number, to: state)
    default: return []
    }
  }

  /// How many unpaid orders of an account are kept, and for how long, in milliseconds. The newest are kept in any case.
  private static let keptOrders = (most: 1_000, least: 20, time: Int64(400 * 86_400_000))

  /// Removes old orders that were never paid. A paid order is never removed.
  private mutating func pruneOrders(of account: String, now: Timestamp) -> [BackendWrite] {
    let all = orders(of: account)
    // Not with each order, which would read all of them.
    guard all.count > Self.keptOrders.least, all.count % 16 == 0 else { return [] }
    let unpaid = all.filter { $0.fulfilledBy == nil }
    let oldest = now.adding(milliseconds: -Self.keptOrders.time)
    let old = unpaid.dropLast(Self.keptOrders.least).filter { $0.createdAt < oldest }.map(\.number)
    let surplus = unpaid.dropLast(Self.keptOrders.most).map(\.number)
    let writes = Set(old + surplus).sorted().map(BackendWrite.orderRemoved)
    for write in writes { apply(write) }
    return writes
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

extension BackendModel {
  /// The latest moment of an order or a grant: the backend's clock was there.
  var latestMoment: Timestamp {
    let moments = orders.map(\.createdAt) + credits.map(\.at)
    return moments.max() ?? Timestamp(milliseconds: 0)
  }
}
