import Foundation
import PurchaseSQLite
import TestSupport
import Testing

@testable import PurchaseQueue

/// Faults that a review found.
@Suite struct BreakerTests {
  @Test func `only the owner may read the log of a new queue`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/queue.sqlite", now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
        let attributes = try FileManager.default.attributesOfItem(atPath: directory + "/" + name)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
      }
      _ = queue
    }
  }

  @Test(arguments: ["😀", "漢", "é", "/", "x", "\u{0}"])
  func `a long key in any script is mirrored`(character: String) async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let limits = QueueLimits(textBytes: 1 << 16)
      let key = String(repeating: character, count: 1_000)
      let first = try QueueFile(path: directory + "/first", limits: limits, vault: vault, now: noon)
      _ = try first.enqueue(entry(key), now: noon)
      #expect(try first.allEntries().map(\.isUnprotected) == [false])
      let second = try QueueFile(path: directory + "/second", limits: limits, vault: vault, now: noon)
      #expect(try second.allEntries().map(\.key.rawValue) == [key])
    }
  }

  @Test func `an order filled in just before a kill reaches the vault at the next opening`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let path = directory + "/first"
      _ = try QueueFile(path: path, vault: vault, now: noon).enqueue(entry("a"), now: noon)
      // Committed and not mirrored, as after a kill, or by an extension without a vault.
      let newer = NewEntry(
        key: EntryKey(rawValue: "a"), lane: .account("alice"), orderNumber: "7",
        payloads: [Payload(kind: "payload", bytes: [1, 2, 3])])
      _ = try QueueFile(path: path, now: noon).enqueue(newer, now: noon)
      _ = try QueueFile(path: path, vault: vault, now: noon)
      let fresh = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      let restored = try #require(try fresh.allEntries().first)
      #expect(restored.orderNumber == "7")
      #expect(try fresh.payload(#require(restored.payloads.first))?.bytes == [1, 2, 3])
    }
  }

  @Test func `restoring does not undo the changes of another process`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let first = try QueueFile(path: directory + "/first", vault: vault, now: noon)
      for key in ["tried", "settled"] { _ = try first.enqueue(entry(key), now: noon) }
      let path = directory + "/second"
      let begun = Locked<Rival<Void>?>(nil)
      let slow = InterruptedVault(vault: vault) {
        // While this process reads, another one opens the same new file, attempts one entry and settles another. It has
        // to wait for the lock.
        let rival = Rival {
          let other = try QueueFile(
            path: path, vault: DirectoryVault(directory: directory + "/vault"), now: noon)
          try other.recordAttempt([EntryKey(rawValue: "tried")], now: noon)
          try other.acknowledge([Settlement(key: EntryKey(rawValue: "settled"))], now: noon)
        }
        begun.withLock { $0 = rival }
      }
      let queue = try QueueFile(path: path, vault: slow, now: noon)
      let rival = try #require(begun.value)
      #expect(rival.hasWaited)
      try await rival.result()
      #expect(try queue.entry(EntryKey(rawValue: "tried"))?.attempts == 1)
      #expect(try queue.entry(EntryKey(rawValue: "settled")) == nil)
      #expect(try queue.count() == 1)
    }
  }

  @Test(arguments: [-1, Int.min, Int.max])
  func `a reservation of an absurd size is refused`(bytes: Int) async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/queue.sqlite", now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      let later = noon.adding(milliseconds: 1_000)
      #expect(throws: QueueError.self) { try queue.reserve("r", bytes: bytes, until: later, now: noon) }
      #expect(try queue.health().reservedBytes == 0)
    }
  }

  @Test func `settling an entry that has a tombstone counts it once`() async throws {
    try await withTemporaryDirectory { directory in
      let queue = try QueueFile(path: directory + "/queue.sqlite", now: noon)
      let row = try #require(
        {
          if case .inserted(let entry) = try queue.enqueue(entry("a"), now: noon) { return entry }
          return nil
        }())
      let settlement = Settlement(key: row.key, isUnconfirmed: true)
      try queue.acknowledge([settlement], now: noon)
      // Queued again next to its tombstone, as a stale mirror or a salvage can do.
      try queue.transaction { () throws(QueueError) in
        _ = try queue.insert(entry("a"), now: noon)
      }
      try queue.acknowledge([settlement], now: noon)
      #expect(try queue.health().tombstones == 1)
      #expect(try queue.health().unconfirmed == 1)
    }
  }
}

/// A vault that runs a function after an item was first read.
private final class InterruptedVault: QueueVault, @unchecked Sendable {
  let vault: DirectoryVault
  var interruption: (() -> Void)?
  init(vault: DirectoryVault, _ interruption: @escaping () -> Void) {
    self.vault = vault
    self.interruption = interruption
  }
  var itemBytes: Int { vault.itemBytes }
  func store(_ item: VaultItem) throws(VaultError) { try vault.store(item) }
  func remove(named name: String) throws(VaultError) { try vault.remove(named: name) }
  func list() throws(VaultError) -> [String] { try vault.list() }
  func item(named name: String) throws(VaultError) -> VaultItem? {
    let item = try vault.item(named: name)
    // After the last item was read.
    if name == "entry.tried", let interruption {
      self.interruption = nil
      interruption()
    }
    return item
  }
}
