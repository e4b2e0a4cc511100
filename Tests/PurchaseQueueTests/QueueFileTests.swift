import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite struct QueueFileTests {
  @Test(arguments: [
    ("", 0xEF46_DB37_51D8_E999 as UInt64), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
  ])
  func `the checksum is XXH64`(text: String, expected: UInt64) {
    #expect(Checksum.of(Array(text.utf8)) == Int64(bitPattern: expected))
  }

  @Test func `entries leave a lane in the order of enqueuing, and lanes do not mix`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      for key in ["a", "b", "c"] { _ = try queue.enqueue(entry(key), now: noon) }
      _ = try queue.enqueue(entry("d", lane: .device), now: noon)
      var left: [String] = []
      while let head = try queue.head(of: .account("alice")) {
        left.append(head.key.rawValue)
        try queue.acknowledge(
          [Settlement(key: head.key, outcome: "granted", hasPendingFinish: true)], now: noon)
      }
      #expect(left == ["a", "b", "c"])
      #expect(try queue.head(of: .device)?.key.rawValue == "d")
      #expect(try queue.lanes() == [.device])
    }
  }

  @Test func `a second enqueue collapses, fills a missing order and keeps the attempts`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      try queue.recordAttempt([EntryKey(rawValue: "a")], now: noon)
      var again = entry("a", lane: .device, order: "42")
      again.details = "other"
      guard case .collapsed(let collapsed) = try queue.enqueue(again, now: noon) else {
        Issue.record("not collapsed")
        return
      }
      #expect(collapsed.lane == .account("alice"))
      #expect(collapsed.orderNumber == "42")
      #expect(collapsed.attempts == 1)
      #expect(try queue.count() == 1)
    }
  }

  @Test func `a settled entry is not queued again`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      try queue.acknowledge(
        [
          Settlement(
            key: EntryKey(rawValue: "a"), outcome: "granted", hasPendingFinish: true, isUnconfirmed: true)
        ],
        now: noon)
      guard case .settled(let tombstone) = try queue.enqueue(entry("a"), now: noon) else {
        Issue.record("queued again")
        return
      }
      #expect(tombstone.outcome == "granted")
      #expect(tombstone.isFinishPending && tombstone.isUnconfirmed)
      try queue.markFinished(tombstone.key)
      #expect(try queue.tombstonesWithDuties().map(\.isUnconfirmed) == [true])
      try queue.markConfirmed(tombstone.key)
      #expect(try queue.tombstonesWithDuties().isEmpty)
      #expect(try used(queue) == [0, 0])
    }
  }

  @Test func `a payload that two entries share is stored once and removed with the last`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      for key in ["a", "b"] {
        var new = entry(key)
        new.payloads = [Payload(kind: "receipt", bytes: Array(repeating: 7, count: 1_000))]
        _ = try queue.enqueue(new, now: noon)
      }
      #expect(try used(queue) == [2, 1_000])
      try queue.acknowledge(
        [Settlement(key: EntryKey(rawValue: "a"), outcome: "x", hasPendingFinish: false)], now: noon)
      #expect(try used(queue) == [1, 1_000])
      try queue.acknowledge(
        [Settlement(key: EntryKey(rawValue: "b"), outcome: "x", hasPendingFinish: false)], now: noon)
      #expect(try used(queue) == [0, 0])
    }
  }

  @Test(arguments: [
    QueueLimits(entries: 1), QueueLimits(totalBytes: 150), QueueLimits(textBytes: 20),
  ])
  func `a full queue throws and changes nothing`(limits: QueueLimits) async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", limits: limits, now: noon)
      var first = entry("a", bytes: 90)
      first.details = ""
      _ = try queue.enqueue(first, now: noon)
      let before = try queue.allEntries()
      #expect(throws: QueueError.self) { try queue.enqueue(entry("b"), now: noon) }
      #expect(try queue.allEntries() == before)
      #expect(try used(queue) == [1, 90])
    }
  }

  #if os(Linux) || os(macOS)
    @Test(arguments: [(Checkpoint.enqueueBegin, 1), (.enqueueCommitted, 2)])
    func `a kill leaves every commit that returned, and no other`(
      point: Checkpoint, left: Int
    ) async throws {
      try await withTemporaryDirectory { directory in
        let path = directory + "/q"
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [path = path as String, point = point.rawValue as String] in
          _ = try QueueFile(path: path, now: noon).enqueue(entry("a"), now: noon)
          let setup = QueueSetup(
            path: path, checkpoint: { if $0.rawValue == point { kill(getpid(), SIGKILL) } })
          _ = try QueueFile(setup, now: noon).enqueue(entry("b"), now: noon)
        }
        let queue = try QueueFile(path: path, now: noon)
        #expect(try queue.allEntries().count == left)
      }
    }
  #endif
}
