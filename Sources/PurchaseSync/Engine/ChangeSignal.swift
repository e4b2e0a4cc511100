import PurchaseQueue
import PurchaseSQLite

/// Resumes the tasks that wait for a change of some state. Nothing is asked again and again.
final class ChangeSignal: Sendable {
  typealias Instant = ContinuousClock.Instant

  private let waiting = Locked<[AsyncStream<Never>.Continuation]>([])

  /// Something has changed: all that wait look again.
  func send() {
    let all = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for one in all { one.finish() }
  }

  /// Waits while something is under way, which is asked about at each change. False if it is still under way at the
  /// deadline, or if the caller is cancelled.
  static func wait(
    for signals: [ChangeSignal], before deadline: Instant, _ system: SystemDependencies,
    while isUnderWay: () async -> Bool
  ) async -> Bool {
    while true {
      // Before the question: a change that comes in between counts.
      let (changes, change) = AsyncStream.makeStream(of: Never.self)
      for signal in signals { signal.waiting.withLock { $0.append(change) } }
      defer { change.finish() }
      guard await isUnderWay() else { return true }
      guard !Task.isCancelled, system.uptime() < deadline else { return false }
      let timer = Task {
        do {
          try await system.wait(until: deadline)
        } catch {
          return  // The change came first.
        }
        change.finish()
      }
      defer { timer.cancel() }
      for await _ in changes {}
    }
  }
}

extension SystemDependencies {
  /// Returns at this moment of the monotonic clock; throws when the task is cancelled.
  func wait(until moment: ContinuousClock.Instant) async throws {
    while case let left = uptime().duration(to: moment), left > .zero {
      try await patience(min(max(1, left.wholeMilliseconds), TimeLimit.longest))
    }
  }
}
