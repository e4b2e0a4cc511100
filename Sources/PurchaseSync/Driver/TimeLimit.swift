/// An answer that may never come: of the store, whose calls fail and hang.
package enum TimeLimit {
  /// A century: in nanoseconds it is a number still.
  private static var longest: Int64 { 36_500 * 86_400_000 }

  /// The answer, or nil if that throws or takes longer, or if the caller is cancelled.
  ///
  /// What is still under way is cancelled and left behind: unlike a task group, this does not wait for work that
  /// ignores its cancellation.
  package static func answer<Answer: Sendable>(
    withinMilliseconds limit: Int64, of work: @escaping @Sendable () async throws -> Answer?
  ) async -> Answer? {
    let (answers, first) = AsyncStream.makeStream(of: Answer?.self, bufferingPolicy: .bufferingOldest(1))
    let working = Task {
      do {
        first.yield(try await work())
      } catch {
        first.yield(nil)
      }
    }
    let timer = Task {
      do {
        try await Task.sleep(nanoseconds: UInt64(min(max(0, limit), longest)) * 1_000_000)
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
