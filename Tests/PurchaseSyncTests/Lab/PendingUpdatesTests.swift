import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct PendingUpdatesTests {
  @Test(
    arguments: [
      // known here, in the file, in the reply; whether something is pending, and whether it is published to the app
      (nil, nil, "1", false, false),
      ("1", "1", "1", false, false),
      ("1", "1", "2", true, true),
      (nil, "1", "2", true, true),
      // Another process has learned of the new epoch.
      ("1", "2", "2", true, false),
      // A late reply from before the restoration.
      ("2", "2", "1", true, true),
    ] as [(String?, String?, String, Bool, Bool)])
  func `the stored epoch decides what a reply's epoch means`(
    here: String?, stored: String?, new: String, isPending: Bool, isTold: Bool
  ) throws {
    let storage = MemoryStorage()
    if let stored { storage.keepLedgerEpoch(stored, offeringAgain: false) }
    var updates = PendingUpdates()
    updates.start(epoch: here)
    _ = try updates.queue(in: storage, now: midday, policy: RetryPolicy())
    #expect(!updates.mayBePending)
    let actions = try updates.epochArrived(new, in: storage, now: midday)
    #expect(actions == (isTold ? [.emit(.ledgerChanged)] : []))
    #expect(updates.mayBePending == isPending)
    #expect(storage.ledgerEpoch() == new)
  }

  @Test func `an endless epoch is stored in part, and still tells a restored backend`() throws {
    let storage = MemoryStorage()
    var updates = PendingUpdates()
    let endless = String(repeating: "e\u{301}", count: 1_000_000)
    for (epoch, isTold) in [("1" + endless, false), ("1" + endless, false), ("2" + endless, true)] {
      #expect(try updates.epochArrived(epoch, in: storage, now: midday).isEmpty != isTold)
      #expect(try #require(storage.ledgerEpoch()).utf8.count == 256, "as much as may be stored")
    }
  }

  @Test func `a start and a recorded update may leave something to queue`() throws {
    var updates = PendingUpdates()
    updates.start(epoch: nil)
    #expect(updates.mayBePending)
    let (queued, retryAt) = try updates.queue(in: MemoryStorage(), now: midday, policy: RetryPolicy())
    #expect(queued.isEmpty && retryAt == nil)
    #expect(!updates.mayBePending)
    updates.recorded()
    #expect(updates.mayBePending)
  }

  @Test func `updates without capacity are tried again after the backoff ceiling`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.purchase("100", token: 1)
    _ = try run.confirm(key("100"))
    _ = try run.arrive(bought("101", token: 2))
    run.storage.oweUpdate(of: key("100"))
    var updates = PendingUpdates()
    updates.recorded()
    let (queued, retryAt) = try updates.queue(in: run.storage, now: midday, policy: RetryPolicy())
    #expect(queued.isEmpty)
    #expect(retryAt == midday.adding(milliseconds: RetryPolicy().ceilingMilliseconds))
    #expect(updates.mayBePending)
  }

  @Test func `two servers with an epoch each are offered everything at the pace, and a kill loses no offer`()
    throws
  {
    let storage = MemoryStorage()
    var (updates, now, offers) = (PendingUpdates(), midday, 0)
    updates.start(epoch: nil)
    for turn in 0..<7_200 {
      let actions = try updates.epochArrived("server \(turn % 2)", in: storage, now: now)
      if actions == [.emit(.ledgerChanged)] { offers += 1 }
      now = now.adding(milliseconds: 1_000)
    }
    #expect(offers <= CallPace.ledgerOffers.most(within: 7_200_000))
    #expect(offers > CallPace.ledgerOffers.burst, "some at once, and one more after an hour")
    // The next process knows the earlier epoch: the first reply is a change.
    let stored = try #require(storage.ledgerEpoch())
    var next = PendingUpdates()
    next.start(epoch: stored)
    let other = stored == "server 0" ? "server 1" : "server 0"
    #expect(try next.epochArrived(other, in: storage, now: now) == [.emit(.ledgerChanged)])
  }

  @Test func `an offer that the pace holds back is made at its moment, to the epoch of the last reply`()
    throws
  {
    let storage = MemoryStorage()
    var updates = PendingUpdates()
    updates.start(epoch: nil)
    for epoch in ["1", "2", "3", "4", "5", "6"] {
      _ = try updates.epochArrived(epoch, in: storage, now: midday)
    }
    #expect(storage.ledgerEpoch() == "4")
    let wait = try #require(try updates.queue(in: storage, now: midday, policy: RetryPolicy()).retryAt)
    #expect(wait > midday)
    _ = try updates.queue(in: storage, now: wait, policy: RetryPolicy())
    #expect(storage.ledgerEpoch() == "6")
    #expect(!updates.mayBePending)
  }
}
