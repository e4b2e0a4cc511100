import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The policy's numbers and the delays that follow from them, for any policy that an app may set.
@Suite struct RetryDelayTests {
  /// A policy of odd numbers: small, huge, nothing, negative.
  private func policy(_ random: inout SplitMix64) -> RetryPolicy {
    let numbers: [Int64] = [.min, -1, 0, 1, 7, 1_000, 3_600_000, 86_400_000, .max - 1, .max]
    func any() -> Int64 { numbers[Int(random.below(Int64(numbers.count)))] }
    var policy = RetryPolicy()
    policy.baseMilliseconds = any()
    policy.growth = any()
    policy.ceilingMilliseconds = any()
    policy.horizonMilliseconds = any()
    policy.retryAfterJitterPercent = any()
    policy.wakeJitterMilliseconds = any()
    return policy
  }

  @Test func `every policy, number of failures and Retry-After gives a delay within the bounds`() {
    var random = SplitMix64(seed: 1)
    let asked: [Int64?] = [nil, .min, -1, 0, 1, 60_000, 31_536_000_000, .max]
    for _ in 0..<200 {
      let policy = policy(&random)
      let most = max(min(policy.ceilingMilliseconds, policy.horizonMilliseconds), 0)
      let horizon = max(policy.horizonMilliseconds, 0)
      for failures in [Int.min, 0, 1, 2, 30, 62, 63, 64, Int.max] {
        #expect((0...most).contains(policy.ceiling(afterFailures: failures)))
        #expect((0...most).contains(policy.delayMilliseconds(afterEarlyFailures: failures, using: &random)))
        for asked in asked {
          let delay = policy.delayMilliseconds(
            afterFailures: failures, retryAfterMilliseconds: asked, using: &random)
          #expect((0...horizon).contains(delay) && delay >= min(asked ?? 0, horizon))
        }
      }
      #expect((most - most / 4...most).contains(policy.ceilingPaceMilliseconds(using: &random)))
      #expect((0...horizon).contains(policy.wakeDelayMilliseconds(using: &random)))
    }
  }

  @Test func `Retry-After is lengthened by up to a fifth, never shortened`() {
    var random = SplitMix64(seed: 2)
    let floors = (0..<2_000).map { _ in RetryPolicy().floorMilliseconds(asked: 100, using: &random) }
    #expect(Set(floors) == Set(100...120))
  }

  @Test func `a wake-up uses all of its five seconds, a refusal the last quarter of the ceiling`() {
    var random = SplitMix64(seed: 3)
    let wakes = (0..<2_000).map { _ in RetryPolicy().wakeDelayMilliseconds(using: &random) }
    #expect((wakes.min() ?? 9_999) < 50 && (wakes.max() ?? 0) > 4_950)
    let paces = (0..<2_000).map { _ in RetryPolicy().ceilingPaceMilliseconds(using: &random) }
    #expect(paces.allSatisfy { (900_000...1_200_000).contains($0) })
    #expect((paces.min() ?? 0) < 903_000 && (paces.max() ?? 0) > 1_197_000)
  }

  @Test(arguments: [1, 2, 10, 1_000] as [Int64]) func `a scaled policy keeps its ratios`(divisor: Int64) {
    let (whole, scaled) = (RetryPolicy(), RetryPolicy().scaled(by: divisor))
    let times: [KeyPath<RetryPolicy, Int64>] = [
      \.baseMilliseconds, \.promptMilliseconds, \.ceilingMilliseconds, \.horizonMilliseconds,
      \.wakeJitterMilliseconds,
      \.budgetWindowMilliseconds, \.paceMilliseconds, \.unknownForMilliseconds,
      \.quarantineAfterMilliseconds,
      \.quarantineRetryMilliseconds,
    ]
    for time in times { #expect(scaled[keyPath: time] * divisor == whole[keyPath: time]) }
    #expect(
      scaled.retryAfterJitterPercent == 20 && scaled.budgetPerWindow == 80 && scaled.budgetBurst == 20)
    #expect(
      scaled.poisonRounds == 8 && scaled.promptTries == 1 && scaled.pacedSends == 60
        && scaled.unknownTransactionTries == 10)
    for failures in 1...11 {
      #expect(scaled.ceiling(afterFailures: failures) * divisor == whole.ceiling(afterFailures: failures))
    }
  }

  @Test func `every time of the policy is scaled`() {
    // A time that is missing in `scaled(by:)` changes this number.
    let names = Mirror(reflecting: RetryPolicy()).children.compactMap(\.label)
    #expect(names.count(where: { $0.hasSuffix("Milliseconds") }) == 10 && names.count == 18)
  }

  @Test func `scaling changes no time to zero, and no zero to a time`() {
    var policy = RetryPolicy()
    policy.wakeJitterMilliseconds = 0
    for divisor in [Int64.min, -1, 0, .max] {
      let scaled = policy.scaled(by: divisor)
      #expect(scaled.wakeJitterMilliseconds == 0 && scaled.paceMilliseconds >= 1)
    }
    #expect(policy.scaled(by: 0) == policy)
  }
}
