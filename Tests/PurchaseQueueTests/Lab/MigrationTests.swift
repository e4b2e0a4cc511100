import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A migration changes the version of a file in one commit, or leaves the file unchanged.
@Suite struct MigrationTests {
  @Test func `a file of an earlier version is migrated with everything in it`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try EarlierQueue.make(at: site.path)
      try expectEverything(in: site.open())
      let first = try files(in: directory)["q"]
      try expectEverything(in: site.open())
      #expect(try files(in: directory)["q"] == first)
      #expect(try QueueCheck.run(path: site.path).isClean)
      #expect(try site.leftovers() == [])
    }
  }

  @Test func `a migrated queue continues where the old one stopped`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try EarlierQueue.make(at: site.path)
      let queue = try site.open()
      var again = entry("a")
      again.payloads = [Payload(kind: "payload", bytes: EarlierQueue.own)]
      guard case .collapsed = try queue.enqueue(again, now: noon) else {
        Issue.record("not collapsed")
        return
      }
      _ = try queue.enqueue(entry("d"), now: noon)
      #expect(try names(queue.allEntries()) == ["a", "b", "c", "d"])
      try queue.acknowledge([Settlement(key: key("b"))], now: noon)
      #expect(
        try queue.payload(#require(queue.entry(key("c"))?.payloads.first))?.bytes == EarlierQueue.shared)
      try queue.acknowledge([Settlement(key: key("c"))], now: noon)
      #expect(try queue.health().bytes == EarlierQueue.own.count + 100)
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  /// An obstacle to an early step, to one in the middle, and to a late one.
  @Test(arguments: ["TABLE old_entries(x)", "TABLE totals(x)", "VIEW queue AS SELECT 1"])
  func `an error in the middle of a migration leaves the file unchanged`(obstacle: String) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try EarlierQueue.make(at: site.path)
      try Connection(path: site.path).execute("CREATE \(obstacle)")
      let before = try files(in: directory)["q"]
      #expect(throws: QueueError.self) { try site.open() }
      #expect(try files(in: directory)["q"] == before)
      #expect(try site.leftovers() == [])
      let name = try #require(obstacle.split(whereSeparator: { " (".contains($0) }).dropFirst().first)
      let kind = obstacle.hasPrefix("VIEW") ? "VIEW" : "TABLE"
      try Connection(path: site.path).execute("DROP \(kind) \(name)")
      try expectEverything(in: site.open())
    }
  }

  #if os(Linux) || os(macOS)
    @Test(arguments: [1_000, 5_000, 12_000])
    func `a kill in the middle of a migration leaves the earlier version`(bytes: Int) async throws {
      try await withTemporaryDirectory { directory in
        let site = Site(directory: directory)
        try EarlierQueue.make(at: site.path)
        // The signal for the size limit kills the process while it writes the log.
        await #expect(processExitsWith: .signal(SIGXFSZ)) {
          [path = site.path as String, bytes = bytes as Int] in
          try dieOfFileSize(bytes)
          _ = try QueueFile(path: path, now: noon)
        }
        #expect(try Connection(path: site.path, access: .readOnly).userVersion == 0)
        try expectEverything(in: site.open())
      }
    }
  #endif

  private func expectEverything(in queue: QueueFile) throws {
    let entries = try queue.allEntries()
    #expect(names(entries) == ["a", "b", "c"] && entries.map(\.place) == [3, 5, 6])
    #expect(entries.map(\.lane) == [.device, .account("alice"), .account("alice")])
    #expect(entries.map(\.orderNumber) == [nil, "order-b", nil])
    #expect(entries.map(\.details) == ["a", "b", "c"].map { "details of " + $0 })
    #expect(entries.map(\.state) == [.queued, .queued, .quarantined])
    #expect(entries.map(\.attempts) == [0, 2, 8])
    #expect(entries.map { $0.attemptedAt?.milliseconds } == [nil, 2_500, 3_500])
    #expect(entries.map(\.readyAt.milliseconds) == [0, 9_000, 0])
    #expect(entries.map(\.isUnprotected) == [false, true, false])
    let payloads = try entries.map { try queue.payload(#require($0.payloads.first))?.bytes }
    #expect(payloads == [EarlierQueue.own, EarlierQueue.shared, EarlierQueue.shared])
    let duties = try queue.tombstonesWithDuties()
    #expect(duties.map(\.key) == [key("s")] && duties.allSatisfy { $0.isFinishPending && $0.isUnconfirmed })
    #expect(duties.map(\.attempts) == [2] && duties.map(\.enqueuedAt.milliseconds) == [3_500])
    #expect(try queue.tombstone(key("t"))?.outcome == "duplicate")
    #expect(try queue.fact("device") == "a device")
    let health = try queue.health()
    #expect(
      health.queued == 2 && health.quarantined == 1 && health.tombstones == 2 && health.unconfirmed == 1)
    #expect(health.bytes == EarlierQueue.own.count + EarlierQueue.shared.count)
    let note = try queue.connection.prepare("SELECT note FROM orders WHERE number='order-b'").first {
      $0.text(0)
    }
    #expect(note == "a note")
    #expect(try queue.fact("journal.version") == "7")
  }
}
