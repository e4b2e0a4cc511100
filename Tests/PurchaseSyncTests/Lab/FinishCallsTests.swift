import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct FinishCallsTests {
  private func tombstones(_ ids: Range<Int>) throws -> [Tombstone] {
    let storage = MemoryStorage(limits: QueueLimits(entries: 1_000))
    var all: [Tombstone] = []
    for id in ids {
      let transaction = bought(String(id))
      let match = try OrderMatcher.match(transaction, named: transaction.key, from: storage)
      _ = try storage.enqueue(transaction, match, storeAccount: nil, now: midday)
      all += try storage.acknowledge(
        [SettledClaim(key: transaction.key, verdict: .granted)], now: midday)
    }
    return all
  }

  @Test func `a thousand finishes are few calls, in their order`() throws {
    var calls = FinishCalls()
    let all = try tombstones(0..<250)
    for tombstone in all { calls.add(tombstone) }
    var told: [Tombstone] = []
    while let call = calls.next() { told += call }
    #expect(told.count == 250 && told == all)
    let none = calls.next()
    #expect(none == nil)
  }

  @Test func `no more than four calls are under way`() throws {
    var calls = FinishCalls()
    for tombstone in try tombstones(0..<600) { calls.add(tombstone) }
    let begun = (0..<10).compactMap { _ in calls.next() }
    #expect(begun.map(\.count) == [100, 100, 100, 100])
    calls.ended(begun[0], failed: [])
    let (fifth, sixth) = (calls.next(), calls.next())
    #expect(fifth?.count == 100 && sixth == nil)
  }

  @Test func `a finish that failed in company goes alone the next time`() throws {
    var calls = FinishCalls()
    let all = try tombstones(0..<3)
    for tombstone in all { calls.add(tombstone) }
    let next = calls.next()
    let first = try #require(next)
    calls.ended(first, failed: [all[1].key])
    calls.add(all[0])
    calls.add(all[1])
    calls.add(all[2])
    let rest = [calls.next(), calls.next(), calls.next()].map { $0?.map(\.key.id) }
    #expect(rest == [["0"], ["1"], ["2"]])
    calls.ended([all[1]], failed: [])
    calls.ended([all[0]], failed: [])
    calls.add(all[0])
    calls.add(all[1])
    let together = calls.next()
    #expect(together?.count == 2)
  }
}
