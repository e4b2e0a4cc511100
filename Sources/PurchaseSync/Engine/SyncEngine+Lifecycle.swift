import PurchaseQueue

/// Foreground, background, and the end.
extension SyncEngine {
  /// Waiting lanes are looked at before their time, and the store is asked again. Call it with `.foreground` each time
  /// the app becomes active, and with `.signedIn` whenever an account has credentials, new or again.
  ///
  /// Ten wakes in a row have effect at once, and then one in two seconds; of one account's `.signedIn` three, and then one
  /// in 15 seconds. One that comes sooner has its effect at that moment.
  public func wake(_ reason: WakeReason = .foreground) throws(SyncError) {
    let isBack = reason == .foreground && isSuspended
    if reason == .foreground { decisions.presence.cameToForeground() }
    if case .signedIn(let account) = reason { decisions.tokens.signedIn(account) }
    if decisions.wakes.takes(reason, at: uptime) || isBack || isShutDown {
      try wakeNow(reason)
    } else {
      wakeLater()
    }
    saw(.woken(reason))
    changes.send()
  }

  private func wakeNow(_ reason: WakeReason) throws(SyncError) {
    decisions.presence.callBegins()
    defer { callEnded() }
    decisions.tokens.woken(reason)
    perform(try step { (machine, now) throws(QueueError) in machine.woken(reason, now: now) })
    announceOutcomes()
    listStore()
    sendNotices()
  }

  /// Milliseconds of the monotonic clock since the engine was made.
  var uptime: Int64 { decisions.timer.uptime(at: configuration.system.uptime()) }

  private func wakeLater() {
    guard tasks[.wake] == nil, isAwake, let wait = decisions.wakes.wait(at: uptime) else { return }
    set(.wake, in: max(1, wait)) { $0.wakePending() }
  }

  private func wakePending() {
    ended(.wake)
    guard isAwake else { return }
    for reason in decisions.wakes.due(at: uptime) {
      reporting { () throws(SyncError) in try wakeNow(reason) }
    }
    wakeLater()
    changes.send()
  }

  /// Works in the background for so long, or until nothing can be done before that, and suspends again: for a background
  /// task of the system. Returns true if nothing was left that could be done in time. In an app that has reported a
  /// foreground (``wake(_:)``) and is not suspended, it waits for the same, and the engine goes on.
  ///
  /// Pass less than the system allows: requests in flight then get `grace` seconds more, as in ``suspend(within:)``. A
  /// foreground that comes during the call ends it, and the engine goes on.
  @discardableResult public func work(
    forSeconds seconds: Double, grace: Double = 2
  ) async throws(SyncError) -> Bool {
    let deadline = deadline(after: seconds)
    guard decisions.presence.beginsWork() else { return await hasEnded(before: deadline) { isAwake } }
    let visit = decisions.presence.foregrounds
    do throws(SyncError) {
      perform(try step { (machine, now) throws(QueueError) in machine.woken(.foreground, now: now) })
    } catch {
      await suspend(within: 0)
      throw error
    }
    announceOutcomes()
    listStore()
    let isDone = await hasEnded(before: deadline) { isWorking(since: visit) }
    guard isWorking(since: visit) else { return isDone }
    await suspend(within: isDone ? 0 : grace)
    return isDone
  }

  private func isWorking(since visit: Int) -> Bool {
    visit == decisions.presence.foregrounds && isAwake
  }

  /// Waits until nothing can be done before the deadline. False if something was left at the last look.
  private func hasEnded(before deadline: ContinuousClock.Instant, while isWorking: () -> Bool) async -> Bool {
    var isDone = false
    await wait(before: deadline) {
      guard isWorking() else { return false }
      isDone = isAtRest && decisions.timer.isQuiet(until: deadline)
      return !isDone
    }
    return isDone
  }

  /// NaN waits for nothing.
  private func deadline(after seconds: Double) -> ContinuousClock.Instant {
    configuration.system.uptime().advanced(by: .seconds(seconds > 0 ? min(seconds, 3_600) : 0))
  }

  private func wait(before deadline: ContinuousClock.Instant, while isUnderWay: () -> Bool) async {
    _ = await ChangeSignal.wait(
      for: [changes], before: deadline, configuration.system, while: { isUnderWay() })
  }

  /// The app goes to the background. Nothing new is sent. Requests in flight get this many seconds for their answers and
  /// are then cancelled. When this returns, the file is closed and no lock is held. A later call opens the file and closes
  /// it before it returns. `wake(.foreground)` resumes; if it comes before the end, requests in flight are not cancelled.
  ///
  /// A call that ignores its cancellation (of the store, or the app's own credentials or transport) is left behind.
  public func suspend(within seconds: Double = 4) async {
    guard !isShutDown else { return }
    decisions.presence.leaves()
    decisions.tokens.suspended()
    saw(.suspended)
    inform { $0.suspended() }
    stopTimers()
    changes.send()
    // After a foreground and another background, requests in flight have the time of the latter.
    let visit = decisions.presence.foregrounds
    await wait(before: deadline(after: seconds)) {
      decisions.presence.isSuspended(since: visit) && !tasks.isAtRest
    }
    // A foreground that comes in between ends this wait.
    await endTasks { decisions.presence.isSuspended(since: visit) }
    guard decisions.presence.isSuspended(since: visit), !isShutDown else { return }
    decisions.presence.hasLeft()
    closeFile()
  }

  /// For tests: an open file has locks.
  package var isFileOpen: Bool { open.isOpen }

  /// Whether nothing new is sent: the app is in the background, or on its way there.
  var isSuspended: Bool { decisions.presence.isSuspended }

  /// Whether something new may be sent.
  var isAwake: Bool { !isShutDown && !isSuspended }

  /// Whether no request, listing or finish is under way, and no wake that came too fast is pending. Timers may be set.
  var isAtRest: Bool { tasks.isAtRest && decisions.wakes.wait(at: uptime) == nil }
}
