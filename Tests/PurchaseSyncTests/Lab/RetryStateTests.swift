import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// When a lane may send: its own delay, the backend's Retry-After, the pace and the budget.
@Suite struct RetryStateTests {
  private let policy = RetryPolicy()
  private let noon = Timestamp(milliseconds: 1_700_000_000_000)
  private let day: Int64 = 86_400_000

  private func later(_ milliseconds: Int64) -> Timestamp { noon.adding(milliseconds: milliseconds) }

  private func admit(
    _ state: inout RetryState, _ lane: LaneBackoff, _ purpose: RetryBudget.Purpose, at now: Timestamp,
    _ expected: RetryState.Admission, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let admission = state.admit(lane, for: purpose, now: now, policy: policy)
    #expect(admission == expected, sourceLocation: sourceLocation)
  }

  // MARK: A lane

  @Test func `failures in a row lengthen the delay, and a success resets it`() {
    var random = SplitMix64(seed: 1)
    var lane = LaneBackoff()
    for failures in 1...20 {
      lane.failed(now: noon, policy: policy, using: &random)
      #expect(lane.failures == failures)
      let ceiling = policy.ceiling(afterFailures: failures)
      #expect((noon...later(ceiling)).contains(lane.opensAt(now: noon)))
    }
    lane.succeeded()
    #expect(lane == LaneBackoff() && lane.opensAt(now: noon) == noon)
  }

  @Test func `a wake-up brings the next attempt within five seconds, and a second one does not delay it`() {
    var random = SplitMix64(seed: 2)
    for _ in 0..<500 {
      var lane = LaneBackoff()
      for _ in 0..<15 { lane.failed(now: noon, policy: policy, using: &random) }
      lane.woken(now: noon, policy: policy, using: &random)
      let first = lane.opensAt(now: noon)
      #expect((noon...later(5_000)).contains(first))
      lane.woken(now: noon, policy: policy, using: &random)
      #expect(lane.opensAt(now: noon) <= first)
    }
  }

  @Test func `devices that get their network back together do not send together`() {
    var random = SplitMix64(seed: 5)
    let opens = (0..<1_000).map { _ in
      var lane = LaneBackoff()
      for _ in 0..<15 { lane.failed(now: later(-60_000), policy: policy, using: &random) }
      lane.woken(now: noon, policy: policy, using: &random)
      return lane.opensAt(now: noon).milliseconds - noon.milliseconds
    }
    // Of 1,000 devices, 200 send in each second of the five; 140 are four deviations away.
    for second in 0..<5 {
      #expect(opens.count { $0 / 1_000 == second } > 140, "second \(second)")
    }
  }

  @Test func `a wake-up makes no healthy lane wait`() {
    var random = SplitMix64(seed: 3)
    var lane = LaneBackoff()
    lane.woken(now: noon, policy: policy, using: &random)
    #expect(lane == LaneBackoff())
  }

  @Test func `no wake-up shortens Retry-After`() {
    var random = SplitMix64(seed: 4)
    for asked in [1, 60_000, 86_400_000, 31_536_000_000, Int64.max] {
      var lane = LaneBackoff()
      lane.failed(retryAfterMilliseconds: asked, now: noon, policy: policy, using: &random)
      lane.woken(now: noon, policy: policy, using: &random)
      #expect(lane.opensAt(now: noon) >= later(min(asked, day)))
      #expect(lane.opensAt(now: noon) <= later(day))
    }
  }

  @Test(arguments: [nil, -1, 0, Int64.min] as [Int64?]) func `without a Retry-After no lane is held back`(
    asked: Int64?
  ) {
    var random = SplitMix64(seed: 5)
    var lane = LaneBackoff()
    lane.failed(retryAfterMilliseconds: asked, now: noon, policy: policy, using: &random)
    #expect(lane.wait?.asked == 0)
  }

  @Test func `the first refusal already waits at the pace of the ceiling`() {
    var random = SplitMix64(seed: 6)
    var lane = LaneBackoff()
    lane.refused(now: noon, policy: policy, using: &random)
    #expect((later(900_000)...later(1_200_000)).contains(lane.opensAt(now: noon)))
  }

  @Test func `a lane whose head was sent before a kill continues like a lane that has failed`() {
    var random = SplitMix64(seed: 7)
    var state = RetryState()
    let fresh = LaneBackoff(
      attempts: 0, attemptedAt: nil, isFailing: true, now: noon, policy: policy, using: &random)
    #expect(fresh == LaneBackoff())
    let lane = LaneBackoff(
      attempts: 3, attemptedAt: later(-60_000), isFailing: true, now: noon, policy: policy, using: &random)
    #expect(lane.failures == 3)
    #expect(lane.opensAt(now: noon) <= later(5_000))
    admit(&state, lane, .retry, at: later(5_000), .send)
    #expect(state.budget.spent(now: later(5_000), policy: policy) == 1)
  }

  @Test(arguments: [false, true])
  func `after a kill in flight a launch waits for a second at most, and after an outage up to five`(
    isFailing: Bool
  ) {
    var random = SplitMix64(seed: 8)
    var longest: Int64 = 0
    for _ in 0..<500 {
      var lane = LaneBackoff(
        attempts: 1, attemptedAt: later(-60_000), isFailing: isFailing, now: noon, policy: policy,
        using: &random)
      longest = max(longest, lane.opensAt(now: noon).milliseconds(since: noon))
      lane.woken(isTap: true, now: noon, policy: policy, using: &random)
      #expect(lane.opensAt(now: noon) == noon, "a person who asks does not wait")
    }
    #expect((isFailing ? 4_000...5_000 : 900...1_000).contains(longest))
  }

  @Test func `a tap sends at once what no Retry-After holds, and at most once a second`() {
    var random = SplitMix64(seed: 9)
    var lane = LaneBackoff()
    for _ in 0..<20 { lane.failed(now: noon, policy: policy, using: &random) }
    lane.woken(isTap: true, now: later(400), policy: policy, using: &random)
    #expect(lane.opensAt(now: later(400)) <= later(1_000), "the pace after the failure")
    var asked = LaneBackoff()
    asked.failed(retryAfterMilliseconds: 60_000, now: noon, policy: policy, using: &random)
    asked.woken(isTap: true, now: later(400), policy: policy, using: &random)
    #expect(asked.opensAt(now: later(400)) >= later(60_000))
  }

  @Test func `what a wake brings forward costs some of the budget, and spreads`() {
    var random = SplitMix64(seed: 10)
    var state = RetryState()
    var lane = LaneBackoff()
    lane.brought(isTap: false, now: noon, policy: policy, using: &random)
    #expect((noon...later(5_000)).contains(lane.opensAt(now: noon)))
    admit(&state, lane, .retry, at: later(5_000), .send)
    #expect(state.budget.spent(now: later(5_000), policy: policy) == 1)
    var tapped = LaneBackoff()
    tapped.brought(isTap: true, now: noon, policy: policy, using: &random)
    #expect(tapped.opensAt(now: noon) == noon)
  }

  // MARK: The backend

  @Test func `a busy backend holds every lane, even after a kill or a success in another lane`()
    throws
  {
    var random = SplitMix64(seed: 8)
    var state = RetryState()
    state.pace.failed(retryAfterMilliseconds: 60_000, now: noon, policy: policy, using: &random)
    state = try JSONDecoder().decode(RetryState.self, from: try JSONEncoder().encode(state))
    state.pace.succeeded(now: later(10), policy: policy)
    for moment in stride(from: Int64(0), through: 59_999, by: 7_919) {
      guard
        case .wait(let until) = state.admit(LaneBackoff(), for: .person, now: later(moment), policy: policy)
      else {
        Issue.record("sent \(moment) ms after")
        return
      }
      #expect(until >= later(60_000) && until <= later(72_000))
    }
    admit(&state, LaneBackoff(), .person, at: later(72_000), .send)
  }

  @Test func `a second Retry-After does not shorten the first`() {
    var random = SplitMix64(seed: 9)
    var pace = BackendPace()
    pace.failed(retryAfterMilliseconds: 600_000, now: noon, policy: policy, using: &random)
    pace.failed(retryAfterMilliseconds: 1_000, now: noon, policy: policy, using: &random)
    #expect(pace.opensAt(now: noon, policy: policy) >= later(600_000))
  }

  @Test func `requests to a healthy backend cost no budget and are not paced`() {
    var state = RetryState()
    for _ in 0..<500 {
      admit(&state, LaneBackoff(), .retry, at: noon, .send)
      state.pace.succeeded(now: noon, policy: policy)
    }
    #expect(state.budget == RetryBudget())
  }

  @Test func `after an outage there is one request a second, for sixty of them`() {
    var random = SplitMix64(seed: 10)
    var state = RetryState()
    state.pace.failed(now: noon, policy: policy, using: &random)
    admit(&state, LaneBackoff(), .person, at: noon, .wait(until: later(1_000)))
    admit(&state, LaneBackoff(), .person, at: later(1_000), .send)
    state.pace.succeeded(now: later(1_000), policy: policy)
    for turn in 1...60 {
      let moment = later(Int64(turn) * 1_000)
      #expect(
        state.admit(LaneBackoff(), for: .retry, now: moment, policy: policy)
          == .wait(until: moment.adding(milliseconds: 1_000)))
      let next = moment.adding(milliseconds: 1_000)
      admit(&state, LaneBackoff(), .retry, at: next, .send)
      state.pace.succeeded(now: next, policy: policy)
    }
    #expect(!state.pace.isPaced)
    #expect(state.budget.spent(now: later(61_000), policy: policy) == 0)
  }

  @Test func `after an outage no lane that failed in it waits for the budget`() {
    var random = SplitMix64(seed: 11)
    var state = RetryState()
    var lane = LaneBackoff()
    lane.failed(now: noon, policy: policy, using: &random)
    lane.woken(isTap: true, now: noon, policy: policy, using: &random)
    state.pace.failed(now: noon, policy: policy, using: &random)
    let back = later(policy.budgetIntervalMilliseconds * 3)
    while state.budget.spend(.retry, now: back, policy: policy) {}
    state.pace.succeeded(now: back, policy: policy)
    // One request a second, as many as are paced; then each costs.
    for number in 1...policy.pacedSends {
      admit(
        &state, lane, .retry, at: back.adding(milliseconds: Int64(number) * policy.paceMilliseconds), .send)
    }
    #expect(!state.pace.isRecovering)
    let last = back.adding(milliseconds: 61_000)
    let spent = state.budget.spent(now: last, policy: policy)
    admit(&state, lane, .retry, at: last, .send)
    #expect(state.budget.spent(now: last, policy: policy) == spent + 1)
  }

  /// The backend has refused what it sent, and then a person tapped.
  private func refusedLane(_ random: inout SplitMix64) -> LaneBackoff {
    var lane = LaneBackoff()
    lane.refused(now: noon, policy: policy, using: &random)
    lane.woken(isTap: true, now: noon, policy: policy, using: &random)
    return lane
  }

  @Test func `after an answer no lane waits for a budget that others have spent`() {
    var random = SplitMix64(seed: 13)
    var state = RetryState()
    let refused = refusedLane(&random)
    let moment = later(10_000)
    while state.budget.spend(.retry, now: moment, policy: policy) {}
    let next = state.budget.nextAllowed(.retry, now: moment, policy: policy)
    admit(&state, refused, .retry, at: moment, .wait(until: next))
    // No outage: the backend has only refused what was sent.
    #expect(!state.pace.isFailing)
    state.succeeded(now: moment, policy: policy)
    admit(&state, refused, .retry, at: moment.adding(milliseconds: policy.paceMilliseconds), .send)
  }

  @Test func `an answer frees nothing while the budget has something left`() {
    var random = SplitMix64(seed: 14)
    var state = RetryState()
    let refused = refusedLane(&random)
    state.succeeded(now: later(10_000), policy: policy)
    #expect(!state.pace.isPaced)
    admit(&state, refused, .retry, at: later(10_000), .send)
    #expect(state.budget.spent(now: later(10_000), policy: policy) == 1)
  }

  @Test func `a lane that fails after an outage ends what is free`() {
    var random = SplitMix64(seed: 12)
    var state = RetryState()
    var lane = LaneBackoff()
    lane.failed(now: noon, policy: policy, using: &random)
    lane.woken(isTap: true, now: noon, policy: policy, using: &random)
    state.pace.failed(now: noon, policy: policy, using: &random)
    state.pace.succeeded(now: noon, policy: policy)
    admit(&state, lane, .retry, at: later(1_000), .send)
    state.pace.failed(now: later(1_000), policy: policy, using: &random)
    admit(&state, lane, .retry, at: later(2_000), .send)
    #expect(state.budget.spent(now: later(2_000), policy: policy) == 1)
  }

  @Test func `a failure at one request after an outage leaves free what other lanes send`() {
    var random = SplitMix64(seed: 12)
    var state = RetryState()
    var lane = LaneBackoff()
    lane.failed(now: noon, policy: policy, using: &random)
    lane.woken(isTap: true, now: noon, policy: policy, using: &random)
    while state.budget.spend(.retry, now: noon, policy: policy) {}
    state.pace.failed(now: noon, policy: policy, using: &random)
    state.pace.succeeded(now: noon, policy: policy)
    for second in 1...Int64(policy.pacedSends) {
      state.pace.failed(isAboutRequest: true, now: later(1_000 * second), policy: policy, using: &random)
      admit(&state, lane, .retry, at: later(1_000 * second), .send)
    }
    #expect(!state.pace.isRecovering)
    state.pace.failed(isAboutRequest: true, now: later(61_000), policy: policy, using: &random)
    #expect(state.pace.isFailing, "only what is free after an outage is free")
  }

  @Test func `while the backend fails, a new lane costs budget as well`() {
    var random = SplitMix64(seed: 11)
    var state = RetryState()
    state.pace.failed(now: noon, policy: policy, using: &random)
    var sent = 0
    var now = noon
    for _ in 0..<200 {
      now = now.adding(milliseconds: 1_000)
      guard state.admit(LaneBackoff(), for: .retry, now: now, policy: policy) == .send else { continue }
      sent += 1
      state.pace.failed(now: now, policy: policy, using: &random)
    }
    #expect((20...25).contains(sent), "those that are saved, and one each 45 seconds")
  }

  // MARK: Clocks

  @Test(arguments: 0..<30)
  func `whatever the clock does, no wait exceeds a day, there is no burst and the budget holds`(
    seed: Int
  ) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var state = RetryState()
    var lanes = Array(repeating: LaneBackoff(), count: 8)
    var now: Int64 = 1_700_000_000_000
    var jumps = 0
    var (sent, all) = (0, 0)
    // The real time: the clock without its jumps.
    var elapsed: Int64 = 0
    for _ in 0..<800 {
      if random.below(300) == 0 {
        let distance = random.below(31_536_000_000)
        now += Bool.random(using: &random) ? distance : -distance
        jumps += 1
      }
      let step = random.below(60_000)
      now += step
      elapsed += step
      let moment = Timestamp(milliseconds: now)
      var (sentNow, sentForNoPerson) = (0, 0)
      for index in lanes.indices {
        if random.below(10) == 0 {
          lanes[index].woken(now: moment, policy: policy, using: &random)
        }
        let purpose: RetryBudget.Purpose = random.below(4) == 0 ? .person : .retry
        switch state.admit(lanes[index], for: purpose, now: moment, policy: policy) {
        case .wait(let until): #expect(until > moment && until.milliseconds - now <= day)
        case .send:
          sentNow += 1
          all += 1
          if purpose == .retry { sentForNoPerson += 1 }
          let asked = random.below(5) == 0 ? random.below(200_000_000) : nil
          lanes[index].failed(now: moment, policy: policy, using: &random)
          state.pace.failed(retryAfterMilliseconds: asked, now: moment, policy: policy, using: &random)
        }
      }
      // The pace: at one moment, one.
      #expect(sentNow <= 1)
      sent += sentForNoPerson
    }
    let refilled = elapsed / 45_000 + 1
    #expect(sent <= 20 * (1 + jumps) + Int(refilled))
    #expect(all > 0)
  }

  @Test func `when the clock goes back by a year, a lane waits for the ceiling at most`() {
    var random = SplitMix64(seed: 12)
    var lane = LaneBackoff()
    for _ in 0..<20 { lane.failed(now: noon, policy: policy, using: &random) }
    let now = later(-31_536_000_000)
    #expect(lane.opensAt(now: now) <= now.adding(milliseconds: 3_600_000))
    var pace = BackendPace()
    pace.failed(retryAfterMilliseconds: 60_000, now: noon, policy: policy, using: &random)
    #expect(pace.opensAt(now: now, policy: policy) <= now.adding(milliseconds: day))
    #expect(pace.opensAt(now: now, policy: policy) <= now.adding(milliseconds: 72_000))
    pace.clamp(now: now)
    let minute = now.adding(milliseconds: 72_000)
    #expect(pace.opensAt(now: minute, policy: policy) == minute, "a wait is no longer than its length again")
  }
}
