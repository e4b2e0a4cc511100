import MemoryModels
import PurchaseQueue
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// What is queued again of a purchase that was refunded before, and refused.
@Suite struct OverUpdateTests {
  /// The file after a purchase was settled as refunded, was queued again in a lane, and that was rejected.
  private func rejected(
    in lane: Lane, _ body: (SyncFile, _ before: Tombstone) throws -> Void
  ) throws {
    try TemporaryDirectory.with("OverUpdate") { directory in
      let file = try SyncFile(queue: QueueFile(path: directory + "/q", now: midday))
      var machine = SyncMachine(storage: file, policy: RetryPolicy(), seed: 1)
      _ = try machine.started(now: midday)
      _ = machine.begin(try machine.transactionArrived(bought("100"), now: midday), now: midday)
      _ = machine.replyArrived(lane: .device, Self.reply(.refunded), now: midday)
      let before = try #require(try file.tombstone(key("100")))
      #expect(before.verdict == .refunded)
      var update = NewEntry(key: key("100"), lane: lane, details: before.details, payloads: [])
      update.isUpdate = true
      guard case .inserted = try file.queue.enqueue(update, now: midday) else {
        Issue.record("the update is not queued")
        return
      }
      machine = SyncMachine(storage: file, policy: RetryPolicy(), seed: 1)
      _ = machine.begin(try machine.started(now: midday), now: midday)
      _ = machine.replyArrived(lane: lane, Self.reply(.rejected), now: midday)
      try body(file, before)
    }
  }

  private static func reply(_ verdict: Verdict) -> UploadReply {
    UploadReply(
      ledgerEpoch: "1",
      verdicts: [ClaimVerdict(environment: "Production", transactionID: "100", verdict: verdict)])
  }

  @Test func `an update of a refunded purchase that is rejected is nothing for support staff`() throws {
    try rejected(in: .device) { file, before in
      let left = try file.entry(key("100"))
      #expect(left == nil)
      let after = try file.tombstone(key("100"))
      #expect(after == before)
    }
  }

  @Test func `the question of an account is not answered by the refund of another one`() throws {
    try rejected(in: .question(of: "bob")) { file, before in
      let left = try file.entry(key("100"))
      #expect(left?.state == .quarantined)
      let after = try file.tombstone(key("100"))
      #expect(after == before)
    }
  }
}
