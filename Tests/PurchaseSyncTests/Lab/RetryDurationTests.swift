import PurchaseQueue
import PurchaseSync
import Testing

@Suite struct RetryDurationTests {
  @Test(
    arguments: [
      (Duration.zero, 0), (.seconds(2), 2_000), (.milliseconds(1), 1), (.microseconds(1_999), 1),
      (.microseconds(-1_999), -1), (.milliseconds(-5), -5), (.milliseconds(Int64.max), .max),
      (.milliseconds(Int64.min), .min), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
    ] as [(Duration, Int64)])
  func `a duration becomes whole milliseconds, and never overflows`(duration: Duration, expected: Int64) {
    #expect(duration.wholeMilliseconds == expected)
  }

  @Test(
    arguments: [
      \RetryPolicy.base, \.ceiling, \.horizon, \.wakeJitter, \.budgetWindow, \.pace, \.unknownFor,
      \.quarantineAfter, \.quarantineRetry,
    ] as [any WritableKeyPath<RetryPolicy, Duration> & Sendable])
  func `a time of the policy keeps the value that was set`(
    time: any WritableKeyPath<RetryPolicy, Duration> & Sendable
  ) {
    var policy = RetryPolicy()
    #expect(policy[keyPath: time] > .zero)
    policy[keyPath: time] = .milliseconds(1_234)
    #expect(policy[keyPath: time] == .milliseconds(1_234))
    #expect(policy != RetryPolicy())
  }

  @Test func `the documented times`() {
    let policy = RetryPolicy()
    #expect(policy.base == .seconds(2) && policy.ceiling == .seconds(1_200))
    #expect(policy.horizon == .seconds(86_400) && policy.wakeJitter == .seconds(5))
    #expect(policy.budgetWindow == .seconds(3_600) && policy.pace == .seconds(1))
    #expect(policy.unknownFor == .seconds(600) && policy.quarantineAfter == .seconds(86_400))
    #expect(policy.quarantineRetry == .seconds(86_400))
  }
}
