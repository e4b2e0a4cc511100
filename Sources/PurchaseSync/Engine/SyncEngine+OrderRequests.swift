import Foundation
import PurchaseQueue

/// The requests about orders.
extension SyncEngine {
  func requestOrder(_ wish: OrderWish, key: String) async throws(SyncError) -> OrderDocument {
    let request = OrderRequest(productID: wish.product, quantity: wish.quantity)
    return try await asked(.order(key), for: wish.account) { backend, account in
      await backend.makeOrder(request, key: key, for: account)
    }
  }

  /// The account's open orders, page by page.
  func requestOpenOrders(account: String) async throws(SyncError) -> [OrderDocument] {
    var listing = OrderListing()
    while !listing.isComplete {
      let cursor = listing.cursor
      let page = try await asked(.order("open after \(cursor ?? "")"), for: account) { backend, account in
        await backend.openOrders(after: cursor, of: account)
      }
      listing.took(page)
    }
    return listing.orders
  }

  /// One order as the backend knows it; nil if it does not know the order, or does not say.
  func requestOrder(_ number: String, account: String) async throws(SyncError) -> OrderDocument? {
    do throws(SyncError) {
      let document = try await asked(.order(number), for: account) { backend, account in
        await backend.order(number, of: account)
      }
      return document.number == number ? document : nil
    } catch {
      guard case .backendRefused = error else { throw error }
      return nil
    }
  }

  /// Sends a request of an account. If its token is refused, it is sent once more with a newer one.
  private func asked<Answer>(
    _ request: EngineSight.Request, for account: String, isRepeated: Bool = false,
    _ send: @Sendable (any BackendPort, AccountCredential) async -> OrderAnswer<Answer>
  ) async throws(SyncError) -> Answer {
    let token = try await token(of: account)
    guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
    switch await answered(request, with: token, send) {
    case .success(let answer): return answer
    case .failure(.tokenRefused) where !isRepeated:
      return try await asked(request, for: account, isRepeated: true, send)
    case .failure(let failure): throw SyncError(failure, account: account)
    }
  }

  private func answered<Answer>(
    _ request: EngineSight.Request, with token: AccountCredential,
    _ send: @Sendable (any BackendPort, AccountCredential) async -> OrderAnswer<Answer>
  ) async -> OrderAnswer<Answer> {
    saw(.calls(.request(request)))
    let answer = await send(ports.backend, token)
    reportRefusedReplies()
    decisions.tokens.answered(answer, to: token, at: uptime)
    return answer
  }

  // MARK: Notices

  /// Sends the states of orders that the backend has not acknowledged: cancelled, deferred, made on this device. They
  /// are pending in the file.
  func sendNotices() {
    guard decisions.notices.wanted(at: noticeMoment(isAwake: isAwake)) else { return }
    do throws(SyncError) {
      let pending = try withFile { (file) throws(QueueError) in
        try file.journal.withNotice(limit: .max).map(\.order.number)
      }
      guard decisions.notices.begin(notices: pending, questions: try ordersToAskAbout()) else { return }
    } catch {
      return report(error)
    }
    run { engine in await engine.performRound() }
  }

  private func noticeMoment(isAwake: Bool) -> NoticeRound.Moment {
    let pause = open.pair?.machine.retryState.pace.asked
    return NoticeRound.Moment(isAwake: isAwake, pause: pause, now: configuration.now())
  }

  private func performRound() async {
    while true {
      do throws(SyncError) {
        let isAwake = isAwake && !Task.isCancelled
        switch decisions.notices.next(at: noticeMoment(isAwake: isAwake)) {
        case .publish(let number):
          decisions.notices.published(isReachable: try await publishNotice(of: number))
        case .findQuestions: decisions.notices.found(questions: try ordersToAskAbout())
        case .ask(let number): try await ask(about: number)
        case .end(let isWanted):
          if isWanted { sendNotices() }
          return
        }
      } catch {
        decisions.notices.failed()
        // Nothing depends on the answer to a question: a screen stops waiting by itself.
        if case .signInNeeded = error { continue }
        report(error)
      }
    }
  }

  /// Orders that wait for an approval, and whose time is over, or may be: the store reports no refusal.
  private func ordersToAskAbout() throws(SyncError) -> [String] {
    let now = configuration.now()
    return try withFile { (file) throws(QueueError) in try file.ordersToAskAbout(now: now).map(\.number) }
  }

  private func ask(about number: String) async throws(SyncError) {
    let row = try withFile { (file) throws(QueueError) in try file.journal.row(number: number) }
    guard let account = row?.order.account,
      let document = try await requestOrder(number, account: account), !isShutDown, open.isOpen
    else { return }
    let refused = try withFile { (file) throws(QueueError) in try file.take([document], account: account) }
    for reason in refused { emit(.backendFault(reason: reason)) }
  }

  /// How many orders the backend has not acknowledged, 100 at most.
  package func pendingNotices() throws(SyncError) -> Int {
    try withFile { (file) throws(QueueError) in try file.journal.withNotice(limit: 100).count }
  }

  /// False if the backend cannot be reached: the others have to wait, too.
  private func publishNotice(of number: String, isRepeated: Bool = false) async throws(SyncError) -> Bool {
    let pending = try withFile { (file) throws(QueueError) in try file.journal.row(number: number) }
    guard let row = pending, let state = row.notice else { return true }
    let account = row.order.account
    guard decisions.notices.isOpen(to: account) else { return true }
    guard case .token(let token) = await credential(of: account) else {
      decisions.notices.lacksToken(account)
      return true
    }
    guard isAwake, !Task.isCancelled, try !isPaused() else { return false }
    let made = try withFile { (file) throws(QueueError) in try file.deviceOrder(number) }
    guard let notice = OrderNotice(state, of: number, made) else {
      try withFile { (file) throws(QueueError) in try file.acknowledged(state, of: number) }
      return true
    }
    let answer = await answered(.order(made == nil ? number + " " + state.rawValue : number), with: token) {
      await $0.publish(notice, of: $1)
    }
    guard !isShutDown, open.isOpen else { return false }
    let end = NoticeRound.End(of: number, isMadeHere: made != nil, answer)
    if let event = end.event { emit(event) }
    if end.isRefused {
      guard isRepeated else { return try await publishNotice(of: number, isRepeated: true) }
      decisions.notices.lacksToken(account)
    }
    guard end.isAcknowledged else { return end.isReachable }
    try withFile { (file) throws(QueueError) in try file.acknowledged(state, of: number, end.document) }
    return true
  }
}
