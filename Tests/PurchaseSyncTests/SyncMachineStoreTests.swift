import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Finishes, and finishes that are pending.
@Suite struct SyncMachineStoreTests {
  @Test func `a finish that fails is tried again, after longer and longer waits, until it works`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    for failures in 1...6 {
      let due = try #require(try run.finishEnded(key("100"), .failed).wakes.first)
      #expect(due > run.now)
      #expect(
        due <= run.now.adding(milliseconds: run.machine.policy.ceiling(afterFailures: failures)))
      #expect(run.fire().finished == ["100"])
    }
    #expect(try run.finishEnded(key("100"), .finished) == [])
    #expect(run.storage.tombstone(key("100"))?.isFinishPending == false)
    #expect(run.fire() == [])
  }

  @Test func `a redelivery repeats a failed finish at once`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    _ = try run.finishEnded(key("100"), .failed)
    #expect(try run.arrive(bought("100", token: 1)).finished == ["100"])
    #expect(run.fire().finished == [])
  }

  @Test func `an pending finish is repeated when the store lists the transaction`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    #expect(try run.restart().finished == [], "not before the store has answered")
    #expect(try run.listed([key("100")]).finished == ["100"])
    #expect(try run.listed([key("100")]).finished == [], "one call at a time")
    #expect(try run.finishEnded(key("100"), .finished) == [])
    #expect(try run.listed([key("100")]).finished == [], "it is done")
  }

  @Test func `a transaction that the store does not list any more counts as finished`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1), from: "apple-id")
    _ = run.reply(["100": .granted])
    _ = try run.finishEnded(key("100"), .notListed)
    #expect(run.storage.tombstone(key("100"))?.isFinishPending == true)
    _ = try run.listed([], account: "apple-id")
    #expect(run.storage.tombstone(key("100"))?.isFinishPending == false)
  }

  @Test func `another store account's finish waits until that account is back`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1), from: "mine")
    _ = run.reply(["100": .granted])
    _ = try run.finishEnded(key("100"), .notListed)
    #expect(try run.listed([], account: "hers") == [])
    #expect(run.storage.tombstone(key("100"))?.isFinishPending == true)
    var finished: [String] = []
    let end = run.now.adding(milliseconds: inDays(3))
    while let due = run.timer, due <= end { finished += run.fire().finished }
    #expect(finished == [], "a finish that waits for an account is not repeated")
    _ = try run.restart()
    #expect(try run.listed([key("100")], account: "mine").finished == ["100"])
  }

  @Test func `an update keeps the store account of its transaction`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1), from: "mine")
    _ = run.reply(["100": .granted])
    _ = try run.finishEnded(key("100"), .finished)
    var refunded = bought("100", token: 1, proof: "refund")
    refunded.revokedAt = midday
    _ = try run.arrive(refunded)
    _ = try run.finishEnded(key("100"), .notListed)
    _ = run.reply(["100": .refunded])
    _ = try run.finishEnded(key("100"), .notListed)
    _ = try run.listed([], account: "hers")
    #expect(run.storage.tombstone(key("100"))?.isFinishPending == true)
  }

  @Test func `a listing without the transaction does not end a finish in flight`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    #expect(try run.listed([]) == [])
    #expect(run.storage.tombstone(key("100"))?.isFinishPending == true)
    #expect(try run.finishEnded(key("100"), .failed).wakes.count == 1)
  }

  @Test func `a finish that is due again without its tombstone is dropped`() throws {
    var run = try MachineRun(limits: QueueLimits(tombstones: 1))
    _ = try run.purchase("100", token: 1)
    _ = try run.finishEnded(key("100"), .finished)
    _ = try run.confirm(key("100"))
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.finishEnded(key("100"), .failed)
    for id in ["101", "102", "103"] { _ = try run.purchase(id) }
    try #require(run.storage.tombstone(key("100")) == nil)
    #expect(run.fire().finished == [])
    #expect(run.fire() == [])
  }

  @Test func `a suspended app sends nothing, and continues when it resumes`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    run.machine.suspended()
    #expect(try run.arrive(bought("101", token: 2)).sent == [])
    let answered = run.reply(["100": .granted])
    #expect(answered.sent == [])
    #expect(answered.finished == ["100"], "a settled transaction is finished all the same")
    _ = try run.finishEnded(key("100"), .failed)
    #expect(run.fire() == [])
    for reason in [WakeReason.networkBack, .userAsked, .signedIn(account: "alice")] {
      #expect(run.wake(reason) == [])
    }
    #expect(try run.claim("alice").claimed == [])
    let back = run.wake(.foreground)
    #expect(back.sent == [["101"]])
    #expect(back.claimed == ["alice"])
    #expect(!back.wakes.isEmpty || back.finished == ["100"])
  }

  @Test func `without work there is no timer`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    _ = try run.finishEnded(key("100"), .finished)
    #expect(run.fire() == [])
    #expect(run.wake(.foreground) == [])
    #expect(try run.restart().wakes == [])
  }
}
