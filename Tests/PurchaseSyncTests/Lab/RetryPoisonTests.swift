import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// An entry that fails by itself.
@Suite struct RetryPoisonTests {
  private let policy = RetryPolicy()
  private let noon = Timestamp(milliseconds: 1_700_000_000_000)
  private let day: Int64 = 86_400_000
  private func later(_ milliseconds: Int64) -> Timestamp { noon.adding(milliseconds: milliseconds) }

  private func failing(rounds: Int, since: Timestamp? = nil) -> PoisonWatch {
    var watch = PoisonWatch()
    for _ in 0..<rounds { watch.failed(now: since ?? noon) }
    return watch
  }

  private func judge(
    _ watch: PoisonWatch, isRefused: Bool = false, hasOthers: Bool = false, others: Timestamp? = nil,
    unwell: Timestamp? = nil, now: Timestamp
  ) -> PoisonWatch.Judgement {
    var random = SplitMix64(seed: 1)
    let backend = BackendPace(
      asked: nil, isFailing: true, pacedSendsLeft: 0, pacedAt: nil, succeededAt: others, unwellAt: unwell)
    return watch.judge(
      isRefused: isRefused, hasOthers: hasOthers, backend: backend, now: now, policy: policy, using: &random)
  }

  private func isPostponed(_ judgement: PoisonWatch.Judgement, at now: Timestamp) -> Bool {
    guard case .postponed(let wait) = judgement, wait.cause == .poison else { return false }
    return (900_000...1_200_000).contains(wait.ends.milliseconds(since: now))
  }

  @Test func `an entry is postponed for longer after the eighth failed round`() {
    #expect(judge(failing(rounds: 0), now: noon) == .keep)
    #expect(judge(failing(rounds: 7), now: noon) == .keep)
    #expect(isPostponed(judge(failing(rounds: 8), now: noon), at: noon))
    var endless = PoisonWatch(failedRounds: .max, failingSince: noon, unknownAnswers: .max)
    endless.failed(now: noon)
    #expect(isPostponed(judge(endless, now: noon), at: noon))
  }

  @Test func `while the backend fails at everything, no entry is at fault`() {
    let watch = failing(rounds: 20)
    #expect(judge(watch, unwell: later(1_000), now: later(2_000)) == .keep)
    #expect(isPostponed(judge(watch, unwell: later(-1), now: later(2_000)), at: later(2_000)))
    #expect(
      isPostponed(
        judge(watch, others: later(1_500), unwell: later(1_000), now: later(2_000)), at: later(2_000)))
    #expect(
      isPostponed(judge(watch, isRefused: true, unwell: later(1_000), now: later(2_000)), at: later(2_000)))
    #expect(
      !isPostponed(judge(watch, hasOthers: true, now: later(2_000)), at: later(2_000)),
      "others are there to compare with, and none has succeeded")
  }

  @Test(arguments: 1...10) func `others pass an entry from its first failure on`(rounds: Int) {
    guard case .postponed(let wait) = judge(failing(rounds: rounds), hasOthers: true, now: noon) else {
      Issue.record("the others wait")
      return
    }
    #expect(wait.cause == .backoff)
    #expect((1...policy.ceiling(afterFailures: rounds)).contains(wait.milliseconds))
  }

  @Test func `an entry is quarantined after a day only if other uploads worked in that day`() {
    let watch = failing(rounds: 20)
    #expect(judge(watch, others: later(1_000), now: later(day - 1)) != .quarantine)
    #expect(judge(watch, others: later(1_000), now: later(day)) == .quarantine)
    #expect(judge(watch, others: nil, now: later(day * 9)) != .quarantine)
    #expect(
      judge(watch, others: later(-1), now: later(day)) != .quarantine,
      "the others worked before the entry failed")
    #expect(
      judge(watch, others: later(1_000), now: later(day + 1_001)) != .quarantine,
      "the others worked before a long outage")
    #expect(
      judge(failing(rounds: 7), others: later(1_000), now: later(day)) != .quarantine,
      "two tries and a clock jump")
  }

  @Test func `pending never leads to quarantine, and an answer resets the count`() {
    var watch = failing(rounds: 20)
    watch.answered()
    #expect(watch == PoisonWatch())
    #expect(judge(watch, hasOthers: true, others: later(day), now: later(day)) == .keep)
  }

  @Test func `the tenth unknownTransaction is the last, unless a new proof comes`() {
    var watch = PoisonWatch()
    let answers = (1...10).map { watch.wasUnknown(now: later(Int64($0) * 100_000), policy: policy) }
    #expect(answers == Array(repeating: false, count: 9) + [true])
    var other = PoisonWatch()
    for turn in 1...9 { _ = other.wasUnknown(now: later(Int64(turn) * 100_000), policy: policy) }
    other.gotNewProof()
    let isLast = other.wasUnknown(now: later(1_000_000), policy: policy)
    #expect(!isLast)
    // A failed round in between is no answer, and an answer is no failed round.
    other.failed(now: noon)
    #expect(other.unknownAnswers == 1)
    _ = other.wasUnknown(now: noon, policy: policy)
    #expect(other.failedRounds == 0)
  }

  @Test func `ten taps within minutes bring no purchase that the backend does not know yet to quarantine`() {
    var watch = PoisonWatch()
    for second in 0..<60 {
      let isLast = watch.wasUnknown(now: later(Int64(second) * 1_000), policy: policy)
      #expect(!isLast)
    }
    let isLast = watch.wasUnknown(now: later(600_000), policy: policy)
    #expect(isLast)
  }

  @Test func `after each failure an entry goes with half as many others, and alone in the end`() {
    var watch = PoisonWatch()
    var most: [Int] = [watch.claimsPerUpload]
    for _ in 0..<8 {
      watch.failed(among: watch.claimsPerUpload, now: noon)
      most.append(watch.claimsPerUpload)
    }
    #expect(most == [100, 50, 25, 12, 6, 3, 1, 1, 1])
    watch = PoisonWatch()
    watch.failed(among: 3, now: noon)
    #expect(watch.claimsPerUpload == 1, "of three, half go next")
    for claims in [Int.min, -1, 0, .max] {
      let damaged = PoisonWatch(
        failedRounds: 0, failingSince: nil, unknownAnswers: 0, claimsPerUpload: claims)
      #expect((1...100).contains(damaged.claimsPerUpload))
    }
  }

  @Test func `a clock that goes back begins the failures anew`() throws {
    var watch = failing(rounds: 3, since: later(day * 365))
    watch.failed(now: noon)
    #expect(watch.failingSince == noon)
    let stored = try JSONDecoder().decode(PoisonWatch.self, from: try JSONEncoder().encode(watch))
    #expect(stored == watch)
  }

  @Test func `no numbers of a damaged row crash`() {
    var random = SplitMix64(seed: 2)
    let numbers: [Int64] = [.min, -1, 0, 1, 1_700_000_000_000, .max]
    for _ in 0..<1_000 {
      func any() -> Int64 { numbers[Int(random.below(Int64(numbers.count)))] }
      var watch = PoisonWatch(
        failedRounds: Int(any()), failingSince: Timestamp(milliseconds: any()), unknownAnswers: Int(any()))
      let now = Timestamp(milliseconds: any())
      let backend = BackendPace(
        asked: nil, isFailing: true, pacedSendsLeft: 0, pacedAt: nil,
        succeededAt: Timestamp(milliseconds: any()), unwellAt: Timestamp(milliseconds: any()))
      let judgement = watch.judge(
        hasOthers: any() > 0, backend: backend, now: now, policy: policy, using: &random)
      if case .postponed(let wait) = judgement {
        #expect(wait.ends <= now.adding(milliseconds: 1_200_000))
      }
      watch.failed(among: Int(any()), now: now)
      _ = watch.wasUnknown(now: now, policy: policy)
    }
  }
}
