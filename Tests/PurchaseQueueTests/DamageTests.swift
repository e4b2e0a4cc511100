import Foundation
import PurchaseQueue
import PurchaseSQLite
import TestSupport
import Testing

/// Damage to pages and files: the readable rows are salvaged, and the vault restores the rest.
@Suite struct DamageTests {
  /// The kinds of damage to a closed file.
  enum Harm: String, CaseIterable {
    case leaf, twoLeaves, half, magic, header, schemaLine, empty, absent

    func happen(to damage: Damage) throws {
      switch self {
      case .leaf: try damage.spoilLeaf(with: "details of k010")
      case .twoLeaves:
        try damage.spoilLeaf(with: "details of k010")
        try damage.spoilLeaf(with: "details of k030")
      case .half: try damage.truncate(to: damage.bytes.count / 2048 * 1024)
      case .magic: try damage.write(Array(repeating: 0x55, count: 16), at: 0)
      case .header: try damage.write(Array(repeating: 0xAA, count: 100), at: 0)
      // In a table that the salvage of the others does not need.
      case .schemaLine: try damage.flip("CREATE TABLE facts", 1)
      case .empty: try damage.truncate(to: 0)
      case .absent: try damage.remove("")
      }
    }

    /// How many of 50 entries the damage may cost. Nine entries share a leaf.
    var cost: Int {
      switch self {
      case .leaf: 9
      case .twoLeaves: 18
      case .half, .empty, .absent: 50
      case .magic, .header, .schemaLine: 0
      }
    }

    /// True if a damaged file has to be kept.
    var leavesFile: Bool { self != .empty && self != .absent }
  }

  @Test(arguments: LongTests.some(Harm.allCases, every: 3), [false, true])
  func `a damaged file costs only unreadable rows, and with a vault nothing`(
    harm: Harm, hasVault: Bool
  ) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory, hasVault: hasVault)
      let keys = numbered("k", 50)
      try site.fill(keys)
      try harm.happen(to: site.damage)
      let damaged = try files(in: directory)["q"]
      try site.reopening { queue in
        let left = try names(queue.allEntries())
        if hasVault {
          #expect(Set(left) == Set(keys))
        } else {
          #expect(left.count >= keys.count - harm.cost, "\(left)")
          #expect(left == left.sorted())
        }
        for entry in try queue.allEntries() {
          for payload in entry.payloads { _ = try queue.payload(payload) }
        }
        _ = try queue.enqueue(entry("new"), now: noon)
        let last = try #require(queue.entries(in: .account("alice")).last)
        #expect(last.key == key("new"))
        try queue.acknowledge([Settlement(key: last.key)], now: noon)
        #expect(try queue.health().queued == left.count)
      }
      #expect(try QueueCheck.run(path: site.path).isClean)
      let aside = try site.leftovers()
      #expect(aside.count == (harm.leavesFile ? 1 : 0))
      if let name = aside.first { #expect(try files(in: directory)[name] == damaged) }
    }
  }

  @Test(arguments: [nil, 0, 1, 50])
  func `a log without its file is salvaged and not removed`(size: Int?) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let there = Site(directory: directory + "/live")
      try FileManager.default.createDirectory(atPath: there.directory, withIntermediateDirectories: false)
      do {
        let queue = try there.open()
        for name in ["a", "b"] { _ = try queue.enqueue(entry(name), now: noon) }
        // As after a kill: the log is not moved into the file.
        for suffix in ["", "-wal"] {
          try FileManager.default.copyItem(atPath: there.path + suffix, toPath: site.path + suffix)
        }
      }
      if let size { try site.damage.truncate(to: size) } else { try site.damage.remove("") }
      let log = try files(in: directory)["q-wal"]
      let queue = try site.open()
      #expect(try names(queue.allEntries()) == ["a", "b"])
      #expect(try queue.payload(#require(queue.allEntries().last?.payloads.first)) == entry("b").payloads[0])
      #expect(queue.salvage?.entries == 2)
      #expect(try files(in: directory)["q.damaged-\(noon.milliseconds)-wal"] == log)
    }
  }

  @Test(arguments: [false, true])
  func `a log that is missing after a kill leaves an older state that works`(hasVault: Bool) async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory, hasVault: hasVault)
      let copy = directory + "/copy"
      do {
        let queue = try site.open()
        _ = try queue.enqueue(entry("a"), now: noon)
        _ = try queue.connection.checkpoint()
        _ = try queue.enqueue(entry("b"), now: noon)
        try FileManager.default.copyItem(atPath: site.path, toPath: copy)
      }
      try site.damage.remove("")
      try FileManager.default.moveItem(atPath: copy, toPath: site.path)
      let queue = try site.open()
      #expect(try names(queue.allEntries()) == (hasVault ? ["a", "b"] : ["a"]))
      _ = try queue.enqueue(entry("c"), now: noon)
      #expect(try QueueCheck.run(path: site.path).isClean)
    }
  }

  @Test func `an open queue that finds an unreadable page opens itself again`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      let keys = numbered("k", 50)
      try site.fill(keys)
      try site.damage.spoilLeaf(with: "details of k010")
      let error = #expect(throws: QueueError.self) { try site.open().allEntries() }
      guard case .damaged = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try site.leftovers() == ["q-damage"])
      let queue = try await DurableQueue.open(path: site.path, clock: { noon.date })
      try await queue.enqueue(entry("new"))
      #expect(try await queue.read { try $0.entry(key("k049")) } != nil)
      let archived = try await queue.read { try $0.health() }.archived
      #expect(archived.count == 1)
      #expect(try site.leftovers() == ["q.damaged-\(noon.milliseconds)"])
      try await queue.close()
    }
  }

  @Test func `an entry with a damaged row is restored from the vault`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory, hasVault: true)
      try site.fill(["a", "b", "c"])
      try site.damage.flip("details of b", 3)
      // Lost completely: its row is removed.
      try Connection(path: site.path).execute("DELETE FROM entries WHERE key='c'")
      let queue = try site.open()
      #expect(queue.vaultProblem == nil)
      #expect(Set(try names(queue.entries(in: .account("alice")))) == ["a", "b", "c"])
      for name in ["a", "b", "c"] {
        #expect(try queue.entry(key(name))?.details == "details of \(name)")
      }
      #expect(try queue.health().damaged == 0)
    }
  }

  @Test func `a damage mark without a file does not prevent a new file`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory, hasVault: true)
      try site.fill(["a"])
      try site.damage.remove("")
      try Data().write(to: URL(fileURLWithPath: site.path + "-damage"))
      #expect(try names(site.open().allEntries()) == ["a"])
      #expect(try site.leftovers() == [])
    }
  }

  @Test func `the newest two damaged files are kept, even if the clock goes back`() async throws {
    try await withTemporaryDirectory { directory in
      let site = Site(directory: directory)
      try site.fill(["a"])
      var kept: [Data] = []
      for time: Int64 in [5_000, 4_000, 3_000] {
        try site.damage.write(Array(repeating: UInt8(time / 1_000), count: 100), at: 0)
        kept.append(try Data(contentsOf: URL(fileURLWithPath: site.path)))
        let queue = try site.open(at: Timestamp(milliseconds: time))
        #expect(try names(queue.allEntries()) == ["a"])
      }
      let aside = try site.open().health().archived
      #expect(try aside.map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == Array(kept.dropFirst()))
      #expect(try site.leftovers().count == 2)
    }
  }
}
