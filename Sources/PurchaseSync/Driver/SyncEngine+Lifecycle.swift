import PurchaseQueue

/// The app comes, goes, and ends.
extension SyncEngine {
  /// Waiting lanes are looked at before their time, and the store is asked again. Call it with `.foreground` each time
  /// the app becomes active, and with `.signedIn` whenever an account has credentials, new or again.
  public func wake(_ reason: WakeReason = .foreground) throws(SyncError) {
    if reason == .foreground {
      isParked = false
      foregrounds += 1
    }
    perform(try step { (machine, now) throws(QueueError) in machine.woken(reason, now: now) })
    listStore()
  }

  /// The app goes to the background: nothing new is sent, what is out gets so many seconds to be answered and is then
  /// cancelled, and no lock is held when this returns. `wake(.foreground)` goes on; if it comes meanwhile, what is out
  /// is left alone.
  ///
  /// What ignores its cancellation (a call of the store, the app's own credentials or transport) is left behind.
  public func park(within seconds: Double = 4) async {
    guard !isShutDown else { return }
    isParked = true
    opened?.machine.parked()
    stopTimer()
    // After a foreground, and another background, what is out has the time of that one.
    let visit = foregrounds
    let surroundings = configuration.surroundings
    // A number that is none waits for nothing.
    let deadline = surroundings.uptime().advanced(by: .seconds(seconds > 0 ? min(seconds, 3_600) : 0))
    while isParked, visit == foregrounds, !work.isEmpty, surroundings.uptime() < deadline {
      do {
        try await surroundings.sleep(10)
      } catch {
        break
      }
    }
    // What ends may begin something else; a foreground that comes meanwhile ends this.
    while isParked, visit == foregrounds, let next = underWay.first {
      for task in underWay { task.cancel() }
      await next.value
    }
    if isParked, visit == foregrounds { maintain() }
  }

  /// Oldest first: one run is to follow from one seed.
  private var underWay: [Task<Void, Never>] { work.keys.sorted().compactMap { work[$0] } }

  /// Ends timers and requests, waits until they have ended, and closes the file: when this returns, another engine can
  /// open it. What is queued stays queued.
  ///
  /// What ignores its cancellation (a call of the store, the app's own credentials or transport) is left behind.
  public func shutdown() async {
    isShutDown = true
    stopTimer()
    while let next = underWay.first {
      for task in underWay { task.cancel() }
      await next.value
    }
    await endCalls()
    guard opened != nil else { return events.finish() }
    releaseRequests()
    maintain()
    events.finish()
    opened = nil
  }
}
