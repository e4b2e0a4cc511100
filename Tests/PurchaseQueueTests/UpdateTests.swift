import Foundation
import PurchaseQueue
import Testing

/// Updates of settled entries.
@Suite struct UpdateTests {
  private let key = EntryKey(rawValue: "Production/1")

  private func new(_ details: String, isUpdate: Bool = false) -> NewEntry {
    var new = NewEntry(key: key, lane: .account("alice"), orderNumber: "A-1", details: details, payloads: [])
    new.isUpdate = isUpdate
    return new
  }

  @Test func `An update is queued beside its tombstone, and replaces it when it is settled`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      _ = try queue.enqueue(new("paid"), now: noon)
      let owing = Settlement(key: key, outcome: "granted", hasPendingFinish: true, isUnconfirmed: true)
      try queue.acknowledge([owing], now: noon)
      guard case .settled = try queue.enqueue(new("refunded"), now: noon) else {
        Issue.record("a redelivery was queued")
        return
      }
      guard case .inserted(let entry) = try queue.enqueue(new("refunded", isUpdate: true), now: noon) else {
        Issue.record("the update was not queued")
        return
      }
      #expect(entry.details == "refunded" && entry.orderNumber == "A-1" && !entry.isUnprotected)
      #expect(try queue.tombstone(key)?.outcome == "granted")
      guard case .collapsed = try queue.enqueue(new("again"), now: noon) else {
        Issue.record("a redelivery did not collapse into the update")
        return
      }
      let ended = try queue.acknowledge(
        [Settlement(key: key, outcome: "refunded", isUnconfirmed: true)], now: noon)
      #expect(ended.map(\.outcome) == ["refunded"] && ended.map(\.isFinishPending) == [true])
      #expect(try queue.tombstone(key) == ended.first)
      let health = try queue.health()
      #expect(health.tombstones == 1 && health.unconfirmed == 1 && health.queued == 0)
    }
  }

  @Test func `An opening copies no update into the vault, where a reinstall takes it for a purchase`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      _ = try queue.enqueue(new("paid"), now: noon)
      try queue.acknowledge([Settlement(key: key, outcome: "granted")], now: noon)
      _ = try queue.enqueue(new("paid", isUpdate: true), now: noon)
      let purchase = EntryKey(rawValue: "Production/2")
      _ = try queue.enqueue(NewEntry(key: purchase, lane: .device, payloads: []), now: noon)
      let reopened = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      #expect(try reopened.allEntries().map(\.key) == [key, purchase])
      let reinstalled = try QueueFile(path: directory + "/new", vault: vault, now: noon)
      #expect(try reinstalled.allEntries().map(\.key) == [purchase])
    }
  }

  @Test func `Entries that are postponed beyond a moment do not hide ready ones`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/q", now: noon)
      for number in 1...6 {
        let key = EntryKey(rawValue: "\(number)")
        _ = try queue.enqueue(NewEntry(key: key, lane: .device, payloads: []), now: noon)
        if number <= 4 {
          try queue.postpone(key, until: noon.adding(milliseconds: Int64(number) * 1_000), now: noon)
        }
      }
      func ready(_ seconds: Int64) throws -> [String] {
        let moment = noon.adding(milliseconds: seconds * 1_000)
        return try queue.entries(in: .device, readyBy: moment, limit: 2).map(\.key.rawValue)
      }
      #expect(try ready(0) == ["5", "6"])
      #expect(try ready(1) == ["5", "6"])
      for key in ["5", "6"] {
        _ = try queue.acknowledge([Settlement(key: EntryKey(rawValue: key))], now: noon)
      }
      #expect(try ready(1) == ["1"])
      #expect(try ready(9) == ["1", "2"])
      // The first entry is postponed again and is due after those that have waited longer.
      try queue.postpone(EntryKey(rawValue: "1"), until: noon.adding(milliseconds: 8_000), now: noon)
      #expect(try ready(9) == ["2", "3"])
      #expect(try queue.entries(in: .device, limit: 2).map(\.key.rawValue) == ["1", "2"], "by place")
    }
  }
}
