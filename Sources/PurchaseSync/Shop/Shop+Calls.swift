public import Foundation
import PurchaseQueue
import PurchaseSQLite

/// What the app tells the shop, and what its user asks for.
extension Shop {
  /// This account uses the app now; nil if it has signed out. What waits for its credentials is tried again. Call it at
  /// each launch, and whenever it changes. Not needed if the configuration has `currentAccount`.
  public func signedIn(as account: String?) async throws(SyncError) {
    current.withLock { $0 = account }
    let engine = try await opened()
    if let account { try await engine.wake(.signedIn(account: account)) }
    try await tellAgain()
  }

  /// Tries everything again that waits: the user asked for it.
  public func retryNow() async throws(SyncError) {
    let engine = try await opened()
    try await engine.wake(.userAsked)
    try await tellAgain()
  }

  /// Restores the purchases of the store account for the account that uses the app. **Only when the user asked for it**:
  /// the store may ask for a password. Returns when nothing is under way any more, or after the time of `waiting`: then the
  /// rest comes to `fulfil` later.
  ///
  /// - Returns: What the account has now, of what came meanwhile. Empty: nothing new was found.
  @discardableResult
  public func restore(for account: String) async throws(SyncError) -> [Outcome] {
    let engine = try await opened()
    try await signedIn(as: account)
    let number = nextRestore
    nextRestore += 1
    restores[number] = []
    defer { restores[number] = nil }
    try await engine.refreshReceipt()
    let system = configuration.system
    let limit = TimeLimit(milliseconds: waiting.wholeMilliseconds, patience: system.patience)
    _ = await limit.answer { () async throws -> Bool? in
      // No event tells that nothing is left to do.
      while await !self.isIdle(engine) { try await system.sleep(50) }
      return true
    }
    return restores[number] ?? []
  }

  /// Whether nothing is under way that could end without the user.
  private func isIdle(_ engine: SyncEngine) async -> Bool {
    do throws(SyncError) {
      let state = try await engine.snapshot()
      let signedOut = Set(state.lanes.filter { $0.state == .signInNeeded }.map(\.lane))
      let waits = state.purchases.contains { $0.problem == nil && !signedOut.contains($0.lane) }
      return !waits && state.outcomes.isEmpty && !state.isStoreHoldingMore
    } catch {
      problem = error
      return false
    }
  }

  /// Works until the moment, or until nothing can be done before it: in a background task of the system, with less time
  /// than the system allows. Returns true if nothing is left that could have been done.
  @discardableResult
  public func drain(until moment: Date) async throws(SyncError) -> Bool {
    let engine = try await opened()
    let isDone = try await engine.work(forSeconds: moment.timeIntervalSince(configuration.now().date))
    try await tellAgain()
    if !isForeground { await suspend() }
    return isDone
  }

  /// The app goes to the background: requests in flight get some seconds for their answers, then the file is closed.
  /// Only with ``Lifecycle/explicit``.
  public func suspend() async {
    (isSuspended, isForeground) = (true, false)
    await engine?.suspend()
  }

  /// The app is in the foreground. Only with ``Lifecycle/explicit``.
  public func resume() async throws(SyncError) {
    (isSuspended, isForeground) = (false, true)
    let engine = try await opened()
    try await engine.wake(.foreground)
    try await tellAgain()
  }

  /// As `resume()`. A failure is in the status.
  func resumeIfOpen() async {
    do throws(SyncError) {
      try await resume()
    } catch {
      problem = error
      changed()
    }
  }

  /// The engine, for everything that the shop has no call for: case files, adoptions, discarding.
  public func syncEngine() async throws(SyncError) -> SyncEngine { try await opened() }
}
