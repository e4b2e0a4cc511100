import Foundation
import PurchaseSQLite
import TestSupport
import Testing

@testable import PurchaseQueue

/// What the queue does with its vault happens under the inter-process lock.
@Suite struct VaultLockTests {
  /// Notes the calls during which another process could have taken the queue's lock.
  private final class LockWatch: QueueVault {
    private let base: DirectoryVault
    private let lockPath: String
    let unlocked = Locked<[String]>([])
    let calls = Locked(0)
    /// Called once, before the item of an entry is stored.
    let beforeItem = Locked<(@Sendable () -> Void)?>(nil)

    init(_ base: DirectoryVault, of queue: String) {
      self.base = base
      lockPath = queue + "-lock"
    }

    private func look(_ call: String) {
      calls.withLock { $0 += 1 }
      do throws(FileError) {
        let lock = try AdvisoryLock(path: lockPath)
        if try lock.tryLock() { unlocked.withLock { $0.append(call) } }
      } catch {
        unlocked.withLock { $0.append("\(call): \(error)") }
      }
    }

    var itemBytes: Int { base.itemBytes }

    func store(_ item: VaultItem) throws(VaultError) {
      if item.name.hasPrefix("entry.") {
        let act = beforeItem.withLock { act in
          defer { act = nil }
          return act
        }
        act?()
      }
      look("store \(item.name)")
      try base.store(item)
    }

    func remove(named name: String) throws(VaultError) {
      look("remove \(name)")
      try base.remove(named: name)
    }

    func list() throws(VaultError) -> [String] {
      look("list")
      return try base.list()
    }

    func item(named name: String) throws(VaultError) -> VaultItem? {
      look("item \(name)")
      return try base.item(named: name)
    }
  }

  @Test func `no call of the vault happens without the lock`() async throws {
    try await withTemporaryDirectory { directory in
      let (path, vault) = (directory + "/q", DirectoryVault(directory: directory + "/vault"))
      let watch = LockWatch(vault, of: path)
      let queue = try QueueFile(path: path, vault: watch, now: noon)
      for name in ["a", "b", "c"] { _ = try queue.enqueue(entry(name, bytes: 40_000), now: noon) }
      try vault.remove(named: "entry.b")
      _ = try QueueFile(path: path, vault: watch, now: noon)
      try queue.acknowledge([Settlement(key: key("a")), Settlement(key: key("b"))], now: noon)
      try queue.discard(key("c"), by: "kim", reason: "x", now: noon)
      let errors = queue.groupCommit([
        operation { (file) throws(QueueError) in _ = try file.enqueue(entry("d"), now: noon) },
        operation { (file) throws(QueueError) in _ = try file.enqueue(entry("e"), now: noon) },
      ])
      #expect(errors.allSatisfy { $0 == nil })
      try queue.maintain(now: noon)
      // A reinstall.
      let fresh = LockWatch(vault, of: directory + "/fresh")
      #expect(try QueueFile(path: directory + "/fresh", vault: fresh, now: noon).count() == 2)
      #expect(watch.unlocked.value == [] && fresh.unlocked.value == [])
      #expect(watch.calls.value > 30 && fresh.calls.value > 3)
    }
  }

  @Test func `an extension that opens the queue during a mirror removes no chunk of it`() async throws {
    try await withTemporaryDirectory { directory in
      let (path, vault) = (directory + "/q", DirectoryVault(directory: directory + "/vault"))
      let watch = LockWatch(vault, of: path)
      let queue = try QueueFile(path: path, vault: watch, now: noon)
      let opening = Locked<Rival<Int>?>(nil)
      watch.beforeItem.withLock { act in
        act = {
          // Waits for the lock, and then finds chunks with their item.
          let rival = Rival {
            try QueueFile(path: path, vault: DirectoryVault(directory: directory + "/vault"), now: noon)
              .count()
          }
          opening.withLock { $0 = rival }
        }
      }
      _ = try queue.enqueue(entry("paid", bytes: 40_000), now: noon)
      let rival = try #require(opening.value)
      #expect(rival.hasWaited)
      #expect(try await rival.result() == 1)
      let fresh = try QueueFile(path: directory + "/fresh", vault: vault, now: noon)
      let restored = try #require(try fresh.entry(key("paid")))
      #expect(restored.payloads.map(\.isByReference) == [false])
      #expect(try queue.entry(key("paid"))?.isUnprotected == false)
    }
  }

  @Test func `an entry that another process settled before it was mirrored is not mirrored`() async throws {
    try await withTemporaryDirectory { directory in
      let (path, vault) = (directory + "/q", DirectoryVault(directory: directory + "/vault"))
      let setup = QueueSetup(
        path: path, vault: vault,
        checkpoint: { checkpoint in
          guard checkpoint == .enqueueCommitted else { return }
          do throws(QueueError) {
            let other = try QueueFile(path: path, now: noon)
            try other.acknowledge([Settlement(key: key("a"))], now: noon)
          } catch {
            Issue.record(error)
          }
        })
      _ = try QueueFile(setup, now: noon).enqueue(entry("a"), now: noon)
      #expect(try vault.list().isEmpty)
    }
  }
}
