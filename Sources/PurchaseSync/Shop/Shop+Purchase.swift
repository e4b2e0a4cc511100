import Foundation
import PurchaseQueue

/// Selling.
extension Shop {
  /// Shows the payment sheet for an order, and returns when it is closed.
  public typealias Sheet = @Sendable (PurchaseOrder) async throws -> PurchaseResult

  typealias Answer = Result<Sale, SyncError>
  typealias Sales = PendingSales<AsyncStream<Answer>.Continuation>

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
    let wish = OrderWish(
      account: account, product: product, quantity: quantity, note: OrderNote(context: context))
    return try await answer(to: wish, .order, isAnother: isAnother, sheet).get()
  }

  /// Sells a subscription for several people, as the call with a quantity sells units.
  ///
  /// - Parameters:
  ///   - product: The id of the subscription.
  ///   - seats: How many it has **in all** after the payment. Who has 3 and asks for 5 pays 2: the purchase that comes to
  ///     `fulfil` has these 2, and adds to the others (``Outcome/unitsHeld``). Fewer than there are: the payment is refused,
  ///     and nothing is charged; that is for the store's own settings.
  ///   - account: Your name of the account that buys.
  ///   - context: A value that comes back with the outcome.
  ///   - isAnother: This is one more purchase, also while the sheet of the same product is open.
  ///   - sheet: On Apple's systems `StoreKitStore.sheet(seats:showing:)`, which names StoreKit's option.
  /// - Throws: As the call with a quantity.
  public func purchase(
    _ product: String, seats: Int, for account: String, context: PurchaseContext? = nil,
    isAnother: Bool = false, sheet: Sheet? = nil
  ) async throws(SyncError) -> Sale {
    let wish = OrderWish(account: account, product: product, seats: seats, note: OrderNote(context: context))
    return try await answer(to: wish, .order, isAnother: isAnother, sheet).get()
  }

  func answer(
    to wish: OrderWish, _ kind: SaleKind, isAnother: Bool = false, _ sheet: Sheet?
  ) async -> Answer {
    let known = isAnother ? nil : sales.open(for: wish, kind, at: configuration.system.uptime())
    return await waited(for: known ?? begin(wish, kind, sheet))
  }

  private func waited(for name: Int) async -> Answer {
    let (answers, caller) = AsyncStream.makeStream(of: Answer.self, bufferingPolicy: .bufferingOldest(1))
    let number = sales.join(name, caller, isInside: isInsideFulfil)
    for await answer in answers {
      perform(sales.leave(name, number))
      return answer
    }
    let (departure, steps) = sales.goneAway(name, number)
    perform(steps)
    switch departure {
    case .leaves(let sale, let isPaymentOpen):
      // A sheet without a caller that waits is looked after like one that has ended.
      if isPaymentOpen { beginAftermath() }
      return .success(sale)
    case .withdraws:
      let sale = tasks[.sale(name)]
      sale?.cancel()
      await sale?.value
      return .success(.cancelled)
    }
  }

  private func begin(_ wish: OrderWish, _ kind: SaleKind, _ sheet: Sheet?) -> Int {
    let (name, store) = (sales.begin(wish, kind, at: configuration.system.uptime()), parts.store)
    tasks[.sale(name)] = Task {
      await self.sell(name, wish, kind, sheet ?? { try await store.purchase($0) })
      self.tasks[.sale(name)] = nil
    }
    return name
  }

  func perform(_ steps: [Sales.Step]) {
    for step in steps {
      switch step {
      case .answer(let caller, let answer): caller.yield(answer)
      case .dismiss(let caller): caller.finish()
      case .forget(let name): tasks[.limit(name)] = nil
      }
    }
  }

  // MARK: The sale

  /// A sale with its order: its sheet is shown, or has been.
  struct Checkout {
    let name: Int
    let order: PurchaseOrder
    let kind: SaleKind
    let engine: SyncEngine
  }

  private func sell(_ name: Int, _ wish: OrderWish, _ kind: SaleKind, _ sheet: Sheet) async {
    do throws(SyncError) {
      let engine = try await openedByPerson()
      let order = try await engine.order(for: wish, kind)
      guard !sales.isTaken(order) else {
        throw .backendUnreachable(reason: "it gave order \(order.number) to two purchases at once")
      }
      let checkout = Checkout(name: name, order: order, kind: kind, engine: engine)
      guard !Task.isCancelled, !isClosed else {
        await withdraw(checkout)
        return perform(sales.refused(name, .cancelled))
      }
      sales.ordered(name, order)
      await pay(checkout, sheet)
    } catch {
      perform(sales.refused(name, Task.isCancelled ? .cancelled : .refused(error)))
    }
  }

  /// The caller has gone away before the sheet, or the store refused the payment. If this fails, the order stays open
  /// until it expires.
  func withdraw(_ checkout: Checkout) async {
    let number = checkout.order.number
    do throws(SyncError) {
      guard checkout.kind == .order else { return await checkout.engine.endRedemption(number) }
      try await checkout.engine.cancel(order: number)
    } catch {
      failed(error)
    }
  }

  /// Shows the sheet, and answers the callers unless the backend has to.
  private func pay(_ checkout: Checkout, _ sheet: Sheet) async {
    let name = checkout.name
    limit(name, to: Sales.sheetLimit) { $0.sheetIsLate(name) }
    let result: Result<PurchaseResult, any Error>
    do {
      result = .success(try await sheet(checkout.order))
    } catch {
      result = .failure(error)
    }
    tasks[.limit(name)] = nil
    sales.sheetEnded(name)
    do throws(SyncError) {
      if let sale = try await answer(to: SheetEnd(result, of: checkout.order.productID), checkout) {
        perform(sales.settled(name, .success(sale)))
      } else {
        waitForBackend(name)
      }
    } catch {
      perform(sales.settled(name, .failure(error)))
    }
    if checkout.kind == .redemption { await checkout.engine.endRedemption(checkout.order.number) }
    changed()
  }

  private func waitForBackend(_ name: Int) {
    let (isAwaited, steps) = sales.paid(name)
    perform(steps)
    guard isAwaited else { return }
    limit(name, to: parts.waiting) { $0.perform($0.sales.waitIsOver(name)) }
  }

  /// Acts when a sale has waited for so long, unless its limit is replaced before.
  private func limit(_ name: Int, to time: Duration, _ act: @escaping @Sendable (isolated Shop) -> Void) {
    let (patience, milliseconds) = (configuration.system.patience, time.wholeMilliseconds)
    tasks[.limit(name)] = Task { [weak self] in
      do {
        try await patience(min(max(0, milliseconds), TimeLimit.longest))
      } catch {
        return  // What it waited for has come.
      }
      if let self { await act(self) }
    }
  }

  /// The store is listed as after the sheet's end.
  private func sheetIsLate(_ name: Int) {
    let limit = Sales.sheetLimit.wholeMilliseconds
    perform(sales.sheetIsLate(name, since: configuration.now().adding(milliseconds: -limit)))
    beginAftermath()
    changed()
  }

  /// An error of another module is named, not described: its text may hold anything.
  static func text(of error: any Error) -> String {
    if let error = error as? StoreError { return error.description }
    let error = error as NSError
    return "\(error.domain) \(error.code)"
  }
}

/// Selling to a person without an account, and offer codes.
extension Shop {
  /// Who buys without an account.
  public struct Guest: Sendable, Hashable {
    /// The person who uses the app and is not signed in.
    public static let guest = Guest()
  }

  /// Sells a product to a person who is not signed in: an app must not ask for an account where none is needed (App Review
  /// 5.1.1(v)). As the call with an account, and:
  ///
  /// The purchase belongs to the device, whichever account is signed in when the payment arrives, and under each
  /// ``UnclaimedPolicy``: its account token says that a guest has paid. It comes to `fulfil` without an account. An account
  /// gets it only when the app says so: ``signedIn(as:adoptingGuest:)``.
  ///
  /// There is no order: no context comes back.
  public func purchase(
    _ product: String, quantity: Int = 1, for guest: Guest, isAnother: Bool = false, sheet: Sheet? = nil
  ) async throws(SyncError) -> Sale {
    let wish = OrderWish(account: "", product: product, quantity: quantity)
    return try await answer(to: wish, .guest, isAnother: isAnother, sheet).get()
  }

  /// Shows a sheet that redeems an offer code, and returns its transaction; nil if the user closed it, or if the system
  /// returns none.
  public typealias RedeemSheet = @Sendable () async throws -> StoreTransaction?

  /// Redeems an offer code for an account. `StoreKitStore.redeemSheet(_:)` makes the sheet (iOS 27).
  ///
  /// What a code gives has no account token, so the account is said here: what the sheet returns, and what the store
  /// delivers for a code while the sheet is open, is this account's. What was redeemed elsewhere goes by the
  /// ``UnclaimedPolicy``, and so does this if the app is killed at the sheet. Ends as `purchase` does.
  public func redeem(for account: String, sheet: @escaping RedeemSheet) async throws(SyncError) -> Sale {
    let wish = OrderWish(account: account, product: "", quantity: 1)
    let answer = await answer(to: wish, .redemption) { _ in
      if let transaction = try await sheet() { .purchased(transaction) } else { .cancelled }
    }
    return try answer.get()
  }
}
