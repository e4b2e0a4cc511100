import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The bounds of the delays and counts, to the millisecond and to the request.
@Suite struct RetryBoundsTests {
  private let policy = RetryPolicy()
  private let noon = Timestamp(milliseconds: 1_700_000_000_000)
  private let hour: Int64 = 3_600_000

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
    pace.heard(BackendPace())
    #expect(pace.notBefore == before.notBefore && pace.succeededAt == later(10))
    #expect(!pace.isPaced, "the rest is the other process's")
  }

  // MARK: The lane

  @Test func `a lane that has failed as often as can be counted goes on`() {
    var random = SplitMix64(seed: 1)
    var lane = LaneBackoff(failures: .max, due: nil, notBefore: nil)
    lane.failed(now: noon, policy: policy, using: &random)
    #expect(lane.failures == .max)
    for _ in 0..<100 { lane.notSent(now: noon, policy: policy, using: &random) }
    #expect(lane.unsent == 64, "a hundred doublings are as good as sixty-four")
    #expect(lane.opensAt(now: noon, policy: policy) <= later(policy.ceilingMilliseconds))
  }

  @Test func `a wait ends at its moment`() throws {
    var random = SplitMix64(seed: 1)
    var lane = LaneBackoff()
    lane.refused(now: noon, policy: policy, using: &random)
    let due = try #require(lane.due)
    lane.forget(overBy: due.adding(milliseconds: -1))
    #expect(lane.due == due)
    lane.forget(overBy: due)
    #expect(lane.due == nil)
    lane.failed(retryAfterMilliseconds: 60_000, now: noon, policy: policy, using: &random)
    let floor = try #require(lane.notBefore)
    lane.forget(overBy: floor.adding(milliseconds: -1))
    #expect(lane.notBefore == floor)
    lane.forget(overBy: floor)
    #expect(lane.notBefore == nil)
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
    let opens = lane.opensAt(now: noon, policy: policy)
    #expect(state.admit(lane, for: .retry, now: opens, policy: policy) == .send)
    #expect(state.budget.spent(.retry, now: opens, policy: policy) == 1)
    _ = drain(&state.budget, .person, at: opens, policy)
    state.pace = failing()
    let (next, before) = (later(60_000), state.pace)
    #expect(state.admit(lane, for: .person, now: next, policy: policy) != .send)
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
      isRefused: true, behindSince: noon, othersSucceededAt: nil, now: noon, policy: policy,
      using: &random)
    #expect(judgement == .postponed(until: later(1)))
  }

  // MARK: The budget

  private func drain(
    _ budget: inout RetryBudget, _ purpose: RetryBudget.Purpose, at now: Timestamp,
    _ policy: RetryPolicy
  ) -> Int {
    var count = 0
    while budget.spend(purpose, now: now, policy: policy) { count += 1 }
    return count
  }

  @Test(arguments: 0..<20)
  func `no request comes back before the hour is over, whenever it was spent`(
    slot: Int64
  ) {
    let begin = later(slot * 37_003)
    for purpose in RetryBudget.Purpose.allCases {
      var budget = RetryBudget()
      _ = drain(&budget, purpose, at: begin, policy)
      #expect(drain(&budget, purpose, at: begin.adding(milliseconds: hour - 1), policy) == 0)
    }
  }

  @Test(arguments: 1...30 as ClosedRange<Int64>) func `a window of any length holds what was spent in it`(
    window: Int64
  ) {
    var (policy, budget) = (policy, RetryBudget())
    policy.budgetWindowMilliseconds = window
    _ = budget.spend(.person, now: noon, policy: policy)
    let last = (0..<window).last { budget.spend(.person, now: later($0), policy: policy) } ?? 0
    #expect(drain(&budget, .person, at: later(last + window - 1), policy) < 60)
    #expect(budget.spent(.person, now: later(last + 3 * window + 20), policy: policy) == 0)
  }

  @Test(arguments: RetryBudget.Purpose.allCases)
  func `requests come back although they are asked for each minute`(purpose: RetryBudget.Purpose) {
    var budget = RetryBudget()
    _ = drain(&budget, purpose, at: noon, policy)
    let first = (1...80).first { budget.spend(purpose, now: later($0 * 60_000), policy: policy) }
    #expect((60...70).contains(first ?? 0))
  }

  @Test(arguments: RetryBudget.Purpose.allCases)
  func `the next request is allowed at the moment that was named, and not before`(
    purpose: RetryBudget.Purpose
  ) {
    var budget = RetryBudget()
    var now = noon
    for _ in 0..<3 {
      _ = drain(&budget, purpose, at: now, policy)
      let next = budget.nextAllowed(purpose, now: now, policy: policy)
      let isEarly = budget.spend(purpose, now: next.adding(milliseconds: -1), policy: policy)
      let isInTime = budget.spend(purpose, now: next, policy: policy)
      #expect(!isEarly && isInTime)
      now = next.adding(milliseconds: 1_000)
    }
    var other = RetryBudget()
    for _ in 0..<30 { _ = other.spend(purpose, now: noon, policy: policy) }
    _ = drain(&other, purpose, at: later(600_000), policy)
    let next = other.nextAllowed(purpose, now: later(600_000), policy: policy)
    let isEarly = other.spend(purpose, now: next.adding(milliseconds: -1), policy: policy)
    #expect(!isEarly && next <= later(hour * 7 / 6), "those of the first minutes come back first")
  }

  @Test(arguments: RetryBudget.Purpose.allCases)
  func `a budget of thousands counts 255 in nine minutes, and loses none of them`(
    purpose: RetryBudget.Purpose
  ) {
    var policy = policy
    (policy.budgetPerWindow, policy.budgetReserved) = (5_000, 0)
    var budget = RetryBudget()
    #expect(drain(&budget, purpose, at: noon, policy) == 255)
    #expect(budget.spent(purpose, now: noon, policy: policy) == 255)
    #expect(drain(&budget, purpose, at: later(600_000), policy) == 255)
    #expect(budget.spent(purpose, now: later(600_000), policy: policy) == 510)
  }
}
