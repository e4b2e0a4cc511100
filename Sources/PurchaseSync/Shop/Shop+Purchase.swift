import Foundation
import PurchaseQueue

/// Selling.
extension Shop {
  /// Shows the payment sheet for an order, and returns when it is closed.
  public typealias Sheet = @Sendable (PurchaseOrder) async throws -> PurchaseResult

  typealias Answer = Result<Sale, SyncError>

  /// One sale, from the wish to the answer. Several callers can wait for it.
  struct Selling {
    var wish: OrderWish
    var kind: SaleKind
    /// When it began.
    var begin: ContinuousClock.Instant
    /// Nil until the order is made. From then on the sheet is shown.
    var number: String?
    /// Whether others may join: until the sheet has ended, or the last caller has gone away before it.
    var isOpen = true
    /// The store has answered with a transaction.
    var isPaid = false
    var callers: [Int: Caller] = [:]
    /// The sheet has been open for longer than its time limit.
    var lateSheet: LateCall?
    /// Gives up waiting for the sheet, and then for the backend.
    var limit: Task<Void, Never>?
    var work: Task<Void, Never>?
  }

  /// A caller of `purchase` that waits for its answer.
  struct Caller {
    var answers: AsyncStream<Answer>.Continuation
    /// It is in the `fulfil` that is under way.
    var isInside: Bool
  }

  /// Sells a product to an account: makes the order, shows the sheet, hands the store's answer over, and waits for the
  /// backend's verdict and for `fulfil`.
  ///
  /// A second call for the same product, quantity and account, while the sheet of the first is open, is the same tap: no
  /// other sheet is shown, and both get its answer.
  ///
  /// A caller that goes away loses nothing, and gets its answer at once: `cancelled` before the sheet, `pending` from the
  /// sheet on. The purchase then goes on without it. Called from within `fulfil`, it does not wait for the backend.
  ///
  /// After a sheet that does not prove that nothing was charged, the shop looks at the store's list: before it answers, and
  /// again for ten minutes.
  ///
  /// - Parameters:
  ///   - product: The id of the product.
  ///   - quantity: How many units: 1 to 10, the most that StoreKit sells at once.
  ///   - account: Your name of the account that buys. It need not be the one that is signed in when the payment arrives.
  ///   - context: A value that comes back with the outcome.
  ///   - isAnother: This is one more purchase, also while the sheet of the same product is open.
  ///   - sheet: Shows the payment sheet instead of the store: in an app with several scenes, or with options.
  /// - Throws: From the sheet on: the store failed, or its answer could not be stored. What was paid is not lost: the
  ///   store keeps it, and delivers it again. What goes wrong before is ``Sale/refused(_:)``.
  public func purchase(
    _ product: String, quantity: Int = 1, for account: String, context: PurchaseContext? = nil,
    isAnother: Bool = false, sheet: Sheet? = nil
  ) async throws(SyncError) -> Sale {
    let wish = OrderWish(account: account, product: product, quantity: quantity)
    return try await answer(to: wish, .order, context, isAnother: isAnother, sheet).get()
  }

  func answer(
    to wish: OrderWish, _ kind: SaleKind, _ context: PurchaseContext? = nil, isAnother: Bool = false,
    _ sheet: Sheet?
  ) async -> Answer {
    await waited(for: (isAnother ? nil : underWay(for: wish, kind)) ?? begin(wish, kind, context, sheet))
  }

  private func waited(for name: Int) async -> Answer {
    let (answers, answer) = AsyncStream.makeStream(of: Answer.self, bufferingPolicy: .bufferingOldest(1))
    nextCaller += 1
    let caller = nextCaller
    selling[name]?.callers[caller] = Caller(answers: answer, isInside: isInsideFulfil)
    for await answer in answers {
      leave(name, caller)
      return answer
    }
    return await goneAway(name, caller)
  }

  /// How long a sheet is waited for, and how long a second tap joins it. A sheet that never answers must not hold up its
  /// callers, or every later purchase.
  private static var sheetLimit: Duration { .seconds(600) }

  private func underWay(for wish: OrderWish, _ kind: SaleKind) -> Int? {
    let now = configuration.system.uptime()
    return selling.first { _, sale in
      sale.isOpen && sale.kind == kind && sale.wish.isSame(as: wish)
        && now < sale.begin.advanced(by: Self.sheetLimit)
    }?.key
  }

  private func begin(
    _ wish: OrderWish, _ kind: SaleKind, _ context: PurchaseContext?, _ sheet: Sheet?
  ) -> Int {
    nextSelling += 1
    let (name, store) = (nextSelling, self.store)
    selling[name] = Selling(wish: wish, kind: kind, begin: configuration.system.uptime())
    selling[name]?.work = Task {
      await self.sell(name, wish, kind, context, sheet ?? { try await store.purchase($0) })
    }
    return name
  }

  /// The caller has gone away, or the shop is closed.
  private func goneAway(_ name: Int, _ caller: Int) async -> Answer {
    guard let sale = selling[name] else { return .success(.pending(.payment)) }
    leave(name, caller)
    if sale.number != nil {
      // A sheet that nobody waits for is looked after like one that has ended.
      if !sale.isPaid { beginAftermath() }
      return .success(.pending(sale.isPaid ? .delivery : .payment))
    }
    guard sale.callers.count == 1 else { return .success(.pending(.payment)) }
    // It was the last one, and there is no sheet yet: there will be none.
    selling[name]?.isOpen = false
    sale.work?.cancel()
    await sale.work?.value
    return .success(.cancelled)
  }

  private func leave(_ name: Int, _ caller: Int) {
    selling[name]?.callers[caller] = nil
    endIfDone(name)
  }

  private func endIfDone(_ name: Int) {
    guard let sale = selling[name], sale.callers.isEmpty, !sale.isOpen, sale.number != nil else { return }
    end(name)
  }

  private func end(_ name: Int) {
    guard let sale = selling.removeValue(forKey: name) else { return }
    if let number = sale.number { desk.end(number) }
    sale.limit?.cancel()
    for caller in sale.callers.values { caller.answers.finish() }
  }

  // MARK: The sale

  private func sell(
    _ name: Int, _ wish: OrderWish, _ kind: SaleKind, _ context: PurchaseContext?, _ sheet: Sheet
  ) async {
    do throws(SyncError) {
      let engine = try await openedByPerson()
      let order = try await engine.order(for: wish, kind, context)
      guard !selling.values.contains(where: { $0.number == order.number }) else {
        throw .backendUnreachable(reason: "it gave order \(order.number) to two purchases at once")
      }
      guard !Task.isCancelled, !isClosed else {
        await withdraw(order, kind, engine)
        return refuse(name, .cancelled)
      }
      desk.begin(order, kind)
      selling[name]?.number = order.number
      await pay(name, order, kind, engine, sheet)
    } catch {
      refuse(name, Task.isCancelled ? .cancelled : .refused(error))
    }
  }

  /// The sale has ended without a sheet.
  private func refuse(_ name: Int, _ sale: Sale) {
    tell(name, .success(sale))
    end(name)
  }

  /// The caller has gone away before the sheet, or the store refused the payment. If this fails, the order stays open
  /// until it expires.
  func withdraw(_ order: PurchaseOrder, _ kind: SaleKind, _ engine: SyncEngine) async {
    do throws(SyncError) {
      guard kind == .order else { return await engine.endRedemption(order.number) }
      try await engine.cancel(order: order.number)
    } catch {
      problem = error
      changed()
    }
  }

  /// Shows the sheet, and answers the callers unless the backend has to.
  private func pay(
    _ name: Int, _ order: PurchaseOrder, _ kind: SaleKind, _ engine: SyncEngine, _ sheet: Sheet
  ) async {
    limit(name, to: Self.sheetLimit.wholeMilliseconds) { await $0.sheetIsLate(name, order.number) }
    let result: Result<PurchaseResult, any Error>
    do {
      result = .success(try await sheet(order))
    } catch {
      result = .failure(error)
    }
    selling[name]?.limit?.cancel()
    selling[name]?.isOpen = false
    selling[name]?.lateSheet = nil
    do throws(SyncError) {
      if let sale = try await answer(to: SheetEnd(result, of: order.productID), order, kind, engine) {
        tell(name, .success(sale))
      } else {
        waitForBackend(name)
      }
    } catch {
      tell(name, .failure(error))
    }
    if kind == .redemption { await engine.endRedemption(order.number) }
    endIfDone(name)
    changed()
  }

  private func waitForBackend(_ name: Int) {
    selling[name]?.isPaid = true
    guard let callers = selling[name]?.callers.values, !callers.isEmpty else { return }
    for caller in callers where caller.isInside { caller.answers.yield(.success(.pending(.delivery))) }
    limit(name, to: waiting.wholeMilliseconds) { await $0.tell(name, .success(.pending(.delivery))) }
  }

  /// Acts when a sale has waited for so long, unless its `limit` is cancelled before.
  private func limit(_ name: Int, to milliseconds: Int64, _ act: @escaping @Sendable (Shop) async -> Void) {
    let patience = configuration.system.patience
    selling[name]?.limit = Task { [weak self] in
      do {
        try await patience(min(max(0, milliseconds), TimeLimit.longest))
      } catch {
        return  // What it waited for has come.
      }
      if let self { await act(self) }
    }
  }

  /// The sheet may never answer, and the person may have paid in it: the store is listed as after its end.
  private func sheetIsLate(_ name: Int, _ number: String) {
    let since = configuration.now().adding(milliseconds: -Self.sheetLimit.wholeMilliseconds)
    selling[name]?.lateSheet = LateCall(.sheet, about: number, since: since.date)
    tell(name, .success(.pending(.payment)))
    beginAftermath()
    changed()
  }

  private func tell(_ name: Int, _ answer: Answer) {
    for caller in selling[name]?.callers.values ?? [:].values { caller.answers.yield(answer) }
  }

  func answer(_ answers: [String: Sale]) {
    guard !answers.isEmpty else { return }
    for (name, sale) in selling {
      if let answer = sale.number.flatMap({ answers[$0] }) { tell(name, .success(answer)) }
    }
  }

  /// An error of another module is named, not described: its text may hold anything.
  static func text(of error: any Error) -> String {
    if let error = error as? StoreError { return error.description }
    let error = error as NSError
    return "\(error.domain) \(error.code)"
  }
}
