import PurchaseQueue

/// What a sheet says at its end, and what the store says afterwards.
extension Shop {
  /// How long a caller waits for the store's list.
  private static var lookLimit: Int64 { 3_000 }

  /// What the callers get, or nil if the backend has to say it.
  func answer(
    to end: SheetEnd, _ checkout: Checkout
  ) async throws(SyncError) -> Sale? {
    // The store may have delivered the transaction before the sheet was closed. Then that counts.
    let known = sales.known(checkout.name)
    switch end {
    case .paid(let transaction): return try await paid(checkout, with: transaction)
    case .refused(let refusal):
      if let known { return known }
      await withdraw(checkout)
      return .refused(.storeRefused(refusal))
    case .pending, .cancelled, .unknown:
      beginAftermath()
      if let known { return known }
      try await note(end, of: checkout)
      switch (try await payment(of: checkout), end) {
      case (.ended(let sale), _): return sale
      case (.isOnItsWay, _): return try await obstacle(checkout)
      case (.unknown, .pending): return .pending(.approval)
      case (.unknown, .unknown(let reason)): throw .store(reason: reason)
      case (.unknown, _): return .cancelled
      }
    }
  }

  private func note(_ end: SheetEnd, of checkout: Checkout) async throws(SyncError) {
    let (order, engine) = (checkout.order, checkout.engine)
    switch (end, checkout.kind) {
    case (.pending, .order): try await engine.receive(.pending, for: order)
    case (.pending, .guest): try await engine.deferPayment(ofGuest: order)
    case (.cancelled, .order): try await engine.receive(.cancelled, for: order)
    default: break
    }
  }

  /// The store's answer is a transaction: the order's own, or an earlier one that counts for it.
  private func paid(
    _ checkout: Checkout, with transaction: StoreTransaction
  ) async throws(SyncError) -> Sale? {
    let (name, order, kind, engine) = (checkout.name, checkout.order, checkout.kind, checkout.engine)
    // The sheet returns one transaction of a bundle; the store has one for each of its subscriptions.
    if transaction.bundle != nil { beginAftermath() }
    if kind != .redemption {
      // With one token for each account, an earlier purchase of the account has the order's token, too.
      let isOver = SheetAnswer.isOver(transaction, for: order)
      if isOver || transaction.ownToken != order.accountToken { beginAftermath() }
      if isOver { return try await answeredOver(checkout, with: transaction) }
    }
    let known = sales.answered(name, with: transaction)
    guard await take(transaction, for: checkout) else { return known ?? .pending(.delivery) }
    if let known { return known }
    if kind != .order, let earlier = try await engine.earlierOutcome(of: transaction.key, for: order) {
      return sales.sale(name, of: earlier)
    }
    if let change = sales.change(name), try await engine.isOwn(transaction.key, of: order) {
      return change
    }
    return try await obstacle(checkout)
  }

  /// The store has answered with a purchase that gives nothing any more. It is settled like every other one. Whether the
  /// order was paid, the store's list says.
  private func answeredOver(
    _ checkout: Checkout, with transaction: StoreTransaction
  ) async throws(SyncError) -> Sale? {
    _ = await take(transaction, for: checkout)
    switch try await payment(of: checkout) {
    case .ended(let sale): return sale
    case .isOnItsWay: return try await obstacle(checkout)
    case .unknown: return .pending(.payment)
    }
  }

  /// False if the transaction could not be stored. It is paid, and the store keeps it: an error would invite to pay again.
  private func take(_ transaction: StoreTransaction, for checkout: Checkout) async -> Bool {
    let (order, engine) = (checkout.order, checkout.engine)
    do throws(SyncError) {
      switch checkout.kind {
      case .order: try await engine.receive(transaction, for: order)
      case .guest: try await engine.receive(transaction, ofGuest: order)
      case .redemption: try await engine.receive(transaction, redeemedFor: order.account)
      }
      return true
    } catch {
      feed.fileProblem = error
      beginAftermath()
      return false
    }
  }

  /// What is known of the payment of an order.
  private enum Payment {
    case unknown
    /// The order has a transaction.
    case isOnItsWay
    case ended(Sale)
  }

  /// Looks at the store's list for the payment of an order.
  private func payment(of checkout: Checkout) async throws(SyncError) -> Payment {
    let (name, order, engine) = (checkout.name, checkout.order, checkout.engine)
    let listed = await look(engine)
    let own = listed?.transactions.first { SheetAnswer.isNew($0, of: order) }
    if let sale = own.map({ sales.answered(name, with: $0) }) ?? sales.known(name) {
      return .ended(sale)
    }
    if own != nil { return .isOnItsWay }
    return try await engine.isPaid(order.number) ? .isOnItsWay : .unknown
  }

  /// What the engine published before the sheet returned, or before the sale began: it does not publish it again.
  private func obstacle(_ checkout: Checkout) async throws(SyncError) -> Sale? {
    try await checkout.engine.needs(sales.payment(of: checkout.name)).map { .pending($0) }
  }

  // MARK: Looking at the store

  /// A sheet has ended, and does not prove that nothing was charged.
  func beginAftermath() {
    guard !isClosed else { return }
    sales.aftermath.begin(at: configuration.system.uptime())
    lookNext()
  }

  /// The first look, for a caller that waits. In the background there is none: the foreground lists the store.
  private func look(_ engine: SyncEngine) async -> StoreListing? {
    guard !isSuspended, !isClosed else { return nil }
    let limit = TimeLimit(milliseconds: Self.lookLimit, patience: configuration.system.patience)
    return await limit.answer { try await self.lookWhenDue(engine) }
  }

  private func lookWhenDue(_ engine: SyncEngine) async throws -> StoreListing? {
    let system = configuration.system
    if let due = sales.aftermath.next {
      let pause = system.uptime().duration(to: due).wholeMilliseconds
      if pause > 0 { try await system.sleep(pause) }
    }
    // The app may have left since.
    guard !isSuspended, !isClosed else { return nil }
    sales.aftermath.looked(at: system.uptime())
    return await engine.list()
  }

  /// Waits for the next look. A later call takes the place of an earlier one.
  private func lookNext() {
    tasks[.look] = nil
    if let due = sales.aftermath.next { wait(.look, until: due) { await $0.lookAgain() } }
  }

  private func lookAgain() async {
    guard !isClosed, let due = sales.aftermath.next else { return }
    let now = configuration.system.uptime()
    if due <= now {
      sales.aftermath.looked(at: now)
      if !isSuspended { _ = await engine?.list() }
    }
    lookNext()
  }
}
