import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Verdicts that settle nothing, and replies with any content.
@Suite struct SyncMachineVerdictTests {
  @Test(arguments: [
    Verdict.pending, .unknownTransaction, .rejected, Verdict(rawValue: "of a newer protocol"),
  ])
  func `a verdict that settles nothing keeps the entry and finishes nothing`(verdict: Verdict) throws {
    var run = try MachineRun()
    let actions = try run.purchase("100", token: 1, verdict)
    #expect(actions.finished == [] && actions.delivered == [])
    let entry = try #require(run.entry("100"))
    #expect(verdict == .rejected ? entry.state == .quarantined : entry.readyAt > midday)
    #expect(run.storage.tombstone(key("100")) == nil)
  }

  @Test func `a pending entry is passed by the others, and sent again at its Retry-After`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("101", token: 2))
    #expect(run.reply(["100": .pending], retryAfter: 3_600).sent == [["101"]])
    _ = run.reply(["101": .granted])
    #expect(run.wake(.foreground).sent == [])
    #expect(run.wake(.userAsked).sent == [])
    #expect(run.letPass(3_599_999).sent == [])
    #expect(run.letPass(3_600_000 / 5 + 1).sent == [["100"]])
  }

  @Test(arguments: [-1.0, 1e300, .infinity, .nan])
  func `a Retry-After of no number, or of a year, leads to a wait of a day at most`(seconds: Double) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .pending], retryAfter: seconds)
    #expect(run.letPass(inDays(1)).sent == [["100"]])
  }

  @Test func `an entry that is pending for days without a Retry-After is sent less and less often`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    var rounds = 0
    let end = midday.adding(milliseconds: inDays(2))
    while run.now < end {
      _ = run.reply(["100": .pending])
      _ = run.letPass(inDays(1))
      rounds += 1
    }
    // 48 hours at 15 to 20 minutes each, and some at the beginning.
    #expect((40...200).contains(rounds), "\(rounds) uploads in two days")
    #expect(run.entry("100")?.state == .queued, "pending is never quarantined")
  }

  @Test func `for an unknown transaction the receipt is read; after ten verdicts it is quarantined`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    for _ in 1..<10 {
      #expect(run.reply(["100": .unknownTransaction]).read == ["100"])
      #expect(run.letPass(inDays(1)).sent == [["100"]])
    }
    let last = run.reply(["100": .unknownTransaction])
    #expect(last.quarantined == ["100"])
    #expect(last.read == [])
    #expect(run.entry("100")?.state == .quarantined)
  }

  @Test func `a receipt that holds the transaction ends the wait for it`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .unknownTransaction)
    #expect(try run.proofFound("receipt", for: key("100")).sent == [["100"]])
    #expect(run.entry("100")?.payloads.map(\.kind) == ["appReceipt", "signedTransaction"])
    // The same receipt again changes nothing.
    _ = run.reply(["100": .unknownTransaction])
    #expect(try run.proofFound("receipt", for: key("100")) == [])
    // A receipt for an entry that has left the queue is not stored.
    #expect(try run.proofFound("receipt", for: key("200")) == [])
  }

  @Test(arguments: [Verdict.unknownTransaction, .pending])
  func `a receipt does not shorten a wait that the backend asked for`(verdict: Verdict) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": verdict], retryAfter: 600)
    #expect(try run.proofFound("receipt", for: key("100")).sent == [])
    #expect(run.letPass(599_999).sent == [])
    #expect(run.letPass(120_001).sent == [["100"]])
  }

  @Test(arguments: [Verdict.unknownTransaction, .rejected])
  func `a verdict about a proof that was replaced in flight is ignored`(verdict: Verdict) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1, proof: "old"))
    _ = try run.arrive(bought("100", token: 1, proof: "new"))
    let actions = run.reply(["100": verdict])
    #expect(actions.sent == [["100"]])
    #expect(actions.quarantined == [])
  }

  @Test func `a rejected entry is quarantined with its reason, and a new proof releases it`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply([
      ClaimVerdict(environment: "Production", transactionID: "100", verdict: .rejected, reason: "forged")
    ])
    #expect(run.entry("100")?.reason == "rejected: forged")
    #expect(try run.arrive(bought("100", token: 1)) == [], "the same proof is no reason to try again")
    #expect(try run.arrive(bought("100", token: 1, proof: "new")).sent == [["100"]])
  }

  @Test func `with a full quarantine the entry is postponed in its lane, and others pass it`() throws {
    var run = try MachineRun(limits: QueueLimits(quarantinedEntries: 1))
    _ = try run.purchase("100", token: 1, .rejected)
    _ = try run.arrive(bought("101", token: 2))
    _ = try run.arrive(bought("102", token: 3))
    let actions = run.reply(["101": .rejected])
    #expect(actions.postponed == ["101"])
    #expect(actions.sent == [["102"]])
    #expect(run.entry("101")?.state == .queued)
  }

  // MARK: Partial, foreign and contradicting replies

  @Test func `claims without a verdict are tried again, each by itself, and reported`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("first"))
    _ = try run.arrive(bought("100", proof: "shared"))
    _ = try run.arrive(bought("101", proof: "shared"))
    _ = run.reply(.device, ["first": .granted])
    let actions = run.reply(.device, ["101": .granted])
    #expect(actions.delivered.map(\.key) == [key("101")])
    #expect(actions.faults == ["1 of 2 claims were not answered"])
    #expect(run.storage.watch(of: key("100")).failedRounds == 1)
    #expect(run.letPass(10_000).sent == [["100"]])
  }

  @Test func `an entry that is never answered while others are is quarantined after a day`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let end = midday.adding(milliseconds: inDays(2))
    while run.now < end, run.reply([String: Verdict]()).quarantined.isEmpty { _ = run.letPass(inDays(1)) }
    #expect(run.entry("100")?.state == .quarantined)
    #expect(run.now > midday.adding(milliseconds: inDays(1) - 1))
  }

  @Test func `a verdict about a transaction that was not sent is ignored and reported`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let foreign = [
      ClaimVerdict(environment: "Production", transactionID: "666", verdict: .granted),
      ClaimVerdict(environment: "Sandbox", transactionID: "100", verdict: .granted),
      ClaimVerdict(environment: "Production", transactionID: "10", verdict: .granted),
      ClaimVerdict(environment: "Production", transactionID: "1000", verdict: .granted),
    ]
    let actions = run.reply(foreign)
    #expect(actions.faults.count == 5)
    #expect(run.entry("100") != nil && run.storage.tombstone(key("100")) == nil)
    #expect(run.storage.tombstone(key("666")) == nil)
  }

  @Test func `thousands of verdicts about other transactions, or about one, are a few events`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let foreign = (0..<5_000).map {
      ClaimVerdict(environment: "Production", transactionID: "other \($0)", verdict: .granted)
    }
    let same = (0..<5_000).map {
      ClaimVerdict(environment: "Production", transactionID: "100", verdict: .granted, reason: "\($0)")
    }
    let actions = run.reply(foreign + same)
    #expect(actions.faults.count == 10)
    #expect(actions.faults.contains { $0.contains("4992 more") })
    #expect(actions.delivered.map(\.verdict) == [.granted])
  }

  @Test func `the first of contradicting verdicts counts, and a repeated verdict is no contradiction`() throws
  {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let granted = ClaimVerdict(environment: "Production", transactionID: "100", verdict: .granted)
    let rejected = ClaimVerdict(environment: "Production", transactionID: "100", verdict: .rejected)
    let actions = run.reply([granted, granted, granted, rejected])
    #expect(actions.faults == ["contradicting verdicts about Production/100"])
    #expect(actions.delivered.map(\.verdict) == [.granted])
  }

  @Test func `the order in a verdict binds a proposed match`() throws {
    var run = try MachineRun(orders: [1, 2])
    _ = try run.arrive(bought("100"))
    #expect(run.entry("100")?.orderNumber == nil)
    let actions = run.reply(["100": .granted], order: "2")
    #expect(actions.events.first == .matched(key("100"), orderNumber: "2"))
    #expect(run.storage.tombstone(key("100"))?.orderNumber == "2")
    #expect(run.storage.book.order("2")?.boundTo == key("100"))
    #expect(run.storage.book.order("2")?.state == .delivered)
    #expect(run.storage.book.order("1")?.boundTo == nil)
  }

  @Test func `a verdict that contradicts a binding is reported, and the binding stays`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let actions = run.reply(["100": .granted], order: "2")
    #expect(actions.faults == ["Production/100: it is bound to another order"])
    #expect(actions.delivered.map(\.orderNumber) == ["1"])
    #expect(run.storage.book.order("2")?.boundTo == nil)
  }

  @Test func `an update that came while its upload was in flight is not lost with the verdict`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    var revoked = bought("100", token: 1, proof: "revoked")
    revoked.revokedAt = midday
    #expect(try run.arrive(revoked) == [])
    let actions = run.reply(["100": .granted])
    #expect(actions.finished == ["100"])
    #expect(actions.events.contains(.updateQueued(key("100"))))
    #expect(actions.sent == [["100"]])
    #expect(run.reply(["100": .refunded]).delivered.map(\.verdict) == [.refunded])
  }
}
