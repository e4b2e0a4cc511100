import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Verdicts that settle nothing, and replies that say anything.
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

  @Test func `a pending entry is passed by the others, and asked about when the backend said`() throws {
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
  func `a wait that is none, or a year, is at most a day`(seconds: Double) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply(["100": .pending], retryAfter: seconds)
    #expect(run.letPass(inDays(1)).sent == [["100"]])
  }

  @Test func `pending for days without a wait of the backend's is asked about less and less often`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    var rounds = 0
    let end = midday.adding(milliseconds: inDays(2))
    while run.now < end {
      _ = run.reply(["100": .pending])
      _ = run.letPass(inDays(1))
      rounds += 1
    }
    // 48 hours at half an hour each, and some at the beginning.
    #expect((40...200).contains(rounds), "\(rounds) uploads in two days")
    #expect(run.entry("100")?.state == .queued, "pending is never parked")
  }

  @Test func `an unknown transaction has the receipt read, is asked ten times, and is then parked`() throws {
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
    #expect(run.entry("100")?.proofs.map(\.kind) == ["appReceipt", "signedTransaction"])
    // The same one again is nothing new.
    _ = run.reply(["100": .unknownTransaction])
    #expect(try run.proofFound("receipt", for: key("100")) == [])
    // Of something that is not here any more, nothing is kept.
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
  func `what is said of a proof that was replaced meanwhile is said of nothing`(verdict: Verdict) throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1, proof: "old"))
    _ = try run.arrive(bought("100", token: 1, proof: "new"))
    let actions = run.reply(["100": verdict])
    #expect(actions.sent == [["100"]])
    #expect(actions.quarantined == [])
  }

  @Test func `a rejected one is parked with its reason, and a new proof brings it back`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = run.reply([
      ClaimVerdict(environment: "Production", transactionID: "100", verdict: .rejected, reason: "forged")
    ])
    #expect(run.entry("100")?.reason == "rejected: forged")
    #expect(try run.arrive(bought("100", token: 1)) == [], "the same proof is no reason to try again")
    #expect(try run.arrive(bought("100", token: 1, proof: "new")).sent == [["100"]])
  }

  @Test func `with a full quarantine it is set aside in its lane, and others pass it`() throws {
    var run = try MachineRun(limits: QueueLimits(quarantinedEntries: 1))
    _ = try run.purchase("100", token: 1, .rejected)
    _ = try run.arrive(bought("101", token: 2))
    _ = try run.arrive(bought("102", token: 3))
    let actions = run.reply(["101": .rejected])
    #expect(actions.setAside == ["101"])
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

  @Test func `one that is never answered while others are is parked after a day`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let end = midday.adding(milliseconds: inDays(2))
    while run.now < end, run.reply([String: Verdict]()).quarantined.isEmpty { _ = run.letPass(inDays(1)) }
    #expect(run.entry("100")?.state == .quarantined)
    #expect(run.now > midday.adding(milliseconds: inDays(1) - 1))
  }

  @Test func `a verdict about something else is ignored, and reported`() throws {
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

  @Test func `of contradicting verdicts the first counts, and a repeated one is no contradiction`() throws {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    let granted = ClaimVerdict(environment: "Production", transactionID: "100", verdict: .granted)
    let rejected = ClaimVerdict(environment: "Production", transactionID: "100", verdict: .rejected)
    let actions = run.reply([granted, granted, rejected])
    #expect(actions.faults == ["contradicting verdicts about Production/100"])
    #expect(actions.delivered.map(\.verdict) == [.granted])
  }

  @Test func `the order in a verdict binds what was only proposed`() throws {
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

  @Test func `news that came while the upload was out is not lost with its verdict`() throws {
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
