import PurchaseSync
import PurchaseSyncTesting
import Testing

@Suite struct RetryPolicyTests {
  @Test(
    arguments: [(1, 2_000), (2, 4_000), (5, 32_000), (12, 3_600_000), (10_000, 3_600_000)] as [(Int, Int64)])
  func `the widest delay doubles up to the ceiling`(failures: Int, expected: Int64) {
    #expect(RetryPolicy().ceiling(afterFailures: failures) == expected)
  }

  @Test func `a delay lies between zero and the ceiling, and uses the whole range`() {
    var random = SplitMix64(seed: 5)
    let delays = (0..<2_000).map { _ in RetryPolicy().delayMilliseconds(afterFailures: 3, using: &random) }
    #expect(delays.allSatisfy { (0...8_000).contains($0) })
    #expect((delays.min() ?? 9_999) < 400 && (delays.max() ?? 0) > 7_600)
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
