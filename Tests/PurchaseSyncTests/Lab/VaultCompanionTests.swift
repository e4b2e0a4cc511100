import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// The vault's items of an installation, and their restoration.
@Suite struct VaultCompanionTests {
  // MARK: The device's name

  private func open(
    _ path: String, _ vault: MoodyVault?
  ) throws -> SyncFile {
    try SyncFile(queue: QueueFile(path: path, limits: QueueLimits(), vault: vault, now: midday))
  }

  private func name(_ file: SyncFile?) throws -> UUID? {
    try file?.identity { DeviceIdentity(id: UUID(), secret: UUID().uuidString) }?.id
  }

  @Test func `two processes that name the device at the same moment agree`() async throws {
    let directory = try TemporaryDirectory()
    let vault = MoodyVault()
    let path = directory.path + "/q"
    let begun = Locked<Rival<UUID?>?>(nil)
    vault.beforeStoring = { name in
      guard name.hasPrefix("device") else { return }
      vault.beforeStoring = nil
      // The second process waits for the first one's lock.
      let rival = Rival { try self.name(try self.open(path, vault)) }
      begun.withLock { $0 = rival }
    }
    let one = try open(path, vault)
    let first = try name(one)
    let rival = try #require(begun.value)
    #expect(rival.hasWaited)
    let second = try await rival.result()
    #expect(first != nil && first == second, "the device lane is uploaded as two devices")
    #expect(try name(one) == first)
  }

  @Test func `a vault that failed once gets the device's name at a later opening`() throws {
    let directory = try TemporaryDirectory()
    let vault = MoodyVault()
    var file: SyncFile? = try open(directory.path + "/q", vault)
    vault.failsToStore = true
    let device = try #require(try name(file))
    vault.failsToStore = false
    for _ in 0..<3 {
      file = nil
      file = try open(directory.path + "/q", vault)
      #expect(try name(file) == device)
      try file?.maintain(now: midday)
    }
    // After a reinstall.
    #expect(try name(open(directory.path + "/fresh", vault)) == device)
  }

  @Test func `P13 a file that was restored from another phone's backup gets a device of its own`() throws {
    let directory = try TemporaryDirectory()
    let (mothers, childs) = (MoodyVault(), MoodyVault())
    let mother = try #require(try name(open(directory.path + "/mother", mothers)))
    // The phone never had the app.
    try directory.copy("/mother", to: "/child")
    let child = try #require(try name(open(directory.path + "/child", childs)))
    #expect(child != mother, "two phones have one name")
    #expect(try name(open(directory.path + "/child", childs)) == child)
    // The phone had the app: its vault has its name.
    try directory.copy("/mother", to: "/again")
    #expect(try name(open(directory.path + "/again", childs)) == child)
    #expect(try name(open(directory.path + "/mother", mothers)) == mother)
  }

  @Test func `a locked vault never leads to a new name, and a cloned one is noticed when it opens`() throws {
    let directory = try TemporaryDirectory()
    let (mothers, childs) = (MoodyVault(), MoodyVault())
    let mother = try #require(try name(open(directory.path + "/mother", mothers)))
    mothers.isLocked = true
    #expect(try name(open(directory.path + "/mother", mothers)) == mother)
    #expect(try name(open(directory.path + "/fresh", mothers)) == nil)
    try directory.copy("/mother", to: "/child")
    childs.isLocked = true
    let file = try open(directory.path + "/child", childs)
    #expect(try name(file) == mother)
    childs.isLocked = false
    let child = try name(file)
    #expect(child != nil && child != mother)
  }

  @Test func `P18 the device's secret is in no description`() throws {
    let identity = DeviceIdentity(id: UUID(), secret: "very-secret")
    var dumped = ""
    dump(identity, to: &dumped)
    for text in ["\(identity)", String(reflecting: identity), "\([identity])", dumped] {
      #expect(!text.contains("very-secret"))
    }
    #expect(DeviceIdentity(stored: identity.stored) == identity)
    for wrong in ["", identity.id.uuidString, identity.id.uuidString + ":", "no:secret", "a device"] {
      #expect(DeviceIdentity(stored: wrong) == nil)
    }
  }

  @Test func `an order that cannot be read is reported, and the others are restored`() throws {
    let directory = try TemporaryDirectory()
    let vault = MoodyVault()
    let request = try open(directory.path + "/q", vault)
    let asked = try request.request(
      account: "alice", product: "gems", quantity: 1, proposing: "key", waiting: [], now: midday)
    let document = OrderDocument(
      number: "7", accountToken: UUID(), productID: "gems", quantity: 1, state: .open, createdAt: midday)
    _ = try request.save(document, account: "alice", answering: asked, now: midday)
    vault.items["order.bad"] = VaultItem(name: "order.bad", bytes: Array("secret".utf8))
    let reports = Locked<[Diagnostic]>([])
    var setup = QueueSetup(path: directory.path + "/fresh", vault: vault)
    setup.diagnostics = { report in reports.withLock { $0.append(report) } }
    let fresh = try SyncFile(queue: QueueFile(setup, now: midday))
    #expect(try fresh.journal.orders().map(\.order.number) == ["7"])
    #expect(reports.value.map(\.subject) == ["order.bad"])
    #expect(!reports.value.contains { $0.description.contains("secret") })
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

  /// Copies a queue's file as a backup does.
  func copy(_ name: String, to other: String) throws {
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + name + suffix) {
      try FileManager.default.copyItem(atPath: path + name + suffix, toPath: path + other + suffix)
    }
  }

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
  var isLocked = false
  var beforeStoring: ((String) -> Void)?
  var itemBytes: Int { 16 << 10 }
  func store(_ item: VaultItem) throws(VaultError) {
    if failsToStore { throw .failed(reason: "a simulated failure") }
    beforeStoring?(item.name)
    items[item.name] = item
  }
  func remove(named name: String) throws(VaultError) { items[name] = nil }
  func list() throws(VaultError) -> [String] {
    if isLocked { throw .locked }
    return items.keys.sorted()
  }
  func item(named name: String) throws(VaultError) -> VaultItem? { items[name] }
}
