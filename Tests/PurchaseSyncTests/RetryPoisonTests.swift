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
    _ watch: PoisonWatch, behind: Timestamp? = nil, others: Timestamp? = nil, now: Timestamp
  ) -> PoisonWatch.Judgement {
    var random = SplitMix64(seed: 1)
    return watch.judge(
      behindSince: behind, othersSucceededAt: others, now: now, policy: policy, using: &random)
  }

  private func isPostponed(_ judgement: PoisonWatch.Judgement, at now: Timestamp) -> Bool {
    guard case .postponed(let until) = judgement else { return false }
    return until >= now.adding(milliseconds: 1_800_000) && until <= now.adding(milliseconds: 3_600_000)
  }

  @Test func `an entry is postponed after the eighth failed round`() {
    #expect(judge(failing(rounds: 0), now: noon) == .keep)
    #expect(judge(failing(rounds: 7), now: noon) == .keep)
    #expect(isPostponed(judge(failing(rounds: 8), now: noon), at: noon))
    var endless = PoisonWatch(failedRounds: .max, failingSince: noon, unknownAnswers: .max)
    endless.failed(now: noon)
    #expect(isPostponed(judge(endless, now: noon), at: noon))
  }

  @Test
  func `an entry is postponed after ten minutes of blocking others, counted from when there were others`() {
    let watch = failing(rounds: 2)
    #expect(judge(watch, behind: nil, now: later(day)) == .keep)
    #expect(judge(watch, behind: noon, now: later(599_999)) == .keep)
    #expect(isPostponed(judge(watch, behind: noon, now: later(600_000)), at: later(600_000)))
    #expect(judge(watch, behind: later(500_000), now: later(600_000)) == .keep)
    #expect(isPostponed(judge(watch, behind: later(-day), now: later(600_000)), at: later(600_000)))
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
    #expect(judge(watch, behind: noon, others: later(day), now: later(day)) == .keep)
  }

  @Test func `the tenth unknownTransaction is the last, unless a new proof comes`() {
    var watch = PoisonWatch()
    let answers = (1...10).map { _ in watch.wasUnknown(policy: policy) }
    #expect(answers == Array(repeating: false, count: 9) + [true])
    var other = PoisonWatch()
    for _ in 1...9 { _ = other.wasUnknown(policy: policy) }
    other.gotNewProof()
    let isLast = other.wasUnknown(policy: policy)
    #expect(!isLast)
    // A failed round in between is no answer, and an answer is no failed round.
    other.failed(now: noon)
    #expect(other.unknownAnswers == 1)
    _ = other.wasUnknown(policy: policy)
    #expect(other.failedRounds == 0 && other.failingSince == nil)
  }

  @Test func `after each failure an entry goes with half as many others, and alone in the end`() {
    let most = (0...8).map { $0 == 0 ? 100 : failing(rounds: $0).claimsPerUpload }
    #expect(most == [100, 50, 25, 12, 6, 3, 1, 1, 1])
    for rounds in [Int.min, -1, .max] {
      let damaged = PoisonWatch(failedRounds: rounds, failingSince: nil, unknownAnswers: 0)
      #expect((1...100).contains(damaged.claimsPerUpload))
    }
  }

  @Test func `a clock that goes back does not delay the postponement`() throws {
    var watch = failing(rounds: 3, since: later(day * 365))
    watch.failed(now: noon)
    #expect(watch.failingSince == noon)
    #expect(isPostponed(judge(watch, behind: later(-1), now: later(600_000)), at: later(600_000)))
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
      let judgement = watch.judge(
        behindSince: Timestamp(milliseconds: any()), othersSucceededAt: Timestamp(milliseconds: any()),
        now: now,
        policy: policy, using: &random)
      if case .postponed(let until) = judgement { #expect(until <= now.adding(milliseconds: 3_600_000)) }
      watch.failed(now: now)
      _ = watch.wasUnknown(policy: policy)
    }
  }
}
