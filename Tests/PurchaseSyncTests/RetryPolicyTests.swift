import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct RetryPolicyTests {
  @Test(
    arguments: [(1, 2_000), (2, 6_000), (5, 162_000), (6, 486_000), (7, 1_200_000), (10_000, 1_200_000)]
      as [(Int, Int64)])
  func `the widest delay triples up to the ceiling`(failures: Int, expected: Int64) {
    #expect(RetryPolicy().ceiling(afterFailures: failures) == expected)
  }

  /// A backend that restarts is back within minutes, and the person who has paid still waits.
  @Test func `a lane that fails five times in a row waits for a minute at most, and then longer`() {
    var random = SplitMix64(seed: 4)
    let widest = (0..<2_000).reduce(into: [Int64](repeating: 0, count: 7)) { widest, _ in
      var lane = LaneBackoff()
      for failure in widest.indices {
        lane.failed(now: midday, policy: RetryPolicy(), using: &random)
        widest[failure] = max(widest[failure], lane.opensAt(now: midday).milliseconds(since: midday))
      }
    }
    #expect(widest[..<5].allSatisfy { $0 <= 60_000 })
    #expect(widest[4] > 50_000)
    #expect((450_000...486_000).contains(widest[5]))
    #expect(widest[6] > 1_150_000)
  }

  @Test(arguments: [1, 3] as [Int64], [0, 1, 2_000, 90_000] as [Int64])
  func `no numbers of a policy make a lane count without end`(growth: Int64, base: Int64) {
    for ceiling in [1_000, 60_000, 1_200_000] as [Int64] {
      var policy = RetryPolicy()
      (policy.growth, policy.baseMilliseconds, policy.ceilingMilliseconds) = (growth, base, ceiling)
      #expect(policy.widening(1) == 1)
      #expect((1...Int.max).contains(policy.widening(.max)))
      policy.promptTries = 0
      #expect(policy.widening(9) == 9)
    }
  }

  @Test(arguments: [(3, 0, 18_000), (6, 0, 486_000), (7, 900_000, 1_200_000), (50, 900_000, 1_200_000)])
  func `a delay stays within its range, and uses the whole of it`(failures: Int, least: Int64, most: Int64) {
    var random = SplitMix64(seed: 5)
    let delays = (0..<2_000).map { _ in
      RetryPolicy().delayMilliseconds(afterFailures: failures, using: &random)
    }
    let margin = (most - least) / 20
    #expect(delays.allSatisfy { (least...most).contains($0) })
    #expect(delays.contains { $0 < least + margin })
    #expect(delays.contains { $0 > most - margin })
  }

  @Test(
    arguments: [(60_000, 60_000, 72_000), (31_536_000_000, 86_400_000, 86_400_000)] as [(Int64, Int64, Int64)]
  )
  func `Retry-After is a floor, but for a day at most`(
    asked: Int64, least: Int64, most: Int64
  ) {
    var random = SplitMix64(seed: 6)
    for _ in 0..<200 {
      let delay = RetryPolicy().delayMilliseconds(
        afterFailures: 1, retryAfterMilliseconds: asked, using: &random)
      #expect((least...most).contains(delay))
    }
  }
}
