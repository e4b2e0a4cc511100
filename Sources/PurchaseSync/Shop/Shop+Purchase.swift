import Foundation
import PurchaseQueue

/// Selling.
extension Shop {
  /// Shows the payment sheet for an order, and returns when it is closed.
  public typealias Sheet = @Sendable (PurchaseOrder) async throws -> PurchaseResult

  /// A caller of `purchase` that waits for its answer.
  struct Caller {
    var answers: AsyncStream<Result<Sale, SyncError>>.Continuation
    /// Gives up waiting for the backend.
    var limit: Task<Void, Never>?
    /// The store has answered with a transaction.
    var isPaid = false
  }

  /// Sells a product to an account: makes the order, shows the sheet, hands the store's answer over, and waits for the
  /// backend's verdict and for `fulfil`.
  ///
  /// A caller that goes away loses nothing, and gets its answer at once: `cancelled` before the sheet, `pending` from the
  /// sheet on. The purchase then goes on without it. Called from within `fulfil`, it does not wait for the backend.
  ///
  /// - Parameters:
  ///   - product: The id of the product.
  ///   - quantity: How many units: 1 to 10, the most that StoreKit sells at once.
  ///   - account: Your name of the account that buys. It need not be the one that is signed in when the payment arrives.
  ///   - context: A value that comes back with the outcome.
  ///   - sheet: Shows the payment sheet instead of the store: in an app with several scenes, or with options.
  /// - Throws: From the sheet on: the store failed, or its answer could not be stored. What was paid is not lost: the
  ///   store keeps it, and delivers it again. What goes wrong before is ``Sale/refused(_:)``.
  public func purchase(
    _ product: String, quantity: Int = 1, for account: String, context: PurchaseContext? = nil,
    sheet: Sheet? = nil
  ) async throws(SyncError) -> Sale {
    let result = await sale(of: product, quantity, account, context, sheet)
    // The app may be in the background, while the bank's app is in front.
    await closeAgain()
    return try result.get()
  }

  private func sale(
    of product: String, _ quantity: Int, _ account: String, _ context: PurchaseContext?, _ sheet: Sheet?
  ) async -> Result<Sale, SyncError> {
    let (engine, order): (SyncEngine, PurchaseOrder)
    do throws(SyncError) {
      engine = try await opened()
      order = try await engine.begin(product: product, quantity: quantity, account: account, context: context)
    } catch {
      return .success(Task.isCancelled ? .cancelled : .refused(error))
    }
    guard callers[order.number] == nil else {
      return .success(
        .refused(.backendUnreachable(reason: "it gave order \(order.number) to two purchases at once")))
    }
    guard !Task.isCancelled, !isClosed else {
      await withdraw(order, engine)
      return .success(.cancelled)
    }
    let answers = beginWaiting(for: order)
    defer { stopWaiting(for: order.number) }
    // While the sheet is open, the file is needed for nothing.
    await closeAgain()
    let store = self.store
    Task { await self.pay(order, engine, sheet ?? { try await store.purchase($0) }) }
    for await answer in answers { return answer }
    // The caller has gone away, or the shop is closed.
    return .success(.pending(callers[order.number]?.isPaid == true ? .delivery : .payment))
  }

  /// The caller has gone away before the sheet. If this fails, the order stays open until it expires.
  private func withdraw(_ order: PurchaseOrder, _ engine: SyncEngine) async {
    do throws(SyncError) {
      try await engine.cancel(order: order.number)
    } catch {
      problem = error
      changed()
    }
  }

  private func beginWaiting(for order: PurchaseOrder) -> AsyncStream<Result<Sale, SyncError>> {
    let (answers, caller) = AsyncStream.makeStream(
      of: Result<Sale, SyncError>.self, bufferingPolicy: .bufferingOldest(1))
    desk.begin(order)
    callers[order.number] = Caller(answers: caller)
    return answers
  }

  private func stopWaiting(for number: String) {
    desk.end(number)
    let caller = callers.removeValue(forKey: number)
    caller?.limit?.cancel()
    caller?.answers.finish()
  }

  // MARK: Paying

  /// Shows the sheet, and answers the caller unless the backend has to.
  private func pay(_ order: PurchaseOrder, _ engine: SyncEngine, _ sheet: @escaping Sheet) async {
    let result: Result<PurchaseResult, any Error>
    do {
      result = .success(try await sheet(order))
    } catch {
      result = .failure(error)
    }
    do throws(SyncError) {
      if let sale = try await answer(to: result, order, engine) {
        callers[order.number]?.answers.yield(.success(sale))
      } else {
        waitForBackend(order.number, isInside: isInsideFulfil)
      }
    } catch {
      callers[order.number]?.answers.yield(.failure(error))
    }
    changed()
    await closeAgain()
  }

  private func waitForBackend(_ number: String, isInside: Bool) {
    guard !isInside else {
      callers[number]?.answers.yield(.success(.pending(.delivery)))
      return
    }
    callers[number]?.isPaid = true
    let (waiting, patience) = (self.waiting.wholeMilliseconds, configuration.system.patience)
    callers[number]?.limit = Task { [weak self] in
      do {
        try await patience(min(max(0, waiting), TimeLimit.longest))
      } catch {
        return  // The caller has its answer.
      }
      await self?.giveUp(number)
    }
  }

  private func giveUp(_ number: String) { callers[number]?.answers.yield(.success(.pending(.delivery))) }

  /// What the caller is told, or nil if the backend has to say it.
  private func answer(
    to result: Result<PurchaseResult, any Error>, _ order: PurchaseOrder, _ engine: SyncEngine
  ) async throws(SyncError) -> Sale? {
    // The store may have delivered the transaction before the sheet was closed. Then that counts.
    let known = desk.known(order.number)
    switch result {
    case .success(.purchased(let transaction)):
      let known = desk.paid(order.number, with: transaction.key)
      try await engine.receive(transaction, for: order)
      if let known { return known }
    case .success(let answer):
      if let known { return known }
      try await engine.receive(answer, for: order)
      guard try await engine.snapshot().purchases.contains(where: { $0.orderNumber == order.number }) else {
        return answer == .pending ? .pending(.approval) : .cancelled
      }
    case .failure(let error):
      if let known { return known }
      let refusal = SyncError.store(reason: Self.text(of: error))
      // Few errors prove that nothing was charged; after the others the order stays open.
      guard let error = error as? StoreError, error.isBeforePayment else { throw refusal }
      await withdraw(order, engine)
      return .refused(refusal)
    }
    return try await obstacle(order, engine)
  }

  /// What the engine told before the sheet returned, or before the sale began: it does not tell it again.
  private func obstacle(_ order: PurchaseOrder, _ engine: SyncEngine) async throws(SyncError) -> Sale? {
    let state = try await engine.snapshot()
    guard let purchase = state.purchases.first(where: { desk.isAbout($0, order.number) }) else { return nil }
    if purchase.problem != nil { return .pending(.support) }
    let isSignedOut = state.lanes.contains { $0.lane == purchase.lane && $0.state == .signInNeeded }
    return isSignedOut ? .pending(.signIn) : nil
  }

  /// An error of another module is named, not described: its text may hold anything.
  static func text(of error: any Error) -> String {
    if let error = error as? StoreError { return error.description }
    let error = error as NSError
    return "\(error.domain) \(error.code)"
  }

  func answer(_ answers: [String: Sale]) {
    for (number, sale) in answers { callers[number]?.answers.yield(.success(sale)) }
  }
}
