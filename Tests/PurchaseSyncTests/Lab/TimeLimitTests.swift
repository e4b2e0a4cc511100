import PurchaseSQLite
import Testing

@testable import PurchaseSync

/// No test here waits: each limit is zero, or far beyond the end of the test.
@Suite struct TimeLimitTests {
  private static let years: Int64 = 100_000_000_000

  /// Never returns, like a system call that ignores its cancellation.
  private static func silence() async -> Int? {
    let (stream, held) = AsyncStream.makeStream(of: Int.self)
    return await Task.detached {
      defer { held.finish() }
      for await number in stream { return number }
      return nil
    }.value
  }

  @Test func `an answer comes back`() async {
    #expect(await TimeLimit.answer(withinMilliseconds: Self.years) { 7 } == 7)
  }

  @Test func `no answer is an answer`() async {
    #expect(await TimeLimit.answer(withinMilliseconds: Self.years) { Int?.none } == nil)
  }

  @Test func `a call that ignores its cancellation is not waited for`() async {
    #expect(await TimeLimit.answer(withinMilliseconds: 0) { await Self.silence() } == nil)
  }

  @Test func `a caller that is cancelled does not wait`() async {
    let task = Task { await TimeLimit.answer(withinMilliseconds: Self.years) { await Self.silence() } }
    task.cancel()
    #expect(await task.value == nil)
  }

  @Test(arguments: [Int64.max, .max / 1_000_000, 36_500 * 86_400_000 + 1] as [Int64])
  func `no limit is too long to be counted`(limit: Int64) async {
    #expect(await TimeLimit.answer(withinMilliseconds: limit) { 7 } == 7)
  }

  @Test func `a cancellation reaches the work within two limits before another task runs`() async {
    let (began, begins) = AsyncStream.makeStream(of: Void.self)
    let isCancelled = Locked(false)
    let task = Task {
      await TimeLimit.answer(withinMilliseconds: Self.years) {
        await TimeLimit.answer(withinMilliseconds: Self.years) {
          await withTaskCancellationHandler {
            begins.finish()
            return await Self.silence()
          } onCancel: {
            isCancelled.withLock { $0 = true }
          }
        }
      }
    }
    for await _ in began {}
    task.cancel()
    #expect(isCancelled.withLock { $0 })
  }

  // MARK: The row of a late call

  @Test(arguments: [false, true])
  func `a late call has a row until it returns, and no longer`(isCancelled: Bool) async {
    let calls = LateCalls()
    let (held, answer) = AsyncStream.makeStream(of: Int.self)
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    var limit = TimeLimit(milliseconds: 0)
    limit.watch = LateCallWatch(calls: calls, callback: .store, subject: "receipt", now: { .distantFuture })
    let late: Int? = await limit.answer {
      defer { end.finish() }
      let number = await Task.detached { () -> Int? in
        for await number in held { return number }
        return nil
      }.value
      if isCancelled { try Task.checkCancellation() }
      return number
    }
    #expect(late == nil)
    #expect(calls.rows.map(\.subject) == ["receipt"])
    answer.yield(7)
    for await _ in ended {}
    // A call that throws because it was left behind has not returned.
    await Self.yield(isCancelled ? 1_000 : 1_000_000) { calls.rows.isEmpty }
    #expect(calls.rows.isEmpty == !isCancelled)
  }

  private static func yield(_ turns: Int = 1_000_000, until isSo: () -> Bool) async {
    for _ in 0..<turns where !isSo() { await Task.yield() }
  }

  // MARK: A transport

  /// The behaviour of an app's own transport.
  private struct Careless: BackendTransport {
    var error: TransportError?

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      if let error { throw error }
      _ = await TimeLimitTests.silence()
      throw TransportError(reason: "never")
    }
  }

  private func failure(_ error: TransportError? = nil, within limit: Int64) async -> TransportError? {
    do throws(TransportError) {
      _ = try await BoundedTransport(transport: Careless(error: error), milliseconds: limit).send(.upload())
      return nil
    } catch {
      return error
    }
  }

  @Test func `a transport that never answers counts as failed after its time limit`() async {
    #expect(await failure(within: 0)?.kind == .timedOut)
  }

  @Test func `a transport that ignores its cancellation is not waited for`() async {
    let task = Task { await failure(within: Self.years) }
    task.cancel()
    #expect(await task.value?.kind == .cancelled)
  }

  @Test func `a transport that cancels by itself counts as failed, not as cancelled`() async {
    let error = TransportError(.cancelled, reason: "the session is gone")
    #expect(await failure(error, within: Self.years)?.kind == .noAnswer)
    let other = TransportError(.tooLong, reason: "a page")
    #expect(await failure(other, within: Self.years) == other)
  }
}
