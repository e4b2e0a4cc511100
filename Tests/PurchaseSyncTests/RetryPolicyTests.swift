import PurchaseSync
import PurchaseSyncTesting
import Testing

@Suite struct RetryPolicyTests {
  @Test(
    arguments: [(1, 2_000), (2, 6_000), (5, 162_000), (6, 486_000), (7, 1_200_000), (10_000, 1_200_000)]
      as [(Int, Int64)])
  func `the widest delay triples up to the ceiling`(failures: Int, expected: Int64) {
    #expect(RetryPolicy().ceiling(afterFailures: failures) == expected)
  }

  @Test(arguments: [(3, 0, 18_000), (6, 0, 486_000), (7, 900_000, 1_200_000), (50, 900_000, 1_200_000)])
  func `a delay leaves its range, or does not use the whole of it`(failures: Int, least: Int64, most: Int64) {
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
