import PurchaseSQLite

/// How long the callers of an asynchronous queue wait for another process, and by which clock.
package struct Patience: Sendable {
  /// The time-out of one call, in milliseconds.
  package var milliseconds: Int64 = 5_000
  /// Milliseconds of a clock that never jumps.
  package var now: @Sendable () -> Int64 = { SystemClock.monotonicMilliseconds() }
  /// Waits so many microseconds without holding a thread.
  package var pause: @Sendable (Int) async -> Void = { await Patience.sleep(microseconds: $0) }

  package init() {}

  /// The moment when a call that begins now has waited long enough.
  func deadline() -> Int64 {
    let (sum, isTooLate) = now().addingReportingOverflow(milliseconds)
    return isTooLate ? .max : sum
  }

  private static func sleep(microseconds: Int) async {
    do {
      try await Task.sleep(nanoseconds: UInt64(max(microseconds, 0)) * 1_000)
    } catch {
      // A cancelled task does not sleep. Its call is carried out all the same, so it lets other tasks run.
      await Task.yield()
    }
  }
}
