import AppStoreReceipts
import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// One purchase and its account.
@Suite struct SyncMachineTests {
  @Test func `an entry is queued and its attempt counted before it is sent`() throws {
    var run = try MachineRun()
    let actions = try run.arrive(bought("100", token: 1))
    #expect(actions.sent == [["100"]])
    #expect(run.entry("100")?.attempts == 1)
    #expect(run.entry("100")?.attemptedAt == midday)
    #expect(run.entry("100")?.orderNumber == "1")
    guard case .queued(key("100"), let match)? = actions.events.first else {
      Issue.record("the app was not told first: \(actions)")
      return
    }
    #expect(match.evidence == [.accountToken])
    #expect(match.lane == alice)
  }

  @Test
  func `a full storage leaves the transaction to the store, and asks for it when there is capacity`()
    throws
  {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.arrive(bought("100", token: 1))
    #expect(throws: QueueError.queueFull(.entries, needed: 2, allowed: 1)) { try run.arrive(bought("101")) }
    _ = try run.listed([key("101")])
    let settled = run.reply(["100": .granted])
    #expect(settled.finished == ["100"])
    #expect(settled.contains(.listStore), "an outcome that is not confirmed takes no capacity")
    #expect(try run.arrive(bought("101")).sent == [["101"]])
    #expect(try run.confirm(key("100")) == [])
  }

  @Test
  func `while a request is in flight, the store is not listed again for each entry that freed capacity`()
    throws
  {
    var run = try MachineRun(limits: QueueLimits(entries: 2))
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("101", token: 2))
    #expect(throws: QueueError.self) { try run.arrive(bought("102", token: 3)) }
    let settled = run.reply(["100": .granted])
    #expect(settled.sent == [["101"]])
    #expect(!settled.contains(.listStore))
    #expect(try run.confirm(key("100")) == [])
    // No request is in flight any more, whatever its result was. Now one listing brings all waiting transactions.
    let failed = try run.fail(alice, .retry(reason: "no answer", retryAfterMilliseconds: nil))
    #expect(failed.contains(.listStore))
  }

  @Test(arguments: [Verdict.granted, .duplicate, .lapsed, .refunded, .otherOwner])
  func `after a settling verdict come the tombstone, the finish and the outcome for the app, in this order`(
    verdict: Verdict
  ) throws {
    var run = try MachineRun()
    let actions = try run.purchase("100", token: 1, verdict)
    let tombstone = try #require(run.storage.tombstone(key("100")))
    #expect(actions == [.finish(tombstone), .emit(SyncEvent(publishing: Outcome(tombstone)))])
    #expect(tombstone.isFinishPending && tombstone.isUnconfirmed)
    #expect(run.storage.allEntries.isEmpty)
    let outcome = try #require(actions.delivered.first)
    #expect(outcome.verdict == verdict)
    // Nothing is said about the order of another account's purchase.
    #expect(outcome.orderNumber == (verdict == .otherOwner ? nil : "1"))
    #expect(outcome.owner == (verdict == .otherOwner ? .another : .yours))
    #expect(outcome.lane == alice)
  }

  @Test func `a redelivery of a settled transaction is finished at once and sends nothing`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    // While the first call is in flight, there must be no second one.
    #expect(try run.arrive(bought("100", token: 1)) == [])
    _ = try run.finishEnded(key("100"), .finished)
    let again = try run.arrive(bought("100", token: 1))
    #expect(again.finished == ["100"])
    #expect(again.count == 1)
  }

  @Test func `a thousand settled transactions of a launch send nothing`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 2_000))
    for id in 0..<1_000 {
      _ = try run.purchase(String(id))
      _ = try run.finishEnded(key(String(id)), .finished)
      _ = try run.confirm(key(String(id)))
    }
    #expect(try run.restart() == [])
    for id in 0..<1_000 {
      let actions = try run.arrive(bought(String(id)))
      #expect(actions.count == 1)
      #expect(actions.finished == [String(id)])
    }
  }

  @Test func `redeliveries collapse into one entry that keeps its place, its order and its attempts`() throws
  {
    var run = try MachineRun()
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(bought("101", token: 2))
    let before = try #require(run.entry("100"))
    #expect(try run.arrive(bought("100", token: 1)).isEmpty)
    #expect(run.entry("100") == before)
    #expect(run.storage.allEntries.count == 2)
  }

  @Test func `each lane has one request in flight, and lanes do not wait for each other`() throws {
    var run = try MachineRun(orders: [])
    run.storage.book.add(1)
    run.storage.book.add(9, account: "bob", product: "coins")
    #expect(try run.arrive(bought("100", token: 1)).sent == [["100"]])
    #expect(try run.arrive(bought("101", token: 1)).sent == [])
    let other = payment("102", token: orderToken(9), product: "coins")
    #expect(try run.arrive(other).sent == [["102"]])
    #expect(try run.arrive(bought("103")).sent == [["103"]], "the device lane")
    #expect(run.reply(["100": .granted]).sent == [["101"]])
  }

  @Test func `a transaction without a known owner is sent in the device's name`() throws {
    var run = try MachineRun(orders: [])
    let actions = try run.arrive(bought("100"))
    #expect(run.entry("100")?.lane == .device)
    #expect(actions.sent == [["100"]])
  }

  @Test func `entries behind the head join its upload in order, whatever their proofs`() throws {
    var run = try MachineRun(orders: [])
    _ = try run.arrive(bought("100", proof: "first"))
    for (id, proof) in [("101", "shared"), ("102", "shared"), ("103", "own"), ("104", "shared")] {
      _ = try run.arrive(bought(id, proof: proof))
    }
    #expect(run.reply(.device, ["100": .granted]).sent == [["101", "102", "103", "104"]])
    #expect(run.entry("104")?.attempts == 1)
  }

  @Test func `an upload carries a hundred claims at most`() throws {
    var run = try MachineRun(orders: [], limits: QueueLimits(entries: 300))
    _ = try run.arrive(bought("first"))
    for id in 0..<150 { _ = try run.arrive(bought(String(id), proof: "shared")) }
    #expect(run.reply(.device, ["first": .granted]).sent.map(\.count) == [100])
  }

  @Test func `two entries with the same name in the protocol are never in one upload`() throws {
    var run = try MachineRun(orders: [])
    func testing(_ at: Int64) -> StoreTransaction {
      payment("0", at: at) {
        $0.environment = .xcode
        $0.proof = Payload(kind: "appReceipt", bytes: [1])
      }
    }
    _ = try run.arrive(bought("first"))
    _ = try run.arrive(testing(0))
    _ = try run.arrive(testing(60_000))
    let first = run.reply(.device, ["first": .granted])
    #expect(first.sent.map(\.count) == [1])
    let verdict = ClaimVerdict(environment: "Xcode", transactionID: "0", verdict: .granted)
    let second = run.reply(.device, [verdict])
    #expect(second.delivered.map(\.key) == [testing(0).key])
    #expect(second.sent.map(\.count) == [1])
  }

  @Test func `an outcome is delivered at each start until the app has confirmed it`() throws {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1)
    #expect(try run.restart().delivered.map(\.key) == [key("100")])
    #expect(try run.restart().delivered.map(\.key) == [key("100")])
    _ = try run.confirm(key("100"))
    #expect(try run.restart().delivered == [])
  }
}
