import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Updates of settled transactions, a backend that was restored, and the quarantine.
@Suite struct SyncMachineUpdateTests {
  private func refund(of id: String, token: UInt8? = nil) -> StoreTransaction {
    var transaction = bought(id, token: token, proof: "refund of \(id)")
    transaction.revokedAt = midday
    return transaction
  }

  @Test func `an update of a settled transaction is uploaded, and the app gets the outcome again`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    _ = try run.finishEnded(key("100"), .finished)
    _ = try run.confirm(key("100"))
    let actions = try run.arrive(refund(of: "100", token: 1))
    #expect(actions.finished == ["100"])
    #expect(actions.events.first == .updateQueued(key("100")))
    #expect(actions.sent == [["100"]])
    #expect(run.storage.tombstone(key("100"))?.outcome == "granted")
    _ = try run.finishEnded(key("100"), .finished)
    let settled = run.reply(["100": .refunded])
    #expect(settled.finished == ["100"])
    #expect(settled.delivered.map(\.verdict) == [.refunded])
    #expect(settled.delivered.map(\.orderNumber) == ["1"])
    _ = try run.finishEnded(key("100"), .finished)
    #expect(try run.arrive(refund(of: "100", token: 1)).count == 1, "the second delivery is no update")
  }

  @Test(arguments: [true, false])
  func `an answer about an entry that was discarded in flight does not apply to a newer update`(
    isAnswered: Bool
  ) throws {
    var run = try MachineRun()
    #expect(try run.arrive(bought("100", token: 1)).sent == [["100"]])
    // This is the effect of a discard: the entry leaves, and a tombstone stays.
    _ = try run.storage.acknowledge([SettledClaim(key: key("100"), verdict: .lapsed)], now: run.now)
    run.machine.discarded(key("100"))
    _ = try run.arrive(refund(of: "100", token: 1))
    let answer =
      isAnswered
      ? run.reply(["100": .granted])
      : try run.fail(alice, .retry(reason: "reset", retryAfterMilliseconds: nil))
    #expect(answer.delivered == [] && answer.finished == [])
    #expect(run.entry("100")?.attempts == (isAnswered ? 1 : 0), "the update is queued, and is sent by itself")
    if !isAnswered { #expect(run.letPass(inDays(1)).sent == [["100"]]) }
    #expect(run.reply(["100": .refunded]).delivered.map(\.verdict) == [.refunded])
  }

  @Test func `a redelivery is finished at once while its update is in flight`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    _ = try run.finishEnded(key("100"), .finished)
    _ = try run.arrive(refund(of: "100", token: 1))
    _ = try run.finishEnded(key("100"), .notListed)
    #expect(try run.arrive(refund(of: "100", token: 1)).finished == ["100"])
  }

  @Test func `an update without capacity is pending, and is sent when capacity is free`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.purchase("100", token: 1)
    _ = try run.finishEnded(key("100"), .finished)
    _ = try run.arrive(bought("101", token: 2))
    let actions = try run.arrive(refund(of: "100", token: 1))
    #expect(actions.finished == ["100"])
    #expect(actions.sent == [])
    let freed = run.reply(["101": .granted])
    #expect(freed.sent == [["100"]])
    #expect(run.entry("100")?.payloads == [], "the backend asks the store")
  }

  @Test func `the next run queues the pending updates`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.purchase("100", token: 1)
    _ = try run.arrive(bought("101", token: 2))
    _ = try run.arrive(refund(of: "100", token: 1))
    _ = try run.storage.acknowledge([SettledClaim(key: key("101"), verdict: .granted)], now: run.now)
    #expect(try run.restart().sent == [["100"]])
  }

  @Test func `a restored backend is offered everything again, as capacity allows and in every lane`()
    throws
  {
    var run = try MachineRun(limits: QueueLimits(entries: 3))
    run.storage.book.add(9, account: "bob", product: "coins")
    for id in ["100", "101", "102"] {
      _ = try run.purchase(id)
      _ = try run.confirm(key(id))
    }
    _ = try run.arrive(payment("200", token: orderToken(9), product: "coins"))
    _ = run.reply(bob, ["200": .granted])
    _ = try run.confirm(key("200"))
    _ = try run.arrive(bought("103"))
    let changed = run.reply(["103": .granted], epoch: "epoch 2")
    #expect(changed.events.contains(.ledgerChanged))
    #expect(changed.sent == [["100", "101", "102"]])
    var offered = Set(changed.sent.joined())
    var lanes = [alice]
    while let lane = lanes.popLast() {
      let sent = run.machine.state(of: lane).sent.map(\.key.id)
      guard !sent.isEmpty else { continue }
      let verdicts = Dictionary(uniqueKeysWithValues: sent.map { ($0, Verdict.duplicate) })
      var actions = run.reply(lane, verdicts, epoch: "epoch 2")
      for id in sent { actions += try run.confirm(key(id)) }
      offered.formUnion(actions.sent.joined())
      lanes = [alice, bob]
      if [alice, bob, .device].allSatisfy({ run.machine.state(of: $0).inFlight == nil }) { break }
    }
    #expect(offered.isSuperset(of: ["100", "101", "102", "200"]))
  }

  @Test func `the first known ledger epoch changes nothing`() throws {
    var run = try MachineRun()
    let actions = try run.purchase("100", token: 1)
    #expect(!actions.events.contains(.ledgerChanged))
    _ = try run.restart()
    _ = try run.arrive(bought("101", token: 2))
    #expect(!run.reply(["101": .granted]).events.contains(.ledgerChanged))
  }

  // MARK: Quarantine

  @Test func `an entry is tried a day after it came into quarantine, and then daily`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    for _ in 0..<3 {
      let before = run.now
      #expect(run.letPass(inDays(1)).sent == [["100"]])
      #expect(run.now == before.adding(milliseconds: inDays(1)))
      #expect(run.reply(["100": .rejected]).quarantined == ["100"])
    }
  }

  @Test func `an old trial does not release later entries at once`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    _ = run.letPass(inDays(1))
    _ = run.reply(["100": .granted])
    run.now = run.now.adding(milliseconds: inDays(5))
    _ = try run.purchase("101", token: 2, .rejected)
    #expect(run.fire().sent == [])
    #expect(run.wake(.foreground).sent == [])
  }

  @Test func `a new version of the app tries quarantined entries at once, and once`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .rejected)
    #expect(try run.restart().quarantined == [])
    #expect(run.entry("100")?.state == .quarantined)
    #expect(try run.restart(appVersion: "2").sent == [["100"]])
    _ = run.reply(["100": .rejected])
    _ = try run.restart(appVersion: "2")
    #expect(run.entry("100")?.state == .quarantined)
  }

  @Test func `quarantine takes no capacity from entries that can be delivered`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.purchase("100", token: 1, .rejected)
    #expect(try run.arrive(bought("101", token: 2)).sent == [["101"]])
    _ = try run.fail(alice, .retry(reason: "down", retryAfterMilliseconds: nil))
    // There is no capacity for a release: the entry stays, and nothing is lost.
    run.now = run.now.adding(milliseconds: inDays(1))
    _ = run.fire()
    #expect(run.entry("100")?.state == .quarantined)
  }
}
