import PurchaseQueue
import Testing

@testable import PurchaseSync

/// The waits after a token was refused.
@Suite struct SignInRetryTests {
  /// The waits after so many refusals in a row, for many seeds; nil: asked for another token at once.
  private func waits(afterRefusals refusals: Int, _ policy: RetryPolicy) -> [Int64?] {
    (1...200 as ClosedRange<UInt64>).map { seed in
      var (retry, delays) = (SignInRetry(), Delays(policy, seed: seed))
      for _ in 1..<refusals { _ = retry.refused(now: midday, &delays) }
      return retry.refused(now: midday, &delays) ? nil : retry.due?.milliseconds(since: midday)
    }
  }

  @Test func `the first refusal asks for another token at once`() {
    #expect(waits(afterRefusals: 1, RetryPolicy()).allSatisfy { $0 == nil })
  }

  @Test(arguments: 2...9) func `each later wait is twice as long, 20 to 40 minutes at first, a day at most`(
    refusals: Int
  ) {
    let day: Int64 = 86_400_000
    let least = min(1_200_000 << (refusals - 2), day)
    let widest = min(2 * least, day)
    let waits = waits(afterRefusals: refusals, RetryPolicy())
    #expect(waits.allSatisfy { (least...widest).contains($0 ?? -1) })
    let middle = least + (widest - least) / 2
    #expect(waits.contains { $0! >= middle } && waits.contains { $0! <= middle })
  }

  @Test func `a wait is at most twice the ceiling at first, also where that is much of a day`() {
    var policy = RetryPolicy()
    policy.ceilingMilliseconds = 9 * 3_600_000
    #expect(waits(afterRefusals: 2, policy).allSatisfy { ($0 ?? .max) <= 18 * 3_600_000 })
    #expect(
      waits(afterRefusals: 3, policy).allSatisfy { (18 * 3_600_000...24 * 3_600_000).contains($0 ?? -1) })
  }

  @Test func `a policy without waits asks again and again, and one of any numbers does not trap`() {
    var policy = RetryPolicy()
    for (ceiling, horizon) in [(0, 1_000), (-5, 1_000), (1_000, 0), (.max, .max), (.max, 5)]
      as [(Int64, Int64)]
    {
      (policy.ceilingMilliseconds, policy.horizonMilliseconds) = (ceiling, horizon)
      let most = max(0, horizon)
      for refusals in [2, 3, 70] {
        #expect(waits(afterRefusals: refusals, policy).allSatisfy { (0...most).contains($0 ?? -1) })
      }
    }
  }
}
