import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The vault's items of an installation, and their restoration.
@Suite struct VaultCompanionTests {
  // MARK: The device's name

  @Test func `two processes that name the device at the same moment agree`() throws {
    let directory = try TemporaryDirectory()
    let vault = MoodyVault()
    let one = try SyncFile(
      queue: QueueFile(path: directory.path + "/q", limits: QueueLimits(), vault: vault, now: midday))
    let two = try SyncFile(
      queue: QueueFile(path: directory.path + "/q", limits: QueueLimits(), vault: vault, now: midday))
    var second: UUID?
    vault.beforeStoring = { name in
      guard name.hasPrefix("device") else { return }
      vault.beforeStoring = nil
      do throws(QueueError) {
        second = try two.device(proposing: UUID())
      } catch {
        Issue.record(error)
      }
    }
    let first = try one.device(proposing: UUID())
    #expect(first != nil && first == second, "the device lane is uploaded as two devices")
    #expect(try two.device(proposing: UUID()) == second)
    #expect(try one.device(proposing: UUID()) == first)
  }

  @Test func `a vault that failed once gets the device's name at a later opening`() throws {
    let directory = try TemporaryDirectory()
    let vault = MoodyVault()
    func open(_ name: String) throws -> SyncFile {
      try SyncFile(
        queue: QueueFile(path: directory.path + "/" + name, limits: QueueLimits(), vault: vault, now: midday))
    }
    var file: SyncFile? = try open("q")
    vault.failsToStore = true
    let device = try #require(try file?.device(proposing: UUID()))
    vault.failsToStore = false
    for _ in 0..<3 {
      file = nil
      file = try open("q")
      #expect(try file?.device(proposing: UUID()) == device)
      try file?.maintain(now: midday)
    }
    // After a reinstall.
    #expect(try open("fresh").device(proposing: UUID()) == device)
  }

  // MARK: Cancelled orders in the vault

  @Test func `cancelled orders do not fill the vault forever`() throws {
    let directory = try TemporaryDirectory()
    let vault = MoodyVault()
    var now = midday
    for number in 0..<30 {
      let file = try SyncFile(
        queue: QueueFile(path: directory.path + "/q", limits: QueueLimits(), vault: vault, now: now))
      let request = try file.request(
        account: "alice", product: "gems", quantity: 1, proposing: "key \(number)", waiting: [], now: now)
      let document = OrderDocument(
        number: String(number), accountToken: UUID(), productID: "gems", quantity: 1, state: .open,
        createdAt: now, expiresAt: now.adding(milliseconds: 3_600_000))
      _ = try file.save(document, account: "alice", answering: request, now: now)
      _ = try file.set(.cancelled, of: String(number))
      now = now.adding(milliseconds: inDays(60))
      try file.maintain(now: now)
    }
    // Five years later; the journal keeps the newest 20.
    let kept = try vault.list().filter { $0.hasPrefix("order.") }.count
    #expect(kept <= 20, "\(kept) orders in the vault")
    let file = try SyncFile(
      queue: QueueFile(path: directory.path + "/q", limits: QueueLimits(), vault: vault, now: now))
    let open = try file.journal.orders().map(\.order.state)
    #expect(!open.contains(.open), "cancelled orders are open again: \(open)")
  }
}

/// A temporary directory for a test.
private final class TemporaryDirectory {
  let path = FileManager.default.temporaryDirectory.path + "/VaultCompanionTests-" + UUID().uuidString

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record(error, "the temporary directory cannot be removed")
    }
  }
}

/// A vault in memory.
private final class MoodyVault: QueueVault, @unchecked Sendable {
  var items: [String: VaultItem] = [:]
  var failsToStore = false
  var beforeStoring: ((String) -> Void)?
  var itemBytes: Int { 16 << 10 }
  func store(_ item: VaultItem) throws(VaultError) {
    if failsToStore { throw .failed(reason: "a simulated failure") }
    beforeStoring?(item.name)
    items[item.name] = item
  }
  func remove(named name: String) throws(VaultError) { items[name] = nil }
  func list() throws(VaultError) -> [String] { items.keys.sorted() }
  func item(named name: String) throws(VaultError) -> VaultItem? { items[name] }
}
