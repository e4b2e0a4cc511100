import PurchaseQueue

/// What the engine tells, and what the app does with it.
extension Shop {
  func heard(_ event: SyncEvent) async {
    if let outcome = event.outcome { await settle(outcome) }
    answer(desk.heard(event))
    changed()
  }

  /// Calls `fulfil` for an outcome, and confirms it. If either fails, the outcome comes again.
  private func settle(_ outcome: Outcome) async {
    guard let engine, inHand.insert(outcome.name).inserted else { return }
    defer { inHand.remove(outcome.name) }
    if unconfirmed[outcome.name] != outcome.mark {
      do {
        try await fulfil(outcome)
        fulfilmentProblem = nil
      } catch {
        fulfilmentProblem = "\(error)"
        return
      }
    }
    unconfirmed[outcome.name] = outcome.mark
    answer(desk.fulfilled(outcome))
    if outcome.isFulfilled { for number in restores.keys { restores[number]?.append(outcome) } }
    do throws(SyncError) {
      try await engine.confirm(outcome)
      unconfirmed[outcome.name] = nil
      // The confirmation has opened the file again.
      if isSuspended { await engine.suspend(within: 0) }
    } catch {
      problem = error
    }
  }

  /// Outcomes whose `fulfil` or confirmation has failed come again.
  func tellAgain() async throws(SyncError) {
    guard let engine else { return }
    for outcome in try await engine.snapshot().outcomes { await settle(outcome) }
    changed()
  }

  // MARK: The status

  /// The status now, and each one that differs from the one before. A reader that is slow gets the newest.
  public func statuses() -> AsyncStream<ShopStatus> {
    let (statuses, watcher) = AsyncStream.makeStream(
      of: ShopStatus.self, bufferingPolicy: .bufferingNewest(1))
    guard !isClosed else {
      watcher.finish()
      return statuses
    }
    let number = nextWatcher
    nextWatcher += 1
    watchers[number] = watcher
    watcher.onTermination = { [weak self] _ in Task { await self?.unwatch(number) } }
    if let told { watcher.yield(told) }
    changed()
    return statuses
  }

  private func unwatch(_ number: Int) { watchers[number] = nil }

  /// Looks at the engine, if a reader wants to know. Many changes in a row are one look.
  func changed() {
    hasChanged = true
    guard !isLooking, !watchers.isEmpty else { return }
    isLooking = true
    listen { [weak self] in await self?.look() }
  }

  private func look() async {
    while hasChanged, !isClosed, !watchers.isEmpty {
      hasChanged = false
      guard let next = await newStatus(), next != told else { continue }
      told = next
      for watcher in watchers.values { watcher.yield(next) }
    }
    isLooking = false
  }

  /// Nil while the file is being opened, and in the background.
  private func newStatus() async -> ShopStatus? {
    guard !isSuspended else { return nil }
    guard let engine else {
      return problem.map { ShopStatus(problem: $0, fulfilmentProblem: fulfilmentProblem) }
    }
    var next = told ?? ShopStatus()
    do throws(SyncError) {
      next = ShopStatus(try await engine.snapshot(), try await engine.orders())
      problem = nil
    } catch {
      problem = error
    }
    (next.problem, next.fulfilmentProblem) = (problem, fulfilmentProblem)
    return next
  }
}
