import Foundation
import PurchaseQueue
import Testing

@Suite struct VaultTests {
  @Test(arguments: ["plain", "a/b", "..", "Ümläut 100%", "x.item", ""])
  func `an item with any name is read as it was stored`(name: String) async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      #expect(try vault.list().isEmpty)
      try vault.store(VaultItem(name: name, bytes: [1, 2, 3]))
      try vault.store(VaultItem(name: name, bytes: []))
      #expect(try vault.list() == [name])
      #expect(try vault.item(named: name)?.bytes == [])
      try vault.remove(named: name)
      try vault.remove(named: name)
      #expect(try vault.list().isEmpty)
    }
  }

  @Test func `a new install starts with the items of the vault, in order`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let first = try QueueFile(path: directory + "/first", vault: vault, now: noon)
      for (index, key) in ["z", "y", "x"].enumerated() {
        _ = try first.enqueue(entry(key, order: "order-" + key), now: noon.adding(milliseconds: Int64(index)))
      }
      try first.acknowledge(
        [Settlement(key: EntryKey(rawValue: "y"), outcome: "granted", hasPendingFinish: true)], now: noon)
      let second = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      let entries = try second.allEntries()
      #expect(entries.map(\.key.rawValue) == ["z", "x"])
      #expect(entries.map(\.orderNumber) == ["order-z", "order-x"])
      #expect(entries.allSatisfy { $0.attempts == 0 && $0.lane == .account("alice") })
      for (key, restored) in zip(["z", "x"], entries) {
        #expect(try second.payload(#require(restored.payloads.first)) == entry(key).payloads[0])
      }
    }
  }

  @Test func `a reinstall after a part was settled brings back only the newer payload`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let first = try QueueFile(path: directory + "/first", vault: vault, now: noon)
      _ = try first.enqueue(entry("a"), now: noon)
      let sent = try #require(try first.entry(EntryKey(rawValue: "a")))
      var newer = entry("a")
      newer.payloads = [Payload(kind: "newer", bytes: [1, 2, 3])]
      _ = try first.enqueue(newer, now: noon)
      try first.acknowledge([Settlement(sent)], now: noon)
      #expect(try first.allEntries().map { $0.payloads.map(\.kind) } == [["newer"]])
      let second = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      #expect(try second.allEntries().map { $0.payloads.map(\.kind) } == [["newer"]])
    }
  }

  @Test func `a locked vault fails no purchase and restores later`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = FaultyVault(directory: directory + "/vault")
      let first = try QueueFile(path: directory + "/first", vault: vault, now: noon)
      _ = try first.enqueue(entry("a"), now: noon)
      vault.imitate(.locked)
      _ = try first.enqueue(entry("b"), now: noon)
      #expect(try first.allEntries().map(\.isUnprotected) == [false, true])
      #expect(try QueueFile(path: directory + "/second", vault: vault, now: noon).allEntries().isEmpty)
      vault.imitate(.normal)
      let reopened = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      #expect(try reopened.allEntries().map(\.key.rawValue) == ["a"])
    }
  }

  @Test func `a vault with more items than the limits does not prevent the opening`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let first = try QueueFile(path: directory + "/first", vault: vault, now: noon)
      for key in ["a", "b"] { _ = try first.enqueue(entry(key), now: noon) }
      let path = directory + "/second"
      let small = try QueueFile(path: path, limits: QueueLimits(entries: 1), vault: vault, now: noon)
      #expect(try small.allEntries().map(\.key.rawValue) == ["a"])
      try small.acknowledge(
        [Settlement(key: EntryKey(rawValue: "a"), outcome: "granted", hasPendingFinish: false)], now: noon)
      let later = try QueueFile(path: path, limits: QueueLimits(entries: 1), vault: vault, now: noon)
      #expect(try later.allEntries().map(\.key.rawValue) == ["b"])
    }
  }
}
