import PurchaseQueue

/// The status for a screen.
extension Shop {
  /// The status now: one look.
  public func status() async -> ShopStatus {
    if engine == nil, !isSuspended {
      do throws(SyncError) {
        _ = try await opened()
      } catch {
        problem = error
      }
    }
    return await newStatus() ?? told ?? ShopStatus(problem: problem)
  }

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

  /// Looks for outcomes that another process of this installation has brought, such as an extension: ten seconds after the
  /// last event in front, and then after pauses that double up to an hour.
  func peekAgain(after pause: Duration = .seconds(10)) {
    peeking?.cancel()
    guard !isClosed, !isSuspended else { return }
    let sleep = configuration.system.sleep
    peeking = Task { [weak self] in
      do {
        try await sleep(pause.wholeMilliseconds)
      } catch {
        return  // An event came, or the app left.
      }
      guard let self else { return }
      await self.peek(after: pause)
    }
  }

  private func peek(after pause: Duration) async {
    guard !isClosed, let engine else { return }
    await engine.lookForOutcomes()
    peekAgain(after: min(pause * 2, .seconds(3_600)))
  }

  private func unwatch(_ number: Int) { watchers[number] = nil }

  /// Looks at the engine, if a reader wants to know. Many changes in a row are one look.
  func changed() {
    hasChanged = true
    guard !isLooking, !isClosed, !watchers.isEmpty else { return }
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
    var next = told ?? ShopStatus()
    if let engine {
      do throws(SyncError) {
        next = ShopStatus(
          try await engine.snapshot(), try await engine.orders(), guests: try await engine.guestApprovals(),
          now: configuration.now())
        problem = nil
      } catch {
        problem = error
      }
    } else if problem == nil {
      return nil
    }
    let late = lateFulfilments()
    let sheets = selling.values.compactMap(\.lateSheet)
    next.problem = problem ?? confirmationProblem
    next.fulfilmentProblem =
      fulfilments.problem ?? late.first.map { "fulfil has not returned for \($0.subject)" }
    let others = next.lateCalls.filter { $0.callback != .fulfil && $0.callback != .sheet }
    next.lateCalls = (late + sheets).sorted { ($0.since, $0.subject) < ($1.since, $1.subject) } + others
    return next
  }

  private func lateFulfilments() -> [LateCall] {
    let (uptime, now) = (configuration.system.uptime(), configuration.now())
    return fulfilments.late(at: uptime).map { call in
      let age = call.since.duration(to: uptime).wholeMilliseconds
      return LateCall(.fulfil, about: call.key.rawValue, since: now.adding(milliseconds: -age).date)
    }
  }
}
