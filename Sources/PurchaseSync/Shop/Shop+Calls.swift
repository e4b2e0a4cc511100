public import Foundation
import PurchaseQueue
import PurchaseSQLite

/// What the app reports to the shop, and what its user asks for.
extension Shop {
  /// This account uses the app now; nil if it has signed out. What waits for its credentials is tried again. Call it at
  /// each launch, and whenever it changes. With `currentAccount` in the configuration it is not needed at launch, but still
  /// after each sign-in.
  ///
  /// `adoptingGuest`: the account takes over what was bought on this device for no account, by a guest or outside of the app.
  /// Say so when it is known that this person has bought: the app has asked, or the person signs in to keep the purchase.
  /// **By default no account gets it**: on a shared device, the next who signs in may be another person. It is durable, and
  /// sent until the backend has accepted it.
  public func signedIn(as account: String?, adoptingGuest: Bool = false) async throws(SyncError) {
    parts.account.withLock { $0 = account }
    let engine = try await opened()
    if await engine.isSuspended { try await comeToFront(engine) }
    if let account {
      if adoptingGuest { try await engine.adoptDevicePurchases(for: account) }
      try await engine.wake(.signedIn(account: account))
    }
    try await readOutcomes()
  }

  /// Tries everything again that waits, and once what the backend has rejected: the user asked for it. Nothing is tried
  /// before the `Retry-After` of the backend is over.
  public func retryNow() async throws(SyncError) {
    let engine = try await openedByPerson()
    try await engine.wake(.userAsked)
    try await readOutcomes()
  }

  /// Restores the purchases of the store account for the account that uses the app. **Only when the user asked for it**:
  /// the store may ask for a password. Returns when the store has answered and nothing is under way any more, or after the
  /// time of `waiting` from the store's answer: then the rest comes to `fulfil` later. Called from within `fulfil`, it
  /// waits for the store only.
  ///
  /// - Returns: What the account has now, of what came during the call. Empty: nothing new was found.
  @discardableResult
  public func restore(for account: String) async throws(SyncError) -> [Outcome] {
    let engine = try await openedByPerson()
    try await signedIn(as: account)
    let restore = line.beginRestore()
    let store: Result<Void, SyncError>
    do throws(SyncError) {
      try await engine.restorePurchases()
      // What the store has is listed once more, also if it gave no receipt.
      try await engine.wake(.userAsked)
      store = .success(())
    } catch {
      store = .failure(error)
    }
    if case .success = store, !isInsideFulfil {
      let deadline = configuration.system.uptime().advanced(by: min(max(.zero, parts.waiting), Self.century))
      _ = await ChangeSignal.wait(for: [changes, engine.changes], before: deadline, configuration.system) {
        await !isIdle(engine)
      }
    }
    let found = line.endRestore(restore)
    try store.get()
    // Another account may have been signed in since.
    return found.map { $0.addressed(to: account) }
      .filter { $0.givesUnits && ($0.lane == .account(account) || $0.lane == .device) }
  }

  /// Whether nothing is under way that could end without the user. In the background nothing goes on.
  private func isIdle(_ engine: SyncEngine) async -> Bool {
    guard !isClosed, !isSuspended else { return true }
    do throws(SyncError) {
      let state = try await engine.snapshot()
      let signedOut = Set(state.lanes.filter { $0.state == .signInNeeded }.map(\.lane))
      let waits = state.purchases.contains { $0.problem == nil && !signedOut.contains($0.lane) }
      // What is another account's stays unconfirmed for that account.
      let isTold = state.outcomes.allSatisfy { line.isConfirmed($0) }
      let isAtRest = await engine.isAtRest
      return !waits && isTold && isAtRest && line.isEmpty && !state.isStoreHoldingMore
    } catch {
      feed.fileProblem = error
      return false
    }
  }

  /// Works until the moment, or until nothing can be done before it: in a background task of the system, with less time
  /// than the system allows. Of two calls at once, the later one begins when the earlier one ends. Returns true if nothing
  /// is left that could have been done, `fulfil` included.
  @discardableResult
  public func drain(until moment: Date) async throws(SyncError) -> Bool {
    let seconds = moment.timeIntervalSince(configuration.now().date)
    // NaN is no time.
    let deadline = configuration.system.uptime().advanced(by: .seconds(seconds > 0 ? min(seconds, 3_600) : 0))
    defer {
      // The app has reported nothing: the system launched it for this task.
      if visit == .unknown, parts.hooks.notifications == nil { visit = .background }
    }
    return try await hasDrained(before: deadline)
  }

  /// A person asks for something: the app is in front, unless the system or the app has said otherwise.
  func openedByPerson() async throws(SyncError) -> SyncEngine {
    let engine = try await opened()
    try await comeToFront(engine)
    return engine
  }

  /// A shop that was made after the app came to the foreground has got no notification of it. After a background task, a
  /// call shows that the app is in front.
  private func comeToFront(_ engine: SyncEngine) async throws(SyncError) {
    guard parts.hooks.notifications != nil, visit == .unknown else { return }
    visit = .foreground
    // The app may have left since.
    if await engine.isSuspended, visit == .foreground { try await engine.wake(.foreground) }
  }

  private func hasDrained(before deadline: ContinuousClock.Instant) async throws(SyncError) -> Bool {
    let engine = try await opened()
    let system = configuration.system
    guard await hasEnded(before: deadline, { isDraining }) else { return false }
    isDraining = true
    defer {
      isDraining = false
      changes.send()
    }
    // In front, the engine works by itself.
    if visit == .foreground { try await engine.wake(.foreground) }
    let left = system.uptime().duration(to: deadline) / .seconds(1)
    let isDone = try await engine.work(forSeconds: left)
    try await readOutcomes()
    guard !isInsideFulfil else { return false }
    _ = await hasEnded(before: deadline) { isFulfilling }
    return isDone && line.isEmpty
  }

  /// Waits until something has ended. False if it has not before the deadline, or if the caller is cancelled.
  private func hasEnded(
    before deadline: ContinuousClock.Instant, _ isUnderWay: () -> Bool
  ) async -> Bool {
    await ChangeSignal.wait(
      for: [changes], before: deadline, configuration.system, while: { isUnderWay() })
  }

  /// Waits two seconds for a `fulfil` that is under way. In it, the caller would wait for itself.
  func endFulfilling() async {
    guard !isInsideFulfil else { return }
    let end = configuration.system.uptime().advanced(by: .seconds(2))
    _ = await hasEnded(before: end) { isFulfilling }
  }

  private static var century: Duration { .milliseconds(TimeLimit.longest) }

  // MARK: The app's visits

  /// The app is in the background.
  var isSuspended: Bool { visit == .background }

  /// The app goes to the background: requests in flight get four seconds for their answers, a `fulfil` that is under way
  /// gets two more, then the file is closed. Only with ``Lifecycle/explicit``.
  public func suspend() async {
    visit = .background
    // A caller that was cancelled does not cut requests off.
    await Task { await self.endVisit() }.value
  }

  /// The app is in the foreground. Only with ``Lifecycle/explicit``.
  public func resume() async throws(SyncError) {
    visit = .foreground
    let engine = try await opened()
    // The app may have left since.
    if visit == .foreground { try await engine.wake(.foreground) }
    try await readOutcomes()
  }

  /// The system reports the foreground or the background. A return does not wait for the end of a visit, and spares its
  /// requests. A failure is in the status.
  func visited(_ isForeground: Bool) {
    visit = isForeground ? .foreground : .background
    listen { [weak self] in
      if isForeground { await self?.beginVisit() } else { await self?.endVisit() }
    }
  }

  private func beginVisit() async {
    do throws(SyncError) {
      let engine = try await opened()
      guard visit == .foreground else { return }
      try await engine.wake(.foreground)
      try await readOutcomes()
    } catch {
      failed(error)
    }
  }

  private func endVisit() async {
    guard isSuspended else { return }
    changes.send()
    await parts.hooks.backgroundTime.run("purchases under way", { await finishRequests() }) { [weak self] in
      await self?.cutShort()
    }
  }

  private func finishRequests() async {
    await endOpening()
    await engine?.suspend()
    if isSuspended { return await endFulfilling() }
    // The app is back, and the engine may know of it since before it was suspended.
    await networkIsBack(.foreground)
  }

  /// The system's time is over. What is in flight is sent again later.
  private func cutShort() async {
    guard isSuspended else { return }
    await engine?.suspend(within: 0)
  }

  /// What waits is tried at once, not at the end of its backoff. A failure is in the status.
  func networkIsBack(_ reason: WakeReason = .networkBack) async {
    guard let engine, !isSuspended, !isClosed else { return }
    do throws(SyncError) {
      try await engine.wake(reason)
    } catch {
      failed(error)
    }
  }

  /// The engine, for everything that the shop has no call for: case files, adoptions, discarding.
  public func syncEngine() async throws(SyncError) -> SyncEngine { try await opened() }
}
