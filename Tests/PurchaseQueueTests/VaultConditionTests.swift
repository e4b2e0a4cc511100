import Foundation
import PurchaseQueue
import PurchaseSQLite
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A vault that fails: no purchase fails with it, none is doubled, and an entry without a mirror is flagged.
@Suite struct VaultConditionTests {
  @Test(arguments: [FaultyVault.Condition.locked, .failing, .full])
  func `a purchase is queued and flagged, and is mirrored when the vault works again`(
    condition: FaultyVault.Condition
  ) async throws {
    try await withTemporaryDirectory { directory in
      let vault = FaultyVault(directory: directory + "/vault")
      vault.imitate(condition)
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      guard case .inserted(let inserted) = try queue.enqueue(entry("a"), now: noon) else {
        Issue.record("not inserted")
        return
      }
      #expect(try queue.entry(inserted.key)?.isUnprotected == true)
      #expect(try queue.health().unprotected == 1)
      vault.imitate(.normal)
      try queue.maintain(now: noon)
      #expect(try queue.health().unprotected == 0)
      let fresh = try QueueFile(path: directory + "/fresh", vault: vault, now: noon)
      #expect(try fresh.allEntries().map(\.key) == [inserted.key])
    }
  }

  @Test func `each failure of the vault is a diagnostic without the content of an item`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = FaultyVault(directory: directory + "/vault")
      let reported = Locked<[Diagnostic]>([])
      let queue = try QueueFile(
        path: directory + "/q", vault: vault, now: noon.date,
        diagnostics: { diagnostic in reported.withLock { $0.append(diagnostic) } })
      _ = try queue.enqueue(entry("a"), now: noon)
      #expect(reported.withLock { $0.isEmpty })
      vault.imitate(.failing)
      _ = try queue.enqueue(entry("b"), now: noon)
      try queue.acknowledge([Settlement(key: EntryKey(rawValue: "a"))], now: noon)
      let found = reported.withLock { $0 }
      #expect(found.map(\.operation) == [.vaultStore, .vaultRemove])
      #expect(found.map(\.subject) == ["entry.b", "entry.a"])
      #expect(found.allSatisfy { $0.reason == "the vault failed: imitated" })
      #expect(found[0].description == "vaultStore, entry.b: the vault failed: imitated")
    }
  }

  @Test func `a vault that cannot be read is reported, and the next opening reads it`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = FaultyVault(directory: directory + "/vault")
      _ = try QueueFile(path: directory + "/first", vault: vault, now: noon).enqueue(entry("a"), now: noon)
      vault.imitate(.locked)
      let second = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      #expect(try second.health().vaultProblem?.contains("locked") == true)
      #expect(try second.count() == 0)
      vault.imitate(.normal)
      let third = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      #expect(third.vaultProblem == nil)
      #expect(try third.count() == 1)
    }
  }

  @Test func `a restored entry does not take an order that another entry of this install has`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      var bound = entry("a")
      bound.orderNumber = "19"
      _ = try QueueFile(path: directory + "/first", vault: vault, now: noon).enqueue(bound, now: noon)
      var other = entry("b")
      other.orderNumber = "19"
      // Without the vault, as if it were locked at the first opening.
      _ = try QueueFile(path: directory + "/second", now: noon).enqueue(other, now: noon)
      let second = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      #expect(try second.entry(EntryKey(rawValue: "b"))?.orderNumber == "19")
      let restored = try #require(try second.entry(EntryKey(rawValue: "a")))
      #expect(restored.orderNumber == nil)
    }
  }

  @Test func `an item of a settled purchase is removed and not restored`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = FaultyVault(directory: directory + "/vault")
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      vault.imitate(.stale)
      try queue.acknowledge([Settlement(key: EntryKey(rawValue: "a"))], now: noon)
      #expect(try vault.list().contains("entry.a"))
      vault.imitate(.normal)
      let reopened = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      #expect(try reopened.count() == 0)
      #expect(try vault.list().isEmpty)
    }
  }

  @Test func `an entry whose payload does not fit into the vault is restored by reference`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000, totalBytes: 3_000)
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      _ = try queue.enqueue(entry("small", bytes: 1_500), now: noon)
      _ = try queue.enqueue(entry("large", bytes: 2_500), now: noon)
      #expect(try queue.allEntries().map(\.isUnprotected) == [false, true])
      let fresh = try QueueFile(path: directory + "/fresh", vault: vault, now: noon)
      let restored = try fresh.allEntries()
      #expect(restored.map(\.key.rawValue) == ["small", "large"])
      #expect(restored.map { $0.payloads.map(\.isByReference) } == [[false], [true]])
      #expect(restored[1].payloads[0].size == 2_500)
    }
  }

  @Test func `unused chunks are removed when the vault is full`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000, totalBytes: 3_000)
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      for index in 0..<2 {
        try vault.store(VaultItem(name: "payload.forgotten.\(index)", bytes: Array(repeating: 1, count: 900)))
      }
      _ = try queue.enqueue(entry("a", bytes: 2_000), now: noon)
      #expect(try queue.allEntries().map(\.isUnprotected) == [false])
      let left = try vault.list().filter { $0.hasPrefix("payload.forgotten") }
      #expect(left.isEmpty)
    }
  }

  @Test(arguments: [1, 3, 11])
  func `a payload is restored although an earlier removal of its chunks stopped halfway`(
    removals: Int
  ) async throws {
    try await withTemporaryDirectory { directory in
      let vault = FaultyVault(directory: directory + "/vault", itemBytes: 1_000)
      let first = try QueueFile(path: directory + "/first", vault: vault, now: noon)
      // Twelve chunks: as text, the last one is not the greatest name.
      _ = try first.enqueue(entry("a", bytes: 11_500), now: noon)
      try vault.remove(named: "entry.a")
      vault.allowRemovals(removals)
      let second = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      vault.allowRemovals(nil)
      #expect(try vault.list().count == 12 - removals)
      _ = try second.enqueue(entry("a", bytes: 11_500), now: noon)
      let fresh = try QueueFile(path: directory + "/fresh", vault: vault, now: noon)
      #expect(try fresh.allEntries().map { $0.payloads.map(\.isByReference) } == [[false]])
    }
  }

  @Test(arguments: [0, 1, 999, 1_000, 1_001, 5_000])
  func `a payload of any size is restored from its chunks`(size: Int) async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000)
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      var new = entry("a")
      new.payloads = [Payload(kind: "p", bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })]
      _ = try queue.enqueue(new, now: noon)
      let fresh = try QueueFile(path: directory + "/fresh", vault: vault, now: noon)
      let reference = try #require(try fresh.allEntries().first?.payloads.first)
      #expect(try fresh.payload(reference) == new.payloads[0])
      try fresh.acknowledge([Settlement(key: new.key)], now: noon)
      #expect(try vault.list().isEmpty)
    }
  }

  @Test func `chunks that two entries share stay until the second is settled`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000)
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      for key in ["a", "b"] {
        var new = entry(key)
        new.payloads = [Payload(kind: "p", bytes: Array(repeating: 5, count: 2_500))]
        _ = try queue.enqueue(new, now: noon)
      }
      #expect(try vault.list().count == 5)
      try queue.acknowledge([Settlement(key: EntryKey(rawValue: "a"))], now: noon)
      #expect(try vault.list().count == 4)
      try queue.acknowledge([Settlement(key: EntryKey(rawValue: "b"))], now: noon)
      #expect(try vault.list().isEmpty)
    }
  }

  #if os(Linux) || os(macOS)
    @Test(arguments: 1...3) func `a kill between chunks leaves no incomplete item`(chunk: Int) async throws {
      try await withTemporaryDirectory { directory in
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [directory = directory as String, chunk = chunk as Int] in
          // Stores one item at a time, as the keychain does.
          let vault = FaultyVault(directory: directory + "/vault", itemBytes: 1_000)
          let stored = Locked(0)
          let setup = QueueSetup(
            path: directory + "/q", vault: vault,
            checkpoint: { checkpoint in
              guard checkpoint == .vaultChunk else { return }
              let isLast = stored.withLock { count in
                count += 1
                return count == chunk
              }
              if isLast { kill(getpid(), SIGKILL) }
            })
          let queue = try QueueFile(setup, now: noon)
          _ = try queue.enqueue(entry("a", bytes: 2_500), now: noon)
        }
        let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000)
        let names = try vault.list()
        #expect(!names.isEmpty && !names.contains("entry.a"))
        #expect(try QueueFile(path: directory + "/fresh", vault: vault, now: noon).count() == 0)
        #expect(try vault.list().isEmpty)
        // The queue itself survived and mirrors its entries at the next opening.
        #expect(try QueueFile(path: directory + "/q", vault: vault, now: noon).count() == 1)
        #expect(try vault.list().count == 4)
      }
    }
  #endif
}
