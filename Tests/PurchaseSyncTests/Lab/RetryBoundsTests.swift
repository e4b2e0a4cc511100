import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The bounds of the delays and counts, to the millisecond and to the request.
@Suite struct RetryBoundsTests {
  private let policy = RetryPolicy()
  private let noon = Timestamp(milliseconds: 1_700_000_000_000)

  private func later(_ milliseconds: Int64) -> Timestamp { noon.adding(milliseconds: milliseconds) }

  // MARK: The pace

  private func failing(asked: Int64? = nil, _ policy: RetryPolicy = RetryPolicy()) -> BackendPace {
    var (pace, random) = (BackendPace(), SplitMix64(seed: 1))
    pace.failed(retryAfterMilliseconds: asked, now: noon, policy: policy, using: &random)
    return pace
  }

  @Test func `a healthy backend's pace keeps nothing but the last success`() {
    var pace = BackendPace()
    pace.sent(now: noon)
    #expect(pace == BackendPace() && !pace.isPaced)
    pace.succeeded(now: noon, policy: policy)
    #expect(pace.pacedAt == nil && pace.succeededAt == noon)
  }

  @Test func `a distance is kept from the last request while the backend fails and for sixty more`() {
    var pace = failing()
    pace.sent(now: later(5_000))
    #expect(pace.isPaced && pace.opensAt(now: later(5_000), policy: policy) == later(6_000))
    pace.succeeded(now: later(7_000), policy: policy)
    #expect(pace.isPaced && pace.opensAt(now: later(7_000), policy: policy) == later(8_000))
    for _ in 0..<60 { pace.succeeded(now: later(9_000), policy: policy) }
    #expect(!pace.isPaced && pace.pacedAt == nil)
  }

  @Test func `a policy may do without the distance`() {
    var policy = policy
    policy.paceMilliseconds = 0
    #expect(failing(policy).opensAt(now: noon, policy: policy) == noon)
    policy.pacedSends = 0
    var pace = failing(policy)
    pace.succeeded(now: noon, policy: policy)
    #expect(!pace.isPaced)
  }

  @Test func `what another process knows ends no pause and forgets no success of this one`() {
    var pace = failing(asked: 600_000)
    pace.succeeded(now: later(10), policy: policy)
    let before = pace
    pace.merge(BackendPace())
    #expect(pace.asked == before.asked && pace.succeededAt == later(10))
    #expect(!pace.isPaced, "the rest is the other process's")
  }

  // MARK: The lane

  @Test func `a lane that has failed as often as can be counted goes on`() {
    var random = SplitMix64(seed: 1)
    var lane = LaneBackoff(failures: .max, wait: nil)
    lane.failed(now: noon, policy: policy, using: &random)
    #expect(lane.failures == .max)
    for _ in 0..<100 { lane.notSent(now: noon, policy: policy, using: &random) }
    #expect(lane.unsent == 64, "a hundred doublings are as good as sixty-four")
    #expect(lane.opensAt(now: noon) <= later(policy.ceilingMilliseconds))
  }

  @Test func `a wait ends at its moment`() throws {
    var random = SplitMix64(seed: 1)
    var lane = LaneBackoff()
    lane.refused(now: noon, policy: policy, using: &random)
    let due = try #require(lane.wait).ends
    let yesterday = noon.adding(milliseconds: -86_400_000)
    var early = lane
    early.follow(ClockJump(from: due.adding(milliseconds: -1), to: yesterday))
    #expect(early.opensAt(now: yesterday) == yesterday.adding(milliseconds: 1))
    lane.follow(ClockJump(from: due, to: yesterday))
    #expect(lane.wait == nil)
  }

  // MARK: Retry-After

  @Test(arguments: [(0, 0), (-5, 0), (1, 1), (50, 50), (99, 99), (100, 100), (150, 100)] as [(Int64, Int64)])
  func `a pause is lengthened by up to the policy's share, and the whole share is used`(
    percent: Int64, share: Int64
  ) {
    var (policy, random) = (policy, SplitMix64(seed: 3))
    policy.retryAfterJitterPercent = percent
    for asked in [99, 199, 1_000, 100_000] as [Int64] {
      let added = (0..<3_000).map { _ in policy.floorMilliseconds(asked: asked, using: &random) - asked }
      let widest = asked * share / 100
      #expect(added.min()! >= 0 && added.max()! <= widest && added.max()! >= widest - widest / 100)
    }
  }

  @Test func `without jitter a wake-up is at once`() {
    var (policy, random) = (policy, SplitMix64(seed: 3))
    policy.wakeJitterMilliseconds = 0
    #expect((0..<50).allSatisfy { _ in policy.wakeDelayMilliseconds(using: &random) == 0 })
  }

  // MARK: What a request costs

  @Test func `the first repetition costs budget already, and a request that waits costs nothing`() {
    var (state, random, lane) = (RetryState(), SplitMix64(seed: 1), LaneBackoff())
    lane.failed(now: noon, policy: policy, using: &random)
    let opens = lane.opensAt(now: noon)
    #expect(state.admit(lane, for: .retry, now: opens, policy: policy) == .send)
    #expect(state.budget.spent(now: opens, policy: policy) == 1)
    state.pace = failing()
    let (next, before) = (later(40_000), state.pace)
    while state.budget.spend(.retry, now: next, policy: policy) {}
    #expect(state.admit(lane, for: .retry, now: next, policy: policy) != .send)
    #expect(state.pace == before)
  }

  @Test func `of two requests at one moment while the backend fails, the second waits`() {
    var state = RetryState(budget: RetryBudget(), pace: failing())
    #expect(state.admit(LaneBackoff(), for: .retry, now: later(1_000), policy: policy) == .send)
    #expect(
      state.admit(LaneBackoff(), for: .retry, now: later(1_000), policy: policy) == .wait(until: later(2_000))
    )
  }

  // MARK: The entry

  @Test func `an entry that has not failed goes with a hundred others`() {
    #expect(PoisonWatch().claimsPerUpload == 100)
    #expect(
      PoisonWatch(failedRounds: -5, failingSince: nil, unknownAnswers: 0).claimsPerUpload == 100)
  }

  @Test func `an entry that is put aside for no time goes behind the others for a moment`() {
    var (policy, watch, random) = (policy, PoisonWatch(), SplitMix64(seed: 1))
    policy.baseMilliseconds = 0
    watch.failed(now: noon)
    let judgement = watch.judge(
      isRefused: true, hasOthers: true, backend: BackendPace(), now: noon, policy: policy, using: &random)
    #expect(judgement == .postponed(Wait(.backoff, began: noon, milliseconds: 1)))
  }
}
