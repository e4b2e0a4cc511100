import Foundation
import PurchaseSQLite
import TestSupport
import Testing

@testable import PurchaseQueue

/// The file of a directory vault: torn, damaged, shared and grown.
@Suite struct VaultFileTests {
  private func item(_ name: String, _ count: Int, _ byte: UInt8 = 1) -> VaultItem {
    VaultItem(name: name, bytes: [UInt8](repeating: byte, count: count))
  }

  /// The items by name.
  private func content(_ vault: DirectoryVault) throws -> [String: [UInt8]] {
    var content: [String: [UInt8]] = [:]
    for name in try vault.list() { content[name] = try vault.item(named: name)?.bytes }
    return content
  }

  private func bytes(_ directory: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: directory + "/items")))
  }

  private func write(_ bytes: [UInt8], _ directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: directory + "/items"))
  }

  @Test func `a write that was torn at any byte costs only its own items, and the next one follows`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/v")
      try vault.store(item("a", 50))
      let whole = try bytes(directory + "/v").count
      try vault.store([item("b", 70), item("c", 90)])
      let all = try bytes(directory + "/v")
      for end in LongTests.some(Array(whole...all.count), every: 7) {
        let torn = directory + "/torn-\(end)"
        try write(Array(all.prefix(end)), torn)
        let reopened = DirectoryVault(directory: torn)
        let names = try reopened.list()
        #expect(names == ["a"] || names == ["a", "b"] || names == ["a", "b", "c"], "\(end)")
        try reopened.store(item("d", 20))
        try reopened.remove(named: "a")
        let again = DirectoryVault(directory: torn)
        #expect(try again.list() == names.dropFirst() + ["d"], "\(end)")
        #expect(try again.item(named: "d") == item("d", 20))
      }
    }
  }

  @Test func `a flipped byte costs one item at most`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/v")
      for name in ["a", "b", "c"] { try vault.store(item(name, 60, UInt8(name.utf8.first ?? 0))) }
      let all = try bytes(directory + "/v")
      let whole = try content(vault)
      for place in LongTests.some(Array(all.indices), every: 5) {
        var damaged = all
        damaged[place] ^= 0x40
        let other = directory + "/damaged-\(place)"
        try write(damaged, other)
        let reopened = DirectoryVault(directory: other)
        let left = try content(reopened)
        #expect(left.count >= 2 && left.allSatisfy { whole[$0.key] == $0.value }, "\(place)")
        try reopened.store(item("d", 10))
        #expect(try DirectoryVault(directory: other).list() == left.keys.sorted() + ["d"], "\(place)")
      }
    }
  }

  @Test func `instances that share a directory see each other's items`() async throws {
    try await withTemporaryDirectory { directory in
      let vaults = (0..<3).map { _ in DirectoryVault(directory: directory + "/v") }
      var expected: [String: [UInt8]] = [:]
      var random = RandomSource(seed: 3)
      for round in 0..<400 {
        let vault = vaults[random.below(3)]
        let name = "item \(random.below(12))"
        if random.below(3) == 0 {
          try vault.remove(named: name)
          expected[name] = nil
        } else {
          // Large enough that the file is replaced now and then.
          let stored = item(name, random.below(9_000), UInt8(truncatingIfNeeded: round))
          try vault.store(stored)
          expected[name] = stored.bytes
        }
        #expect(try content(vaults[random.below(3)]) == expected, "round \(round)")
      }
      #expect(try content(DirectoryVault(directory: directory + "/v")) == expected)
    }
  }

  @Test func `the file stays small, however often items come and go`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/v")
      try vault.store(item("stays", 10_000))
      for round in 0..<300 {
        try vault.store(item("\(round)", 8_000))
        try vault.remove(named: "\(round)")
        #expect(try bytes(directory + "/v").count < 300_000)
      }
      #expect(
        try content(DirectoryVault(directory: directory + "/v")) == ["stays": item("stays", 10_000).bytes])
    }
  }

  @Test func `items beyond the limit are refused together`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/v", itemBytes: 100, totalBytes: 250)
      try vault.store(item("a", 100))
      #expect(throws: VaultError.self) { try vault.store([item("b", 100), item("c", 60)]) }
      #expect(throws: VaultError.self) { try vault.store(item("b", 101)) }
      #expect(try vault.list() == ["a"])
      try vault.store([item("b", 100), item("a", 50)])
      #expect(try vault.list() == ["a", "b"])
    }
  }

  @Test func `a directory that is removed while the vault is open begins anew`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/v")
      try vault.store(item("a", 10))
      try FileManager.default.removeItem(atPath: directory + "/v")
      #expect(try vault.list().isEmpty)
      try vault.store(item("b", 10))
      #expect(try vault.list() == ["b"])
    }
  }

  // MARK: Remains

  /// A file with these records, one behind the other.
  private func file(_ records: [[UInt8]], _ directory: String) throws {
    try write(Array("PQVault1".utf8) + records.flatMap { $0 }, directory)
  }

  /// Shorter records were written over the beginning of a longer write, whose end is still there: a power cut lost that
  /// the file was made shorter.
  @Test func `the remains of an earlier write do not count`() async throws {
    try await withTemporaryDirectory { directory in
      let remains = VaultRecord.item(item("refused", 30), sequence: 3)
      let newer = (2...5).map { VaultRecord.removal(of: "\($0)", sequence: UInt64($0)) }
      for end in 0..<remains.count {
        let place = directory + "/\(end)"
        let records = [VaultRecord.item(item("a", 10), sequence: 1)] + newer
        try file(records + [Array(remains.dropFirst(end))], place)
        let vault = DirectoryVault(directory: place)
        #expect(try vault.list() == ["a"], "\(end)")
        try vault.store(item("b", 10))
        #expect(try DirectoryVault(directory: place).list() == ["a", "b"], "\(end)")
      }
    }
  }

  @Test func `a torn end is cut off when the file is read`() async throws {
    try await withTemporaryDirectory { directory in
      let (a, b) = (
        VaultRecord.item(item("a", 10), sequence: 1), VaultRecord.item(item("b", 90), sequence: 2)
      )
      for end in 1..<b.count {
        let place = directory + "/\(end)"
        try file([a, Array(b.prefix(end))], place)
        #expect(try DirectoryVault(directory: place).list() == ["a"])
        #expect(try bytes(place) == Array("PQVault1".utf8) + a, "\(end)")
      }
    }
  }

  @Test(arguments: [UInt64.max, UInt64.max - 1, UInt64(Int64.max) + 1])
  func `a record with a number that leaves none for the next one is no record`(sequence: UInt64) async throws
  {
    try await withTemporaryDirectory { directory in
      let last = VaultRecord.item(item("z", 10), sequence: sequence)
      try file([VaultRecord.item(item("a", 10), sequence: 1), last], directory)
      let vault = DirectoryVault(directory: directory)
      #expect(try vault.list() == ["a"])
      try vault.store([item("b", 10), item("c", 10)])
      #expect(try DirectoryVault(directory: directory).list() == ["a", "b", "c"])
    }
  }
}
