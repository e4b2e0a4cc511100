import PurchaseSQLite

/// Limits the time for an answer that may never come: calls of the store fail and hang.
package struct TimeLimit: Sendable {
  /// How long it may take.
  package var milliseconds: Int64
  /// Waits so long.
  package var patience: @Sendable (Int64) async throws -> Void
  /// Notes the call while it is late; nil notes nothing.
  var watch: LateCallWatch?

  package init(
    milliseconds: Int64,
    patience: @escaping @Sendable (Int64) async throws -> Void = SystemDependencies.live.patience
  ) {
    self.milliseconds = milliseconds
    self.patience = patience
  }

  /// A century. In nanoseconds it still fits in 64 bits.
  static var longest: Int64 { 36_500 * 86_400_000 }

  /// As `answer(of:)`, by the system's clock.
  package static func answer<Answer: Sendable>(
    withinMilliseconds limit: Int64, of work: @escaping @Sendable () async throws -> Answer?
  ) async -> Answer? {
    await TimeLimit(milliseconds: limit).answer(of: work)
  }

  /// The answer, or nil if that throws or takes longer, or if the caller is cancelled.
  ///
  /// Work that is still under way is cancelled and left behind: unlike a task group, this does not wait for work that
  /// ignores its cancellation.
  package func answer<Answer: Sendable>(
    of work: @escaping @Sendable () async throws -> Answer?
  ) async -> Answer? {
    let (patience, limit) = (self.patience, min(max(0, milliseconds), Self.longest))
    let watch = self.watch
    let began = watch?.now()
    let (answers, first) = AsyncStream.makeStream(of: Answer?.self, bufferingPolicy: .bufferingOldest(1))
    // The row of a late call is written before the call ends, or not at all.
    let hasEnded = Locked(false)
    let working = Task {
      // The caller may have been cancelled before this began: then ask nothing, least of all after `shutdown`.
      guard !Task.isCancelled else { return first.finish() }
      let answer: Answer?
      do {
        answer = try await work()
      } catch {
        answer = nil
      }
      hasEnded.withLock {
        $0 = true
        // What throws because it is cancelled has not returned.
        if answer != nil || !Task.isCancelled { watch?.returned() }
      }
      first.yield(answer)
    }
    let timer = Task {
      do {
        try await patience(limit)
      } catch {
        return  // The answer came first, or the caller was cancelled.
      }
      hasEnded.withLock { if !$0, let began { watch?.isLate(since: began) } }
      first.yield(nil)
    }
    defer {
      working.cancel()
      timer.cancel()
    }
    return await withTaskCancellationHandler {
      for await answer in answers { return answer }
      return nil
    } onCancel: {
      // At once, and so through each limit inside this one. If every limit first had to run to cancel the next one, a
      // request of the innermost could begin after `shutdown` has returned.
      working.cancel()
      timer.cancel()
    }
  }
}
