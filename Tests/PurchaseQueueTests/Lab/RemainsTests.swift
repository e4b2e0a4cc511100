import Foundation
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// What a salvage believes: a row whose checksum fits, in its newest copy, with the numbers as they were written.
@Suite struct RemainsTests {
  /// The next opening salvages the file, though no page of it is damaged.
  private func mark(_ site: Site) throws { try Data().write(to: URL(fileURLWithPath: site.path + "-damage")) }

  private static let moments: [Int64] = [
    -1, -128, -129, -32_768, -32_769, -8_388_608, -8_388_609, -2_147_483_648, -2_147_483_649,
    -140_737_488_355_328,
    -140_737_488_355_329, 0, 1, 127, 128, 32_768, 8_388_608, 2_147_483_648, 140_737_488_355_328,
  ]

  @Test(arguments: moments)
  func `a negative number of any width is read as it was written`(moment: Int64) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      var before: [Entry] = []
      do {
        let queue = try site.open()
        try queue.transaction { () throws(QueueError) in
          try QueueError.wrap(site.path) { () throws(SQLiteError) in
            try queue.connection.execute(
              "CREATE TABLE others(name TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT;"
                + "INSERT INTO others VALUES('n', \(moment))")
          }
        }
        _ = try queue.enqueue(entry("a"), now: Timestamp(milliseconds: moment))
        before = try queue.allEntries()
      }
      // It keeps the text of the other module's table.
      _ = try site.open()
      try mark(site)
      let queue = try site.open()
      #expect(queue.salvage?.losses == [])
      #expect(try queue.allEntries() == before)
      #expect(try queue.connection.prepare("SELECT number FROM others").first { $0.integer(0) } == moment)
    }
  }

  @Test(arguments: [0, 50, 99])
  func `a payload with a flipped byte is not believed, and its entry is kept`(place: Int) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b"])
      let bytes = entry("a").payloads[0].bytes
      try site.damage.flip(at: site.damage.offset(of: bytes) + place)
      try mark(site)
      let queue = try site.open()
      let payloads = try queue.allEntries().flatMap(\.payloads)
      #expect(payloads.map(\.isByReference) == [true, false])
      #expect(try queue.payload(payloads[1]) == entry("b").payloads[0])
      #expect(queue.salvage?.losses.contains { $0.contains("payload") } == true)
    }
  }

  @Test func `a page of a table from before a settlement queues nothing again`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a", "b"])
      let start = try site.damage.offset(of: "details of b") / Damage.pageSize * Damage.pageSize
      let page = Array(try site.damage.bytes[start..<start + Damage.pageSize])
      do {
        let queue = try site.open()
        try queue.acknowledge([Settlement(key: key("b"), outcome: "granted")], now: noon)
      }
      // The disk lost the write of this page.
      try site.damage.write(page, at: start)
      try mark(site)
      let queue = try site.open()
      #expect(try names(queue.allEntries()) == ["a"])
      #expect(try queue.tombstone(key("b"))?.outcome == "granted")
      guard case .settled = try queue.enqueue(entry("b"), now: noon) else {
        Issue.record("b is queued again")
        return
      }
    }
  }

  // MARK: Copies

  /// Rows as a salvage finds them, in any order.
  private func found(_ rows: [Entry], _ tombstones: [Tombstone] = []) throws -> [Entry] {
    let connection = try Connection(path: ":memory:")
    var found = FoundRows(RowDecoder(connection))
    for entry in rows {
      var values = entry.values
      values[0] = .null
      try found.takeRemains(TreeWalk.Row(rowid: entry.place, values: values))
    }
    for tombstone in tombstones { try found.takeRemains(TreeWalk.Row(rowid: nil, values: tombstone.values)) }
    found.dropOlderCopies()
    return found.placed()
  }

  private func row(_ name: String, place: Int64, queuedAt: Int64) -> Entry {
    Entry(
      place: place, key: key(name), lane: .device, orderNumber: nil, details: "", payloads: [],
      now: Timestamp(milliseconds: queuedAt))
  }

  private func settled(_ name: String, queuedAt: Int64) -> Tombstone {
    Tombstone(
      key: key(name), lane: .device, orderNumber: nil, outcome: "granted", details: "",
      enqueuedAt: Timestamp(milliseconds: queuedAt), attempts: 1, settledAt: noon, isFinishPending: false,
      isUnconfirmed: false, history: History())
  }

  @Test func `an older copy of a settled entry does not hide its update`() throws {
    let (old, update) = (row("a", place: 1, queuedAt: 10), row("a", place: 7, queuedAt: 20))
    for rows in [[old, update], [update, old]] {
      #expect(try found(rows, [settled("a", queuedAt: 10)]).map(\.place) == [7])
    }
    #expect(try found([old], [settled("a", queuedAt: 10)]).isEmpty)
  }

  @Test func `of two copies of an entry the one that was queued later is kept`() throws {
    let (old, new) = (row("a", place: 1, queuedAt: 10), row("a", place: 7, queuedAt: 20))
    for rows in [[old, new], [new, old]] { #expect(try found(rows).map(\.place) == [7]) }
    #expect(try found([old, row("b", place: 2, queuedAt: 10)]).count == 2)
  }
}
