import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

@Suite struct SyncMachineTests {
  let noon = Timestamp(milliseconds: 1_700_000_000_000)
  let token = UUID()

  /// A machine over a real file in a directory of its own, with one open order of alice.
  private func withMachine(_ body: (inout SyncMachine<SyncFile>) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.path + "/SyncMachineTests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(atPath: directory) } catch { Issue.record(error) }
    }
    let file = try SyncFile(queue: QueueFile(path: directory + "/q", now: noon))
    let document = OrderDocument(
      number: "1", accountToken: token, productID: "gems", quantity: 1, state: .open, createdAt: noon)
    _ = try file.save(document, account: "alice", answering: "key", now: noon)
    var machine = SyncMachine(storage: file, policy: RetryPolicy())
    try body(&machine)
  }

  private func transaction(_ id: String = "100", token: UUID?, product: String = "gems") -> StoreTransaction {
    StoreTransaction(
      environment: .production, transactionID: id, originalTransactionID: id, productID: product, quantity: 1,
      purchasedAt: noon, accountToken: token,
      proof: Proof(kind: "signedTransaction", bytes: Array("x.y.z".utf8)))
  }

  private func arrive(_ machine: inout SyncMachine<SyncFile>, _ value: StoreTransaction) throws
    -> [SyncAction]
  {
    try machine.transactionArrived(value, details: TransactionDetails(value).text(), now: noon)
  }

  private func reply(_ verdict: Verdict, id: String = "100") -> UploadReply {
    UploadReply(
      ledgerEpoch: "e",
      verdicts: [
        ClaimVerdict(environment: "Production", transactionID: id, verdict: verdict, orderNumber: "1")
      ])
  }

  @Test func `a token binds to its order, and the attempt is durable before the send`() throws {
    try withMachine { machine in
      let actions = try arrive(&machine, transaction(token: token))
      guard case .send(let lane, let entries)? = actions.last else {
        Issue.record("nothing was sent: \(actions)")
        return
      }
      #expect(lane == .account("alice"))
      #expect(entries.map(\.orderNumber) == ["1"])
      #expect(try machine.storage.queue.allEntries().map(\.attempts) == [1])
    }
  }

  @Test func `another product or no token binds to nothing and goes to the device lane`() throws {
    try withMachine { machine in
      _ = try arrive(&machine, transaction("1", token: token, product: "coins"))
      _ = try arrive(&machine, transaction("2", token: nil))
      let entries = try machine.storage.queue.allEntries()
      #expect(entries.map(\.lane) == [.device, .device])
      #expect(entries.map(\.orderNumber) == [nil, nil])
    }
  }

  @Test(arguments: [Verdict.granted, .duplicate, .lapsed, .refunded, .otherOwner])
  func `a settling verdict leaves a tombstone, then finishes, then tells`(verdict: Verdict) throws {
    try withMachine { machine in
      var random = SplitMix64(seed: 1)
      _ = try arrive(&machine, transaction(token: token))
      let actions = try machine.replyArrived(
        lane: .account("alice"), reply(verdict), now: noon, using: &random)
      let tombstone = try #require(try machine.storage.tombstonesWithDuties().first)
      #expect(actions.prefix(2) == [.finish(tombstone), .emit(.delivered(Outcome(tombstone)))])
      #expect(try machine.storage.queue.allEntries().isEmpty)
      #expect(try machine.storage.order(accountToken: token)?.state == .delivered)
      try machine.finished(tombstone.key)
      #expect(try arrive(&machine, transaction(token: token)) == [.finish(tombstone.finished)])
    }
  }

  @Test(arguments: [
    Verdict.pending, .unknownTransaction, Verdict(rawValue: "of a newer protocol"), .rejected,
  ])
  func `a verdict that settles nothing keeps the entry and finishes nothing`(verdict: Verdict) throws {
    try withMachine { machine in
      var random = SplitMix64(seed: 1)
      _ = try arrive(&machine, transaction(token: token))
      let actions = try machine.replyArrived(
        lane: .account("alice"), reply(verdict), now: noon, using: &random)
      #expect(!actions.contains { if case .finish = $0 { true } else { false } })
      let entry = try #require(try machine.storage.queue.allEntries().first)
      #expect(verdict == .rejected ? entry.state == .quarantined : entry.readyAt > noon)
    }
  }

  @Test func `a verdict for something else is ignored, and the claim is asked again`() throws {
    try withMachine { machine in
      var random = SplitMix64(seed: 1)
      _ = try arrive(&machine, transaction(token: token))
      let lane = Lane.account("alice")
      _ = try machine.replyArrived(lane: lane, reply(.granted, id: "666"), now: noon, using: &random)
      #expect(try machine.storage.queue.allEntries().count == 1)
      let later = try machine.timerFired(now: noon.adding(milliseconds: 3_600_000))
      #expect(later.contains { if case .send = $0 { true } else { false } })
    }
  }

  @Test func `one request is out per lane, and a failure waits before the next`() throws {
    try withMachine { machine in
      var random = SplitMix64(seed: 1)
      _ = try arrive(&machine, transaction(token: token))
      #expect(try arrive(&machine, transaction("101", token: token)).count == 1)
      let actions = try machine.uploadFailed(
        lane: .account("alice"), .retry(reason: "503", retryAfterMilliseconds: 60_000), now: noon,
        using: &random)
      #expect(!actions.contains { if case .send = $0 { true } else { false } })
      // A wake-up does not shorten what the backend asked for.
      let woken = try machine.woken(now: noon.adding(milliseconds: 59_000))
      #expect(!woken.contains { if case .send = $0 { true } else { false } })
      let late = try machine.timerFired(now: noon.adding(milliseconds: 72_001))
      #expect(late.contains { if case .send = $0 { true } else { false } })
    }
  }

  @Test func `a lane without credentials waits until the app says that there are some`() throws {
    try withMachine { machine in
      var random = SplitMix64(seed: 1)
      _ = try arrive(&machine, transaction(token: token))
      let lane = Lane.account("alice")
      #expect(
        try machine.uploadFailed(lane: lane, .signInNeeded, now: noon, using: &random)
          == [.emit(.signInNeeded(lane))])
      #expect(try machine.timerFired(now: noon.adding(milliseconds: 86_400_000)).isEmpty)
      #expect(try machine.woken(now: noon).contains { if case .send = $0 { true } else { false } })
    }
  }

  @Test func `a finish that fails is owed until it works, and an outcome is told until it is confirmed`()
    throws
  {
    try withMachine { machine in
      var random = SplitMix64(seed: 1)
      _ = try arrive(&machine, transaction(token: token))
      _ = try machine.replyArrived(lane: .account("alice"), reply(.granted), now: noon, using: &random)
      let tombstone = try #require(try machine.storage.tombstonesWithDuties().first)
      _ = machine.finishFailed(tombstone.key, now: noon, using: &random)
      var restarted = SyncMachine(storage: machine.storage, policy: RetryPolicy())
      #expect(
        try restarted.started(now: noon) == [.emit(.delivered(Outcome(tombstone))), .finish(tombstone)])
      try restarted.outcomeConfirmed(tombstone.key)
      try restarted.finished(tombstone.key)
      var again = SyncMachine(storage: machine.storage, policy: RetryPolicy())
      #expect(try again.started(now: noon).isEmpty)
    }
  }
}

extension Tombstone {
  fileprivate var finished: Tombstone {
    var copy = self
    copy.isFinishOwed = false
    return copy
  }
}
