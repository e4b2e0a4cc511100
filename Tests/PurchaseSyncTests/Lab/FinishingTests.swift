import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct FinishingTests {
  private var policy: RetryPolicy { RetryPolicy() }

  /// A storage with settled transactions whose finish is pending.
  private func storage(_ ids: [String], listedBy account: String? = nil) throws -> MemoryStorage {
    let storage = MemoryStorage()
    for id in ids {
      let transaction = bought(id)
      let match = try OrderMatcher.match(transaction, from: storage)
      _ = try storage.enqueue(transaction, match, storeAccount: account, now: midday)
      _ = try storage.acknowledge([SettledClaim(key: key(id), verdict: .granted)], now: midday)
    }
    return storage
  }

  private func tombstone(_ id: String, in storage: MemoryStorage) throws -> Tombstone {
    try #require(storage.tombstone(key(id)))
  }

  @Test func `a transaction is finished by one call at a time`() throws {
    let storage = try storage(["100"])
    let tombstone = try tombstone("100", in: storage)
    var finishes = FinishTable()
    #expect(finishes.begin(tombstone, now: midday) == [.finish(tombstone)])
    #expect(finishes.begin(tombstone, now: midday) == [])
    #expect(finishes.state(of: key("100")) == .calling(failures: 0))
  }

  @Test(arguments: [(FinishEnd.finished, false), (.notListed, true), (.failed, true)])
  func `how each end of a call leaves the duty`(end: FinishEnd, isPending: Bool) throws {
    let storage = try storage(["100"])
    var finishes = FinishTable()
    var delays = Delays(policy, seed: 1)
    _ = finishes.begin(try tombstone("100", in: storage), now: midday)
    let actions = try finishes.ended(key("100"), end, in: storage, now: midday, &delays)
    #expect(storage.tombstone(key("100"))?.isFinishPending == isPending)
    #expect((finishes.state(of: key("100")) != nil) == (end == .failed))
    #expect(actions.wakes.count == (end == .failed ? 1 : 0))
  }

  @Test func `a failed call is repeated when it is due, or when the transaction comes again`() throws {
    let storage = try storage(["100"])
    let tombstone = try tombstone("100", in: storage)
    var finishes = FinishTable()
    var delays = Delays(policy, seed: 1)
    _ = finishes.begin(tombstone, now: midday)
    let due = try #require(
      try finishes.ended(key("100"), .failed, in: storage, now: midday, &delays).wakes.first)
    #expect(finishes.goOn(in: storage, now: midday, policy: policy) == [.wake(at: due)])
    var again = finishes
    #expect(finishes.goOn(in: storage, now: due, policy: policy) == [.finish(tombstone)])
    #expect(again.begin(tombstone, now: midday) == [.finish(tombstone)])
    #expect(again.state(of: key("100")) == .calling(failures: 1))
  }

  @Test func `a call that failed waits longer after each failure, and a moment at least`() throws {
    let storage = try storage(["100"])
    func waits(failures: Int, policy: RetryPolicy) throws -> [Int64] {
      try (1...100 as ClosedRange<UInt64>).map { seed in
        var (finishes, delays, wait) = (FinishTable(), Delays(policy, seed: seed), Int64(0))
        for _ in 0..<failures {
          _ = finishes.begin(try tombstone("100", in: storage), now: midday)
          let actions = try finishes.ended(key("100"), .failed, in: storage, now: midday, &delays)
          wait = try #require(actions.wakes.first).milliseconds(since: midday)
        }
        return wait
      }
    }
    for failures in 1...3 {
      let (waits, widest) = (
        try waits(failures: failures, policy: policy), policy.ceiling(afterFailures: failures)
      )
      #expect(waits.allSatisfy { (1...widest).contains($0) } && waits.contains { $0 > widest / 2 })
    }
    var impatient = policy
    impatient.baseMilliseconds = 0
    #expect(Set(try waits(failures: 2, policy: impatient)) == [1], "without a wait the timer would spin")
  }

  @Test func `a due call without a tombstone is forgotten`() throws {
    let storage = try storage(["100"])
    var finishes = FinishTable()
    var delays = Delays(policy, seed: 1)
    _ = finishes.begin(try tombstone("100", in: storage), now: midday)
    let due = try #require(
      try finishes.ended(key("100"), .failed, in: storage, now: midday, &delays).wakes.first)
    #expect(finishes.goOn(in: MemoryStorage(), now: due, policy: policy) == [])
    #expect(finishes.state(of: key("100")) == nil)
  }

  @Test(
    arguments: [
      // owner, account of the list, is listed; is published, stays pending
      (nil, nil, true, true, true), (nil, nil, false, false, false),
      ("apple-1", "apple-1", false, false, false), ("apple-1", "apple-2", false, false, true),
      ("apple-1", "apple-2", true, true, true), ("apple-1", nil, false, false, false),
      (nil, "apple-2", false, false, false),
    ] as [(String?, String?, Bool, Bool, Bool)])
  func `a listing decides whether an pending finish stays pending`(
    owner: String?, account: String?, isListed: Bool, isTold: Bool, staysPending: Bool
  ) throws {
    let storage = try storage(["100"], listedBy: owner)
    var finishes = FinishTable()
    let keys: Set<EntryKey> = isListed ? [key("100")] : []
    let (actions, _) = try finishes.listed(keys, account: account, in: storage, now: midday)
    #expect(!actions.isEmpty == isTold)
    #expect(storage.tombstone(key("100"))?.isFinishPending == staysPending)
  }

  @Test func `a store that fails at many finishes is called again at a pace`() throws {
    let ids = (100..<180).map { "\($0)" }
    let storage = try storage(ids)
    var finishes = FinishTable()
    var delays = Delays(policy, seed: 1)
    for id in ids { #expect(finishes.begin(try tombstone(id, in: storage), now: midday).count == 1) }
    var repeated = 0
    for second in 0..<60 as Range<Int64> {
      let now = midday.adding(milliseconds: second * 1_000)
      for id in ids where finishes.state(of: key(id))?.isCalling == true {
        _ = try finishes.ended(key(id), .failed, in: storage, now: now, &delays)
      }
      // A person taps once a second.
      finishes.woken(now: now, policy: policy)
      let actions = finishes.goOn(in: storage, now: now, policy: policy)
      repeated += actions.finished.count
      #expect(actions.finished.count == ids.count || !actions.wakes.isEmpty, "the rest has a timer")
    }
    #expect(repeated <= CallPace.finishRepeats.most(within: 60_000))
    #expect(repeated >= CallPace.finishRepeats.most(within: 58_000))
  }

  @Test func `a clock that goes back does not start a wait again`() throws {
    let storage = try storage(["100"])
    let tombstone = try tombstone("100", in: storage)
    var finishes = FinishTable()
    var delays = Delays(policy, seed: 1)
    _ = finishes.begin(tombstone, now: midday)
    let due = try #require(
      try finishes.ended(key("100"), .failed, in: storage, now: midday, &delays).wakes.first)
    let earlier = midday.adding(milliseconds: -inDays(1))
    finishes.follow(ClockJump(from: due, to: earlier))
    #expect(finishes.goOn(in: storage, now: earlier, policy: policy) == [.finish(tombstone)])
  }
}
