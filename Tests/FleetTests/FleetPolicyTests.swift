import PurchaseQueue
import PurchaseSync
import Testing

@testable import Fleet

/// Each policy against the rule that it is named after.
@Suite struct FleetPolicyTests {
  @Test func `unpacking gives another retry state than was packed`() {
    let policy = RetryPolicy()
    var random = RandomSource(seed: 7)
    var (packed, lane, state) = (EngineState(), LaneBackoff(), RetryState())
    var now = Timestamp(milliseconds: 1_000)
    for step in 0..<2_000 {
      now = now.adding(milliseconds: Int64(random.below(400_000)))
      switch random.below(4) {
      case 0: lane.failed(now: now, policy: policy, using: &random)
      case 1: lane.woken(now: now, policy: policy, using: &random)
      case 2:
        state.pace.failed(retryAfterMilliseconds: 60_000, now: now, policy: policy, using: &random)
      default:
        if case .send = state.admit(
          lane, for: step.isMultiple(of: 3) ? .person : .retry, now: now, policy: policy)
        {
          if random.below(3) == 0 { state.pace.succeeded(now: now, policy: policy) }
        }
      }
      packed.keep(lane)
      packed.keep(state)
      #expect(packed.lane == lane)
      #expect(packed.retry == state)
    }
  }

  /// The delays after 1, 2, 3 … failures: the narrowest and the widest that 500 draws give.
  private func widths(_ policy: BackoffPolicy, failures: Int) -> ClosedRange<Int64> {
    var random = RandomSource(seed: 3)
    let draws = (0..<500).map { _ in policy.delay(after: failures, last: 4_000, using: &random) }
    return (draws.min() ?? 0)...(draws.max() ?? 0)
  }

  @Test(arguments: [(1, 2_000), (2, 4_000), (3, 8_000), (8, 256_000), (9, 300_000), (40, 300_000)])
  func `a delay leaves the range of its jitter`(failures: Int, widest: Int64) {
    #expect(widths(BackoffPolicy(.none), failures: failures) == widest...widest)
    let equal = widths(BackoffPolicy(.equal), failures: failures)
    #expect(equal.lowerBound >= widest / 2 && equal.upperBound <= widest)
    let full = widths(BackoffPolicy(.full), failures: failures)
    #expect(full.lowerBound < widest / 10 && full.upperBound <= widest && full.upperBound > widest * 9 / 10)
    let decorrelated = widths(BackoffPolicy(.decorrelated), failures: failures)
    #expect(decorrelated.lowerBound >= 2_000 && decorrelated.upperBound <= 12_000)
  }

  @Test(arguments: [(FleetFailure.silence, UInt16(10)), (.busy(retryAfter: nil), UInt16(5))])
  func `botocore's quota takes another cost`(failure: FleetFailure, cost: UInt16) {
    let policy = BotocoreStandardPolicy()
    var (state, random) = (policy.fresh, RandomSource(seed: 1))
    for attempt in 1...3 {
      let next = policy.failed(&state, failure, now: 0, using: &random)
      if case .at(let moment) = next {
        #expect(attempt < 3 && moment <= 1_000 << Int64(attempt - 1))
      } else {
        #expect(attempt == 3 && next == .waits)
      }
    }
    #expect(state.quota == 500 - 2 * cost)
    _ = policy.succeeded(&state, now: 0)
    #expect(state.quota == 500 - cost)
  }

  @Test func `botocore's limiter lets more through than its least rate`() {
    let policy = BotocoreAdaptivePolicy()
    var (state, random) = (policy.fresh, RandomSource(seed: 1))
    #expect(policy.admit(&state, now: 10_000, using: &random) == nil)
    _ = policy.failed(&state, .busy(retryAfter: nil), now: 10_000, using: &random)
    // One token is there; then half a request per second.
    #expect(policy.admit(&state, now: 10_000, using: &random) == nil)
    #expect(policy.admit(&state, now: 10_000, using: &random) == .at(12_000))
  }

  @Test func `gRPC retries with half of its tokens`() {
    let policy = GRPCPolicy()
    var (state, random) = (policy.fresh, RandomSource(seed: 1))
    var retried = 0
    while case .at = policy.failed(&state, .silence, now: 0, using: &random) { retried += 1 }
    #expect(retried == 4)
    #expect(state.tokens == 50)
    state.attempts = 0
    #expect(policy.failed(&state, .silence, now: 0, using: &random) == .waits)
    _ = policy.succeeded(&state, now: 0)
    #expect(state.tokens == 41)
  }

  @Test func `adaptive throttling rejects with another probability`() {
    var state = AdaptiveThrottlingPolicy().fresh
    #expect(AdaptiveThrottlingPolicy.rejection(state) == 0)
    (state.requests, state.accepts) = (9, 0)
    #expect(AdaptiveThrottlingPolicy.rejection(state) == 0.9)
    (state.requests, state.accepts) = (9, 2)
    #expect(AdaptiveThrottlingPolicy.rejection(state) == 0.5)
    (state.requests, state.accepts) = (10, 5)
    #expect(AdaptiveThrottlingPolicy.rejection(state) == 0)
  }

  @Test func `the rule of an analytics library forgets too early or too late`() {
    let policy = FixedPolicy(mostAttempts: 100, longest: 12 * 3_600_000)
    var (state, random) = (policy.fresh, RandomSource(seed: 1))
    for _ in 1..<100 { #expect(policy.failed(&state, .silence, now: 0, using: &random) == .at(30_000)) }
    #expect(policy.failed(&state, .silence, now: 0, using: &random) == .drops)
    #expect(policy.failed(&state, .silence, now: 12 * 3_600_000, using: &random) == .drops)
  }
}
