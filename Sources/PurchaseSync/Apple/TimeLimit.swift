/// An answer that is nice to have, but not worth waiting for without end.
package enum TimeLimit {
  /// The answer, or nil if it takes longer than that, or if the caller is cancelled.
  ///
  /// What is still under way is cancelled and left behind: unlike a task group, this does not wait for work that
  /// ignores its cancellation.
  package static func answer<Answer: Sendable>(
    withinMilliseconds limit: Int64, of work: @escaping @Sendable () async -> Answer?
  ) async -> Answer? {
    let (answers, first) = AsyncStream.makeStream(of: Answer?.self, bufferingPolicy: .bufferingOldest(1))
    let working = Task {
      first.yield(await work())
    }
    let timer = Task {
      do {
        try await Task.sleep(nanoseconds: UInt64(max(0, limit)) * 1_000_000)
      } catch {
        return  // The answer came first, or nobody waits any more.
      }
      first.yield(nil)
    }
    defer {
      working.cancel()
      timer.cancel()
    }
    for await answer in answers { return answer }
    return nil
  }
}
