import PurchaseSQLite

/// The work that no caller waits for.
extension DurableQueue {
  /// Notes a call: the next pause begins after it.
  func noteUse() {
    uses += 1
    guard !isWaitingForPause else { return }
    isWaitingForPause = true
    Task { [weak self] in await self?.workInPause() }
  }

  /// Waits until the queue has not been used for a while. Then maintains the file and closes it, because an open file
  /// has locks of SQLite, and a system may end an app that is suspended with them. The next call opens it again.
  private func workInPause() async {
    var isDone = false
    while !isDone, !isClosing {
      await pauseInUse()
      guard !isClosing else { break }
      do throws(QueueError) {
        isDone = try session.maintain()
      } catch {
        setup.diagnostics?(Diagnostic(.maintenance, setup.path, error))
        isDone = true
      }
    }
    isWaitingForPause = false
    if !isClosing { session.drop() }
  }

  private func pauseInUse() async {
    var seen = -1
    while seen != uses, !isClosing {
      seen = uses
      let milliseconds = min(max(pause.wholeMilliseconds, 0), Self.longestPause)
      do {
        try await Task.sleep(nanoseconds: UInt64(milliseconds) * 1_000_000)
      } catch {
        break  // No code cancels this task. If it is cancelled, the work may as well be done now.
      }
    }
  }

  /// A day, in milliseconds.
  private static var longestPause: Int64 { 86_400_000 }

  /// Reads every value once after the opening, and isolates damaged rows. `close` ends it early.
  func checkInBackground() async {
    defer { isChecking = false }
    do throws(QueueError) {
      let report = try await QueueSession.check(setup, until: check).get()
      guard !report.isClean, !isClosing else { return }
      try session.run { (file, _) throws(QueueError) in try file.isolate(report) }
      guard !report.pages.isEmpty else { return }
      // Damaged pages need a salvage, which the next opening does.
      try session.open()
    } catch {
      if !check.isStopped { setup.diagnostics?(Diagnostic(.backgroundCheck, setup.path, error)) }
    }
  }
}
