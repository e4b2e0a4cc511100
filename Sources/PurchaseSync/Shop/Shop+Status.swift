import PurchaseQueue

/// The status for a screen.
extension Shop {
  /// The status now: one look.
  public func status() async -> ShopStatus {
    if engine == nil, !isSuspended {
      do throws(SyncError) {
        _ = try await opened()
      } catch {
        feed.fileProblem = error
      }
    }
    return await newStatus() ?? feed.lastPublished ?? ShopStatus(problem: feed.fileProblem)
  }

  /// The status now, and each one that differs from the one before. A reader that is slow gets the newest.
  public func statuses() -> AsyncStream<ShopStatus> {
    let (statuses, watcher) = AsyncStream.makeStream(
      of: ShopStatus.self, bufferingPolicy: .bufferingNewest(1))
    guard !isClosed else {
      watcher.finish()
      return statuses
    }
    let number = feed.add(watcher)
    watcher.onTermination = { [weak self] _ in Task { await self?.unwatch(number) } }
    if let status = feed.lastPublished { watcher.yield(status) }
    changed()
    return statuses
  }

  private func unwatch(_ number: Int) { feed.remove(number) }

  /// Looks for outcomes that another process of this installation has brought, such as an extension: ten seconds after the
  /// last event in front, and then after pauses that double up to an hour.
  func peekAgain(after pause: Duration = .seconds(10)) {
    tasks[.peek] = nil
    guard !isClosed, !isSuspended else { return }
    wait(.peek, until: configuration.system.uptime().advanced(by: pause)) { await $0.peek(after: pause) }
  }

  private func peek(after pause: Duration) async {
    guard !isClosed, let engine else { return }
    await engine.lookForOutcomes()
    peekAgain(after: min(pause * 2, .seconds(3_600)))
  }

  /// Looks at the engine, if a reader wants to know. Many changes in a row are one look.
  func changed() {
    guard !isClosed, feed.changed() else { return }
    listen { [weak self] in await self?.look() }
  }

  private func look() async {
    while true {
      let (status, looksAgain) = feed.looked(await newStatus())
      if let status { for reader in feed.allReaders { reader.yield(status) } }
      guard looksAgain, !isClosed else { return }
    }
  }

  /// Nil while the file is being opened, and in the background.
  private func newStatus() async -> ShopStatus? {
    guard !isSuspended else { return nil }
    var status: ShopStatus?
    if let engine {
      do throws(SyncError) {
        status = ShopStatus(
          try await engine.snapshot(), try await engine.orders(), guests: try await engine.guestApprovals(),
          now: configuration.now())
        feed.fileProblem = nil
      } catch {
        feed.fileProblem = error
      }
    } else if feed.fileProblem == nil {
      return nil
    }
    return feed.status(status, fulfilmentProblem: line.problem, late: lateFulfilments() + sales.lateSheets)
  }

  private func lateFulfilments() -> [LateCall] {
    let (uptime, now) = (configuration.system.uptime(), configuration.now())
    return line.late(at: uptime).map { call in
      let age = call.since.duration(to: uptime).wholeMilliseconds
      return LateCall(.fulfil, about: call.key.rawValue, since: now.adding(milliseconds: -age).date)
    }
  }
}
