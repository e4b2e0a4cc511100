import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

/// A flipped byte in a stored value is found by the next read and costs only the entries that use the value.
@Suite struct ValueDamageTests {
  /// A column of an entry's row, named by the text in which a byte is flipped. Only in the row are key, lane and state
  /// adjacent and in this order; the indexes separate them.
  enum Column: String, CaseIterable {
    case key, lane, state, order, payloads, details, reason

    var text: (String, Int) {
      switch self {
      case .key: ("baccount:alicequeued", 0)
      case .lane: ("baccount:alicequeued", 10)
      case .state: ("baccount:alicequeued", 15)
      case .order: ("order of b", 0)
      case .payloads: (" 100 payloaddetails of b", 1)
      case .details: ("details of b", 3)
      case .reason: ("postponed; not before", 0)
      }
    }
  }

  @Test(arguments: Column.allCases)
  func `a flipped byte in an entry's row costs that entry and no other`(column: Column) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      do {
        let queue = try site.open()
        _ = try queue.enqueue(entry("b", order: "order of b"), now: noon)
        try queue.postpone(key("b"), until: noon, now: noon)
      }
      try site.fill(["c"])
      try site.damage.flip(column.text.0, column.text.1)
      try site.reopening { (queue) throws in
        #expect(try names(queue.entries(in: .account("alice"))) == ["a", "c"])
        #expect(try queue.nextReady(now: noon)?.key.rawValue == "a")
        #expect(try queue.allEntries().map(\.state) == [.queued, .damaged, .queued])
        #expect(try queue.health().damaged == 1)
        #expect(try queue.health().queued == 2)
      }
      try site.reopening { (queue) throws in
        _ = try queue.enqueue(entry("b", order: "order of b"), now: noon)
        #expect(try names(queue.entries(in: .account("alice"))) == ["a", "c", "b"])
        // If the key is damaged, the entry of the row is unknown.
        #expect(try queue.health().damaged == (column == .key ? 1 : 0))
        let reference = try #require(queue.entry(key("b"))?.payloads.first)
        #expect(try queue.payload(reference) == entry("b").payloads[0])
        #expect(try queue.health().bytes == 300)
      }
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  @Test func `a flipped byte in the name of the device lane is found, although any text names it`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b"], lane: .device)
      try site.damage.flip("adevicequeued", 2)
      try site.reopening { (queue) throws in
        #expect(try names(queue.entries(in: .device)) == ["b"])
        #expect(try queue.allEntries().map(\.state) == [.damaged, .queued])
      }
    }
  }

  @Test func `a payload with a flipped byte is by reference in all entries that share it`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let shared = Payload(kind: "payload", bytes: Array("a receipt that covers two".utf8))
      do {
        let queue = try site.open()
        for name in ["a", "b"] {
          var new = entry(name)
          new.payloads = [shared]
          _ = try queue.enqueue(new, now: noon)
        }
        _ = try queue.enqueue(entry("c"), now: noon)
      }
      try site.damage.flip("a receipt that covers two", 5)
      let queue = try site.open()
      #expect(try QueueCheck.run(path: site.path).payloads.count == 1)
      let reference = try #require(queue.entry(key("a"))?.payloads.first)
      #expect(!reference.isByReference)
      #expect(try queue.payload(reference) == nil)
      #expect(try queue.allEntries().map { $0.payloads[0].isByReference } == [true, true, false])
      #expect(try queue.allEntries().allSatisfy { $0.state == .queued })
      #expect(try queue.health().bytes == 100)
      var again = entry("b")
      again.payloads = [shared]
      _ = try queue.enqueue(again, now: noon)
      #expect(try queue.payload(#require(queue.entry(key("b"))?.payloads.first)) == shared)
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  @Test func `a damaged payload that is redelivered before it is read is stored again`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      let bytes = entry("a").payloads[0].bytes
      try site.damage.flip(at: site.damage.offset(of: bytes) + 50)
      let queue = try site.open()
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(try queue.payload(#require(queue.entry(key("a"))?.payloads.first)) == entry("a").payloads[0])
      #expect(try used(queue) == [1, 100])
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  @Test func `a damaged payload of just the longest size is stored again when it comes again`() async throws {
    try await withTemporaryDirectory { directory in
      let (site, limits) = (Site(directory: directory), QueueLimits(payloadBytes: 100))
      try site.fill(["a"], bytes: 100)
      try site.damage.flip(at: site.damage.offset(of: entry("a").payloads[0].bytes) + 50)
      let queue = try site.open(limits: limits)
      #expect(try queue.payload(#require(queue.entry(key("a"))?.payloads.first)) == nil)
      #expect(try queue.entry(key("a"))?.payloads.first?.isByReference == true)
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(try queue.payload(#require(queue.entry(key("a"))?.payloads.first)) == entry("a").payloads[0])
    }
  }

  @Test func `a tombstone with a flipped byte counts as absent`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b"])
      do {
        let queue = try site.open()
        try queue.acknowledge(
          ["a", "b"].map {
            Settlement(key: key($0), outcome: "granted to " + $0, hasPendingFinish: true, isUnconfirmed: true)
          }, now: noon)
      }
      try site.damage.flip("granted to a", 2)
      #expect(try QueueCheck.run(path: site.path).tombstones == [key("a")])
      let queue = try site.open()
      #expect(try queue.tombstonesWithDuties().map(\.key) == [key("b")])
      #expect(try queue.tombstone(key("a")) == nil)
      #expect(try queue.health().unconfirmed == 1)
      guard case .inserted = try queue.enqueue(entry("a"), now: noon) else {
        Issue.record("the entry was not queued")
        return
      }
      #expect(try used(queue) == [1, 100])
    }
  }

  @Test func `totals with a flipped byte are counted again`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b", "c"])
      do {
        let queue = try site.open()
        try queue.acknowledge([Settlement(key: key("c"), isUnconfirmed: true)], now: noon)
        try queue.reserve("sheet", bytes: 77, until: noon.adding(milliseconds: 1), now: noon)
        let row = try #require(
          try queue.connection.prepare("SELECT checksum FROM totals").first { $0.integer(0) })
        _ = try queue.connection.checkpoint()
        let stored = (0..<8).map { UInt8(truncatingIfNeeded: row >> (56 - 8 * Int64($0))) }
        // The column before the checksum is the count of unconfirmed outcomes, a 1 that takes no byte, so this is the checksum.
        try site.damage.flip(at: site.damage.offset(of: stored) + 3)
      }
      let queue = try site.open()
      #expect(try used(queue) == [2, 200])
      let health = try queue.health()
      #expect(health.unconfirmed == 1 && health.tombstones == 1)
      #expect(health.reserved == 1 && health.reservedBytes == 77)
      _ = try queue.enqueue(entry("d"), now: noon)
      #expect(try names(queue.allEntries()) == ["a", "b", "d"])
    }
  }

  @Test func `a fact with a flipped byte counts as absent`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      do {
        let queue = try site.open()
        try queue.setFact("colour", "a bright red")
        try queue.setFact("size", "large")
      }
      try site.damage.flip("a bright red")
      let queue = try site.open()
      #expect(try queue.fact("colour") == nil)
      #expect(try queue.fact("size") == "large")
      try queue.setFact("colour", "blue")
      #expect(try queue.fact("colour") == "blue")
    }
  }

  @Test func `a background check finds every flipped byte and isolates the damage`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b", "c", "settled"])
      do {
        let queue = try site.open()
        try queue.acknowledge([Settlement(key: key("settled"), outcome: "an outcome")], now: noon)
      }
      try site.damage.flip("details of a", 1)
      try site.damage.flip(at: site.damage.offset(of: entry("b").payloads[0].bytes))
      try site.damage.flip("an outcome", 1)
      let queue = try site.open()
      let report = try QueueCheck.run(path: site.path)
      #expect(report.entries == [1] && report.payloads.count == 1 && report.tombstones == [key("settled")])
      #expect(report.pages.isEmpty)
      try queue.isolate(report)
      #expect(try QueueCheck.run(path: site.path).isClean)
      #expect(try queue.allEntries().map(\.state) == [.damaged, .queued, .queued])
      #expect(try queue.allEntries().map { $0.payloads[0].isByReference } == [false, true, false])
      #expect(try queue.tombstone(key("settled")) == nil)
      #expect(try site.leftovers() == [])
    }
  }

  @Test(arguments: ["account:aliceqqq", "place", "key"])
  func `the check finds a flipped byte in an index, and the index is built again`(
    index: String
  ) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["first-key", "second-key"])
      // Only in the row does the lane follow the key.
      let damage = site.damage
      switch index {
      case "key":
        let row = try damage.offset(of: "second-keyaccount:alice")
        let all = try damage.offsets(of: Array("second-key".utf8))
        try damage.flip(at: #require(all.first { $0 != row && !isPart(of: "details of ", $0, damage) }))
      default:
        let rows = try damage.offsets(of: Array("-keyaccount:alice".utf8)).map { $0 + 4 }
        let cell = try #require(damage.offsets(of: Array("account:alice".utf8)).first { !rows.contains($0) })
        // The lane, or the place that follows it.
        try damage.flip(at: cell + (index == "place" ? 13 : 12))
      }
      #expect(try !QueueCheck.run(path: site.path).isClean)
      do {
        let queue = try site.open()
        try queue.isolate(QueueCheck.run(path: site.path))
      }
      try site.reopening { (queue) throws in
        #expect(try names(queue.entries(in: .account("alice"))) == ["first-key", "second-key"])
        #expect(try queue.entry(key("second-key"))?.state == .queued)
      }
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  private func isPart(of text: String, _ offset: Int, _ damage: Damage) -> Bool {
    do {
      return try damage.bytes[..<offset].suffix(text.utf8.count).elementsEqual(text.utf8)
    } catch {
      return false
    }
  }
}
