import PurchaseQueue

/// Selling.
extension Shop {
  /// Shows the payment sheet for an order, and returns when it is closed.
  public typealias Sheet = @Sendable (PurchaseOrder) async throws -> PurchaseResult

  /// Sells a product to an account: makes the order, shows the sheet, hands the store's answer over, and waits for the
  /// backend's verdict and for `fulfil`.
  ///
  /// A caller that goes away loses nothing: from the sheet on, the purchase goes on without it. Cancelled before the
  /// sheet, it is `cancelled`.
  ///
  /// - Parameters:
  ///   - product: The id of the product.
  ///   - quantity: How many units.
  ///   - account: Your name of the account that buys. It need not be the one that is signed in when the payment arrives.
  ///   - context: A value that comes back with the outcome.
  ///   - sheet: Shows the payment sheet instead of the store: in an app with several scenes, or with options.
  /// - Throws: From the sheet on: the store failed, or its answer could not be stored. What was paid is not lost: the
  ///   store keeps it, and delivers it again. What goes wrong before is ``Sale/refused(_:)``.
  public func purchase(
    _ product: String, quantity: Int = 1, for account: String, context: PurchaseContext? = nil,
    sheet: Sheet? = nil
  ) async throws(SyncError) -> Sale {
    let (engine, order): (SyncEngine, PurchaseOrder)
    do throws(SyncError) {
      engine = try await opened()
      order = try await engine.begin(product: product, quantity: quantity, account: account, context: context)
    } catch {
      return .refused(error)
    }
    guard !Task.isCancelled else {
      _ = try await engine.cancel(order: order.number)
      return .cancelled
    }
    let answers = beginWaiting(for: order)
    defer { stopWaiting(for: order.number) }
    let store = self.store
    let payment = Task { await self.pay(order, engine, sheet ?? { try await store.purchase($0) }) }
    if let sale = try await payment.value.get() { return sale }
    let limit = TimeLimit(
      milliseconds: waiting.wholeMilliseconds, patience: configuration.system.patience)
    let sale = await limit.answer { () async -> Sale? in
      for await sale in answers { return sale }
      return nil
    }
    return sale ?? .pending(.delivery)
  }

  private func beginWaiting(for order: PurchaseOrder) -> AsyncStream<Sale> {
    let (answers, caller) = AsyncStream.makeStream(of: Sale.self, bufferingPolicy: .bufferingOldest(1))
    desk.begin(order)
    callers[order.number] = caller
    return answers
  }

  private func stopWaiting(for number: String) {
    desk.end(number)
    callers.removeValue(forKey: number)?.finish()
  }

  /// The answer, or nil if the backend has to give it.
  private func pay(
    _ order: PurchaseOrder, _ engine: SyncEngine, _ sheet: @escaping Sheet
  ) async -> Result<Sale?, SyncError> {
    let result: PurchaseResult
    do {
      result = try await sheet(order)
    } catch {
      return await failed(error, order, engine)
    }
    do throws(SyncError) {
      switch result {
      case .purchased(let transaction):
        let known = desk.paid(order.number, with: transaction.key)
        try await engine.receive(result, for: order)
        changed()
        if let known { return .success(known) }
        return .success(try await obstacle(transaction.key, order, engine))
      case .pending:
        try await engine.receive(result, for: order)
        changed()
        return .success(.pending(.approval))
      case .cancelled:
        try await engine.receive(result, for: order)
        return .success(.cancelled)
      }
    } catch {
      return .failure(error)
    }
  }

  /// What the engine told before the sheet returned, or before the sale began: it does not tell it again.
  private func obstacle(
    _ key: EntryKey, _ order: PurchaseOrder, _ engine: SyncEngine
  ) async throws(SyncError) -> Sale? {
    let state = try await engine.snapshot()
    guard let purchase = state.purchases.first(where: { $0.key == key }) else { return nil }
    if purchase.problem != nil { return .pending(.support) }
    let isSignedOut = state.lanes.contains { $0.lane == purchase.lane && $0.state == .signInNeeded }
    return isSignedOut ? .pending(.signIn) : nil
  }

  /// The sheet failed. Few errors prove that nothing was charged; after the others the order stays open.
  private func failed(
    _ error: any Error, _ order: PurchaseOrder, _ engine: SyncEngine
  ) async -> Result<Sale?, SyncError> {
    switch error as? StoreError {
    case .productUnavailable, .noSheet: break
    default: return .failure(.store(reason: "\(error)"))
    }
    do throws(SyncError) {
      try await engine.cancel(order: order.number)
    } catch {
      return .failure(error)
    }
    return .success(.refused(.store(reason: "\(error)")))
  }

  func answer(_ answers: [String: Sale]) {
    for (number, sale) in answers { callers[number]?.yield(sale) }
  }
}
