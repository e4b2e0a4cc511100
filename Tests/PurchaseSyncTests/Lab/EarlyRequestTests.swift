import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A request that a wake, a tap or a new purchase brings forward, and that fails.
@Suite struct EarlyRequestTests {
  private let policy = RetryPolicy()

  private func lane(failures: Int, _ random: inout SplitMix64) -> LaneBackoff {
    var lane = LaneBackoff()
    for _ in 0..<failures { lane.failed(now: midday, policy: policy, using: &random) }
    return lane
  }

  @Test(arguments: 1...5) func `ten taps during a short outage postpone what follows by minutes`(
    failures: Int
  ) {
    var random = SplitMix64(seed: 1)
    var lane = lane(failures: failures, &random)
    var now = midday
    for _ in 0..<10 {
      now = now.adding(milliseconds: 1_000)
      // A wait that is over ends by itself, and its request is a step like any other.
      let isEarly = lane.opensAt(now: now) > now
      let before = lane.failures
      lane.woken(isTap: true, now: now, policy: policy, using: &random)
      #expect(lane.opensAt(now: now) == now)
      lane.failed(now: now, policy: policy, using: &random)
      #expect(lane.failures == before + (isEarly ? 0 : 1))
      #expect(
        lane.opensAt(now: now) <= now.adding(milliseconds: policy.ceiling(afterFailures: lane.failures)))
    }
  }

  @Test func `the first failure of a lane that was brought forward does not count`() {
    var random = SplitMix64(seed: 2)
    var lane = LaneBackoff()
    lane.brought(isTap: true, now: midday, policy: policy, using: &random)
    lane.failed(now: midday, policy: policy, using: &random)
    #expect(lane.failures == 1)
    #expect(!lane.isEarly)
  }

  @Test func `a wake that finds no wait to shorten brings something forward`() {
    var random = SplitMix64(seed: 3)
    var lane = lane(failures: 4, &random)
    let due = lane.opensAt(now: midday)
    lane.woken(now: due, policy: policy, using: &random)
    #expect(!lane.isEarly)
    lane.failed(now: due, policy: policy, using: &random)
    #expect(lane.failures == 5)
  }

  /// When the devices of a crowd come again after their request failed, in hundredths of the ceiling.
  private func comesAgain(_ fail: (inout LaneBackoff, inout SplitMix64) -> Void) -> [Int] {
    var random = SplitMix64(seed: 4)
    return (0..<2_000).map { _ in
      var lane = lane(failures: 15, &random)
      fail(&lane, &random)
      return Int(lane.opensAt(now: midday).milliseconds(since: midday) * 100 / policy.ceilingMilliseconds)
    }
  }

  @Test func `devices that a push message woke together come together again`() {
    let again = comesAgain { lane, random in
      lane.woken(isTap: true, now: midday, policy: policy, using: &random)
      lane.failed(now: midday, policy: policy, using: &random)
    }
    // Two hundred of 2,000 in each tenth; 140 are more than four deviations away.
    for tenth in 0..<10 {
      #expect(again.count { $0 / 10 == tenth } >= 140, "tenth \(tenth)")
    }
  }

  @Test func `devices that start together during an outage come together again`() {
    let again = comesAgain { lane, random in
      lane = LaneBackoff(
        attempts: 15, attemptedAt: midday, isFailing: true, now: midday, policy: policy, using: &random)
      lane.failed(now: midday, policy: policy, using: &random)
    }
    for tenth in 0..<10 {
      #expect(again.count { $0 / 10 == tenth } >= 140, "tenth \(tenth)")
    }
  }

  @Test func `a request at its time is followed by one within three quarters of the ceiling`() {
    let again = comesAgain { lane, random in
      lane.failed(now: midday, policy: policy, using: &random)
    }
    #expect(again.allSatisfy { (75...100).contains($0) })
  }

  @Test func `what the backend asked for is shortened by an early request that fails`() {
    var random = SplitMix64(seed: 5)
    var lane = lane(failures: 6, &random)
    lane.woken(isTap: true, now: midday, policy: policy, using: &random)
    lane.failed(retryAfterMilliseconds: 7_200_000, now: midday, policy: policy, using: &random)
    #expect(lane.opensAt(now: midday) >= midday.adding(milliseconds: 7_200_000))
  }
}
