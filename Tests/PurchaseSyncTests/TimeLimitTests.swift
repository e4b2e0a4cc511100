import PurchaseSync
import Testing

/// No test here waits: a limit is nought, or far beyond the end of the test.
@Suite(.timeLimit(.minutes(4))) struct TimeLimitTests {
  private static let years: Int64 = 100_000_000_000

  /// Ends by being forgotten: as a system call that ignores its cancellation does.
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

  @Test func `what ignores its cancellation is left behind`() async {
    #expect(await TimeLimit.answer(withinMilliseconds: 0) { await Self.silence() } == nil)
  }

  @Test func `a caller that is cancelled does not wait`() async {
    let task = Task { await TimeLimit.answer(withinMilliseconds: Self.years) { await Self.silence() } }
    task.cancel()
    #expect(await task.value == nil)
  }
}
