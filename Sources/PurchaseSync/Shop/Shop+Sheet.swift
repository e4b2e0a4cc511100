import PurchaseQueue

/// What a sheet says at its end, and what the store says afterwards.
extension Shop {
  /// How long a caller waits for the store's list.
  private static var lookLimit: Int64 { 3_000 }

  /// What the callers get, or nil if the backend has to say it.
  func answer(
    to end: SheetEnd, _ order: PurchaseOrder, _ kind: SaleKind, _ engine: SyncEngine
  ) async throws(SyncError) -> Sale? {
    // The store may have delivered the transaction before the sheet was closed. Then that counts.
    let known = desk.known(order.number)
    switch end {
    case .paid(let transaction): return try await paid(order, kind, with: transaction, engine)
    case .refused(let refusal):
      if let known { return known }
      await withdraw(order, kind, engine)
      return .refused(.storeRefused(refusal))
    case .pending, .cancelled, .unknown:
      beginAftermath()
      if let known { return known }
      try await note(end, of: order, kind, engine)
      switch (try await payment(of: order, engine), end) {
      case (.ended(let sale), _): return sale
      case (.isOnItsWay, _): return try await obstacle(order, engine)
      case (.unknown, .pending): return .pending(.approval)
      case (.unknown, .unknown(let reason)): throw .store(reason: reason)
      case (.unknown, _): return .cancelled
      }
    }
  }

  private func note(
    _ end: SheetEnd, of order: PurchaseOrder, _ kind: SaleKind, _ engine: SyncEngine
  ) async throws(SyncError) {
    switch (end, kind) {
    case (.pending, .order): try await engine.receive(.pending, for: order)
    case (.pending, .guest): try await engine.deferPayment(ofGuest: order)
    case (.cancelled, .order): try await engine.receive(.cancelled, for: order)
    default: break
    }
  }

  /// The store's answer is a transaction: the order's own, or an earlier one that counts for it.
  private func paid(
    _ order: PurchaseOrder, _ kind: SaleKind, with transaction: StoreTransaction, _ engine: SyncEngine
  ) async throws(SyncError) -> Sale? {
    if kind != .redemption {
      // With one token for each account, an earlier purchase of the account has the order's token, too.
      let isOver = ExistingPayment.isOver(transaction, for: order)
      if isOver || transaction.accountToken != order.accountToken { beginAftermath() }
      if isOver { return try await answeredOver(order, kind, with: transaction, engine) }
    }
    let known = desk.answered(order.number, with: transaction)
    guard await take(transaction, for: order, kind, engine) else { return known ?? .pending(.delivery) }
    if let known { return known }
    if kind != .order, let earlier = try await engine.earlierOutcome(of: transaction.key, for: order) {
      return desk.sale(order.number, of: earlier)
    }
    if let change = desk.change(order.number), try await engine.isOwn(transaction.key, of: order) {
      return change
    }
    return try await obstacle(order, engine)
  }

  /// The store has answered with a purchase that gives nothing any more. It is settled like every other one. Whether the
  /// order was paid, the store's list says.
  private func answeredOver(
    _ order: PurchaseOrder, _ kind: SaleKind, with transaction: StoreTransaction, _ engine: SyncEngine
  ) async throws(SyncError) -> Sale? {
    _ = await take(transaction, for: order, kind, engine)
    switch try await payment(of: order, engine) {
    case .ended(let sale): return sale
    case .isOnItsWay: return try await obstacle(order, engine)
    case .unknown: return .pending(.payment)
    }
  }

  /// False if the transaction could not be stored. It is paid, and the store keeps it: an error would invite to pay again.
  private func take(
    _ transaction: StoreTransaction, for order: PurchaseOrder, _ kind: SaleKind, _ engine: SyncEngine
  ) async -> Bool {
    do throws(SyncError) {
      switch kind {
      case .order: try await engine.receive(transaction, for: order)
      case .guest: try await engine.receive(transaction, ofGuest: order)
      case .redemption: try await engine.receive(transaction, redeemedFor: order.account)
      }
      return true
    } catch {
      problem = error
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
  private func payment(of order: PurchaseOrder, _ engine: SyncEngine) async throws(SyncError) -> Payment {
    let listed = await look(engine)
    let own = listed?.transactions.first { ExistingPayment.isNew($0, of: order) }
    if let sale = own.map({ desk.answered(order.number, with: $0) }) ?? desk.known(order.number) {
      return .ended(sale)
    }
    if own != nil { return .isOnItsWay }
    return try await engine.isPaid(order.number) ? .isOnItsWay : .unknown
  }

  /// What the engine published before the sheet returned, or before the sale began: it does not publish it again.
  private func obstacle(_ order: PurchaseOrder, _ engine: SyncEngine) async throws(SyncError) -> Sale? {
    let state = try await engine.snapshot()
    guard let purchase = state.purchases.first(where: { desk.isAbout($0, order.number) }) else { return nil }
    if purchase.problem != nil { return .pending(.support) }
    let isSignedOut = state.lanes.contains { $0.lane == purchase.lane && $0.state == .signInNeeded }
    return isSignedOut ? .pending(.signIn) : nil
  }

  // MARK: Looking at the store

  /// A sheet has ended, and does not prove that nothing was charged.
  func beginAftermath() {
    guard !isClosed else { return }
    aftermath.begin(at: configuration.system.uptime())
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
    if let due = aftermath.next {
      let pause = system.uptime().duration(to: due).wholeMilliseconds
      if pause > 0 { try await system.sleep(pause) }
    }
    // The app may have left since.
    guard !isSuspended, !isClosed else { return nil }
    aftermath.looked(at: system.uptime())
    return await engine.list()
  }

  /// Waits for the next look. A later call takes the place of an earlier one.
  private func lookNext() {
    looking?.cancel()
    guard let due = aftermath.next else { return }
    let system = configuration.system
    let pause = system.uptime().duration(to: due).wholeMilliseconds + 1
    looking = Task { [weak self] in
      do {
        try await system.sleep(max(1, pause))
      } catch {
        return  // Cancelled: the shop is closed or released, or another moment counts.
      }
      await self?.lookAgain()
    }
  }

  private func lookAgain() async {
    guard !isClosed, let due = aftermath.next else { return }
    let now = configuration.system.uptime()
    if due <= now {
      aftermath.looked(at: now)
      if !isSuspended { _ = await engine?.list() }
    }
    lookNext()
  }
}
