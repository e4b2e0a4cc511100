import Foundation
import PurchaseQueue
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A vault in a bad mood: no purchase fails by it, none is doubled, and what it could not keep is flagged.
@Suite struct VaultConditionTests {
  @Test(arguments: [DirectoryVault.Condition.locked, .failing, .full])
  func `a purchase goes on, is flagged, and is mirrored when the vault is well again`(
    condition: DirectoryVault.Condition
  ) async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      try vault.imitate(condition)
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      guard case .inserted(let inserted) = try queue.enqueue(entry("a"), now: noon) else {
        Issue.record("not inserted")
        return
      }
      #expect(try queue.entry(inserted.key)?.isUnprotected == true)
      #expect(try queue.health().unprotected == 1)
      try vault.imitate(.normal)
      try queue.maintain(now: noon)
      #expect(try queue.health().unprotected == 0)
      let fresh = try QueueFile(path: directory + "/fresh", vault: vault, now: noon)
      #expect(try fresh.allEntries().map(\.key) == [inserted.key])
    }
  }

  @Test func `a vault that cannot be read at the opening says so and is read at the next`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      _ = try QueueFile(path: directory + "/first", vault: vault, now: noon).enqueue(entry("a"), now: noon)
      try vault.imitate(.locked)
      let second = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      #expect(try second.health().vaultProblem?.contains("locked") == true)
      #expect(try second.count() == 0)
      try vault.imitate(.normal)
      let third = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      #expect(third.vaultProblem == nil)
      #expect(try third.count() == 1)
    }
  }

  @Test func `an order that is another's in this install is not given to what the vault brings back`()
    async throws
  {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      var bound = entry("a")
      bound.orderNumber = "19"
      _ = try QueueFile(path: directory + "/first", vault: vault, now: noon).enqueue(bound, now: noon)
      var other = entry("b")
      other.orderNumber = "19"
      // Without its vault, as when that is locked at the first opening.
      _ = try QueueFile(path: directory + "/second", now: noon).enqueue(other, now: noon)
      let second = try QueueFile(path: directory + "/second", vault: vault, now: noon)
      #expect(try second.entry(EntryKey(rawValue: "b"))?.orderNumber == "19")
      let restored = try #require(try second.entry(EntryKey(rawValue: "a")))
      #expect(restored.orderNumber == nil)
    }
  }

  @Test func `an item that outlived its purchase is removed, and does not bring it back`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault")
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      _ = try queue.enqueue(entry("a"), now: noon)
      try vault.imitate(.stale)
      try queue.acknowledge([Settlement(key: EntryKey(rawValue: "a"))], now: noon)
      #expect(try vault.list().contains("entry.a"))
      try vault.imitate(.normal)
      let reopened = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      #expect(try reopened.count() == 0)
      #expect(try vault.list().isEmpty)
    }
  }

  @Test func `a proof that does not fit leaves the entry in the vault, to be read from its source`()
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
      #expect(restored.map { $0.proofs.map(\.isByReference) } == [[false], [true]])
      #expect(restored[1].proofs[0].size == 2_500)
    }
  }

  @Test func `room in the vault that nobody needs is found when it is full`() async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000, totalBytes: 3_000)
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      for index in 0..<2 {
        try vault.store(VaultItem(name: "proof.forgotten.\(index)", bytes: Array(repeating: 1, count: 900)))
      }
      _ = try queue.enqueue(entry("a", bytes: 2_000), now: noon)
      #expect(try queue.allEntries().map(\.isUnprotected) == [false])
      let left = try vault.list().filter { $0.hasPrefix("proof.forgotten") }
      #expect(left.isEmpty)
    }
  }

  @Test(arguments: [0, 1, 999, 1_000, 1_001, 5_000])
  func `a proof of any size comes back from its chunks`(size: Int) async throws {
    try await withTemporaryDirectory { directory in
      let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000)
      let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
      var new = entry("a")
      new.proofs = [Proof(kind: "p", bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })]
      _ = try queue.enqueue(new, now: noon)
      let fresh = try QueueFile(path: directory + "/fresh", vault: vault, now: noon)
      let reference = try #require(try fresh.allEntries().first?.proofs.first)
      #expect(try fresh.proof(reference) == new.proofs[0])
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
        new.proofs = [Proof(kind: "p", bytes: Array(repeating: 5, count: 2_500))]
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
    @Test(arguments: 1...3) func `a kill between chunks leaves no half item`(chunk: Int) async throws {
      try await withTemporaryDirectory { directory in
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [directory = directory as String, chunk = chunk as Int] in
          let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000)
          let queue = try QueueFile(path: directory + "/q", vault: vault, now: noon)
          var stored = 0
          queue.hook = { name in
            if name == "vault.chunk" { stored += 1 }
            if stored == chunk { kill(getpid(), SIGKILL) }
          }
          _ = try queue.enqueue(entry("a", bytes: 2_500), now: noon)
        }
        let vault = DirectoryVault(directory: directory + "/vault", itemBytes: 1_000)
        let names = try vault.list()
        #expect(!names.isEmpty && !names.contains("entry.a"))
        #expect(try QueueFile(path: directory + "/fresh", vault: vault, now: noon).count() == 0)
        #expect(try vault.list().isEmpty)
        // The queue itself survived, and mirrors what it has at its next opening.
        #expect(try QueueFile(path: directory + "/q", vault: vault, now: noon).count() == 1)
        #expect(try vault.list().count == 4)
      }
    }
  #endif
}
