import Foundation
import PurchaseSQLite
import Testing

@testable import PurchaseQueue

/// Damage that once made an opening endless, bricked a queue, lost entries in silence, or ended the process.
@Suite struct FlippedBitTests {
  private func big(_ key: String) -> NewEntry { entry(key, bytes: 2_000 + key.utf8.count) }

  private func fill(_ site: Site, _ keys: [String]) throws {
    let queue = try site.open()
    for key in keys { _ = try queue.enqueue(big(key), now: noon) }
  }

  /// The files of a killed queue: commits are in its log.
  private func kill(_ site: Site, _ keys: [String]) throws {
    let live = Site(directory: site.directory + "/live")
    try FileManager.default.createDirectory(atPath: live.directory, withIntermediateDirectories: false)
    let queue = try live.open()
    for key in keys { _ = try queue.enqueue(big(key), now: noon) }
    for suffix in ["", "-wal", "-lock"] {
      try FileManager.default.copyItem(atPath: live.path + suffix, toPath: site.path + suffix)
    }
  }

  @Test func `a zeroed overflow page of a payload costs that payload and ends the salvage`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try fill(site, ["a", "b", "c", "d", "e"])
      let content = try #require(site.damage.offsets(of: [UInt8](repeating: 98, count: 1_020)).first)
      let page = content / 1_024
      try site.damage.write([UInt8](repeating: 0, count: 1_024), at: page * 1_024)
      try Data().write(to: URL(fileURLWithPath: site.path + "-damage"))
      let queue = try site.open()
      #expect(try names(queue.allEntries()) == ["a", "b", "c", "d", "e"])
      #expect(
        try queue.allEntries().map { $0.payloads[0].isByReference } == [false, true, false, false, false])
      #expect(queue.salvage?.losses.isEmpty == false)
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  @Test(arguments: [0, 3, 40, 1_000, 2_500, 9_000, 20_000, 60_000])
  func `a flipped bit in the log of a killed queue costs at most the entry that it touches`(
    place: Int
  ) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let keys = numbered("k", 30)
      try kill(site, keys)
      let log = Damage(path: site.path + "-wal")
      try log.flip(at: place)
      let queue = try site.open()
      #expect(try names(queue.allEntries()) == keys)
      #expect(try queue.allEntries().count { $0.state != .queued || $0.payloads[0].isByReference } <= 1)
      #expect(queue.salvage != nil)
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  /// A torn write can look the same, so this is no damage.
  @Test(arguments: [1, 9, 17, 40, 700, 1_040])
  func `a flipped bit in the last commit of a killed queue is corrected and keeps its entry`(
    distance: Int
  ) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let keys = numbered("k", 3)
      try kill(site, keys)
      let log = Damage(path: site.path + "-wal")
      let bytes = try log.bytes
      let frames = LogImage(bytes).frames
      let last = try #require(frames.last)
      try log.flip(at: last.offset - 24 + distance)
      #expect(LogImage(try log.bytes).frames == frames)
      let queue = try site.open()
      #expect(try names(queue.allEntries()) == keys)
      #expect(try queue.allEntries().allSatisfy { $0.state == .queued && !$0.payloads[0].isByReference })
      #expect(queue.salvage == nil)
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  @Test func `a lost frame of the log is told, and later commits stay`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try kill(site, numbered("k", 30))
      let log = Damage(path: site.path + "-wal")
      try log.write([UInt8](repeating: 0, count: 1_048), at: 32 + 40 * 1_048)
      let queue = try site.open()
      #expect(queue.salvage?.what.contains("frame 41") == true)
      #expect(try queue.count() >= 25)
      #expect(try names(queue.allEntries()).last == "k029")
    }
  }

  @Test(arguments: [63, 62, 61, 60])
  func `a flipped bit in the version of the header is damage and asks for no update`(
    byte: Int
  ) async throws {
    try await withTemporaryDirectory { directory in
      for bit in 0..<8 {
        let site = Site(directory: directory + "/\(bit)")
        try FileManager.default.createDirectory(atPath: site.directory, withIntermediateDirectories: false)
        try fill(site, ["a", "b"])
        let old = try site.damage.bytes[byte]
        try site.damage.write([old ^ 1 << UInt8(bit)], at: byte)
        let queue = try site.open()
        #expect(try names(queue.allEntries()) == ["a", "b"])
        #expect(queue.salvage != nil)
      }
    }
  }

  @Test(arguments: [
    "CREATE TABLE entries", "CREATE TABLE payloads", "CREATE INDEX entries_ready", "CREATE VIEW",
  ])
  func `a changed text of the schema is never run`(text: String) async throws {
    try await withTemporaryDirectory { directory in
      for distance in [2, 8, text.utf8.count - 1] {
        let site = Site(directory: directory + "/\(distance)")
        try FileManager.default.createDirectory(atPath: site.directory, withIntermediateDirectories: false)
        try fill(site, ["a", "b"])
        let texts = try Set(schema(site))
        try site.damage.flip(text, distance)
        let queue = try site.open()
        #expect(try names(queue.allEntries()) == ["a", "b"])
        _ = queue
        #expect(try Set(schema(site)) == texts)
      }
    }
  }

  private func schema(_ site: Site) throws -> [String] {
    try Connection(path: site.path, access: .readOnly).prepare("SELECT ifnull(sql, name) FROM sqlite_schema")
      .all { $0.text(0) }
  }

  @Test func `a trigger in the file is not run`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try fill(site, ["a"])
      try Connection(path: site.path).execute(
        "CREATE TRIGGER thief AFTER INSERT ON entries BEGIN DELETE FROM entries; END")
      let queue = try site.open()
      _ = try queue.enqueue(big("b"), now: noon)
      #expect(try names(queue.allEntries()) == ["a", "b"])
      #expect(queue.salvage != nil)
    }
  }

  @Test(arguments: [
    "UPDATE entries SET place=9223372036854775807 WHERE key='b'", "UPDATE entries SET place=-5 WHERE key='b'",
    "UPDATE entries SET payloads='1 9223372036854775807 x' || char(10) || '2 9223372036854775807 y'",
    "UPDATE entries SET payloads='1 -9223372036854775808 x'",
    "UPDATE entries SET attempts=9223372036854775807, ready_at=-9223372036854775808",
    "UPDATE totals SET last_place=9223372036854775807, bytes=9223372036854775807, queued=-1",
    "UPDATE payloads SET uses=9223372036854775807", "UPDATE payloads SET uses=-9223372036854775808",
    "INSERT INTO reservations VALUES('x',9223372036854775807,1),('y',9223372036854775807,1)",
    "INSERT INTO reservations VALUES('x',-9223372036854775808,1)",
  ])
  func `numbers that lie count as damage and end no process`(harm: String) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try fill(site, ["a", "b", "c"])
      try Connection(path: site.path).execute(harm + "; UPDATE totals SET checksum=1")
      try site.reopening { queue in
        _ = try queue.health()
        _ = try queue.enqueue(big("d"), now: noon)
        try queue.recordAttempt([key("d")], now: noon)
        try queue.reserve("x", until: noon, now: noon)
        try queue.cancelReservation("x")
        for entry in try queue.allEntries() {
          for payload in entry.payloads { _ = try queue.payload(payload) }
        }
        try queue.acknowledge([Settlement(key: key("d"))], now: noon)
        _ = try queue.enqueue(big("e"), now: noon)
        #expect(try queue.allEntries().count == 4)
        _ = try queue.health()
      }
    }
  }

  @Test func `the longest pause ends no process`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try await DurableQueue.open(
        path: directory + "/q", pause: .seconds(Int64.max), clock: { noon.date })
      try await queue.enqueue(entry("a"))
      for _ in 0..<100 { await Task.yield() }
      #expect(try await queue.read { try $0.count() } == 1)
      try await queue.close()
    }
  }

  @Test func `pages in the wrong place do not make a commit write over an entry`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let keys = numbered("k", 20)
      try fill(site, keys)
      do {
        let queue = try site.open()
        try queue.acknowledge([Settlement(key: key("k003"))], now: noon)
      }
      // The list of free pages names a page that is in use.
      let bytes = try site.damage.bytes
      let free = Int(bytes.bigEndian32(32))
      try #require(free > 0)
      let used = try #require(site.damage.offsets(of: Array("details of k010".utf8)).first) / 1_024 + 1
      try site.damage.write([0, 0, UInt8(used >> 8), UInt8(used & 255)], at: (free - 1) * 1_024 + 8)
      try site.reopening { queue in
        _ = try queue.enqueue(big("new"), now: noon)
        #expect(try Set(names(queue.allEntries())) == Set(keys).subtracting(["k003"]).union(["new"]))
        for entry in try queue.allEntries() { #expect(try queue.payload(entry.payloads[0]) != nil) }
      }
    }
  }
}
