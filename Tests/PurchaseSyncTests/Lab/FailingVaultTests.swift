import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A keychain that never answers, or not yet: what was paid is delivered, under one name of the device.
@Suite struct FailingVaultTests {
  private static let failures: [KeychainFailure] = [.notEntitled, .malformed, .noSpace, .other(status: -50)]
  private static let gems = [StoreProduct(id: "gems", kind: .consumable)]

  /// A shop of the lab whose vault is a keychain.
  private func shop(
    _ app: LabApp, _ keychain: any KeychainItems, _ outcomes: Locked<[Outcome]>
  ) -> Shop {
    var configuration = app.configuration
    configuration.vault = KeychainVault(items: keychain)
    return Shop(
      store: app.store, backend: app.backend, configuration: configuration, lifecycle: .explicit,
      credentials: { "token-" + $0.account }, fulfil: { outcome in outcomes.withLock { $0.append(outcome) } })
  }

  // MARK: A keychain that fails for good

  @Test(arguments: failures)
  func `a keychain that refuses the app for good delays no purchase by a minute`(why: KeychainFailure)
    async throws
  {
    try await AppLab.run(products: Self.gems) { lab in
      let (keychain, outcomes) = (MemoryKeychain(), Locked<[Outcome]>([]))
      keychain.fail(with: why)
      try await lab.phone().launch { app in
        let shop = shop(app, keychain, outcomes)
        _ = try await shop.purchase("gems", for: "alice")
        try await lab.pass(.seconds(60))
        #expect(outcomes.value.map(\.account) == ["alice"])
        await shop.close()
      }
      // After a kill, and another purchase: the same device.
      try await lab.phone().launch { app in
        let shop = shop(app, keychain, outcomes)
        _ = try await shop.purchase("gems", for: "bob")
        try await lab.pass(.seconds(60))
        #expect(outcomes.value.map(\.account) == ["alice", "bob"])
        await shop.close()
      }
      #expect(try lab.server.snapshot().charges.allSatisfy(\.isFinished))
    }
  }

  @Test func `a device without an account pays, though its keychain fails, and the app is killed`()
    async throws
  {
    try await AppLab.run(products: Self.gems) { lab in
      let (keychain, outcomes) = (MemoryKeychain(), Locked<[Outcome]>([]))
      keychain.fail(with: .notEntitled)
      for _ in 0..<2 {
        lab.phone().dies(.after(path: "/v1/receipts"))
        try await lab.phone().launch { app in
          let shop = shop(app, keychain, outcomes)
          _ = try await app.store.pay(product: "gems", quantity: 1, accountToken: nil)
          try await shop.resume()
          try await lab.pass(.seconds(600))
        }
      }
      try await lab.phone().launch { app in
        let shop = shop(app, keychain, outcomes)
        try await shop.resume()
        try await lab.pass(.seconds(60))
        await shop.close()
      }
      let seen = try lab.server.snapshot()
      #expect(Set(outcomes.value.map(\.key)).count == 2)
      #expect(seen.credits.count == 2)
      #expect(seen.doubledCredits == 0)
    }
  }

  private func open(_ path: String, _ vault: any QueueVault) throws -> SyncFile {
    try SyncFile(queue: QueueFile(path: path, limits: QueueLimits(), vault: vault, now: midday))
  }

  private func name(_ file: SyncFile) throws -> UUID? {
    try file.identity { DeviceIdentity(id: UUID(), secret: UUID().uuidString) }?.id
  }

  /// The name after so many uploads that asked for it.
  private func name(_ file: SyncFile, asking times: Int) throws -> UUID? {
    for _ in 1..<times { _ = try name(file) }
    return try name(file)
  }

  @Test(arguments: failures)
  func `a keychain that fails once gives a fresh install no name of its own`(why: KeychainFailure) throws {
    let folder = try TestFolder()
    let keychain = MemoryKeychain()
    let first = try name(open(folder.path + "/first", KeychainVault(items: keychain)))
    keychain.fail(with: why)
    let fresh = try open(folder.path + "/fresh", KeychainVault(items: keychain))
    #expect(try name(fresh) == nil)
    keychain.fail(with: nil)
    #expect(try name(fresh) == first)
  }

  @Test func `a name that a failing keychain left to the file stays, and goes to the keychain that answers`()
    throws
  {
    let folder = try TestFolder()
    let keychain = MemoryKeychain()
    keychain.fail(with: .notEntitled)
    let app = try open(folder.path + "/q", KeychainVault(items: keychain))
    let name = try self.name(app, asking: 3)
    #expect(name != nil)
    // The app's extension, and a later launch.
    #expect(try self.name(open(folder.path + "/q", KeychainVault(items: keychain))) == name)
    keychain.fail(with: nil)
    #expect(try self.name(app) == name)
    #expect(try self.name(open(folder.path + "/other", KeychainVault(items: keychain))) == name)
  }

  // MARK: A keychain that is locked

  /// Before the first unlock it lists nothing, and refuses the rest.
  private struct Unlisted: KeychainItems {
    let inner: MemoryKeychain
    func list() throws(KeychainFailure) -> [KeychainEntry] { throw .notFound }
    func read(_ account: String) throws(KeychainFailure) -> [UInt8] {
      if inner.accounts.contains(account) { throw .locked }
      throw .notFound
    }
    func add(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) { throw .locked }
    func update(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) { throw .locked }
    func delete(_ account: String) throws(KeychainFailure) { throw .locked }
  }

  @Test func `a locked keychain that lists nothing gives no device another name`() throws {
    let folder = try TestFolder()
    let keychain = MemoryKeychain()
    let first = try name(open(folder.path + "/q", KeychainVault(items: keychain)))
    let locked = KeychainVault(items: Unlisted(inner: keychain))
    #expect(try name(open(folder.path + "/q", locked), asking: 9) == first)
    // After a reinstall, in the background.
    let fresh = try open(folder.path + "/fresh", locked)
    #expect(try name(fresh, asking: 9) == nil)
    #expect(try name(open(folder.path + "/fresh", KeychainVault(items: keychain))) == first)
  }

  @Test func `a locked keychain that shows nothing at all gives no device another name`() throws {
    let folder = try TestFolder()
    let keychain = MemoryKeychain()
    let first = try name(open(folder.path + "/q", KeychainVault(items: keychain)))
    // It shows no item of its own, and takes none.
    let locked = KeychainVault(items: Unlisted(inner: MemoryKeychain()))
    #expect(try name(open(folder.path + "/q", locked), asking: 9) == first)
    #expect(try name(open(folder.path + "/fresh", locked), asking: 9) == nil)
    #expect(try name(open(folder.path + "/q", KeychainVault(items: keychain))) == first)
  }

  /// Before the first unlock it says of each item that it is not there, and adds none, because it is there.
  private struct Hidden: KeychainItems {
    let inner: MemoryKeychain
    func list() throws(KeychainFailure) -> [KeychainEntry] { throw .notFound }
    func read(_ account: String) throws(KeychainFailure) -> [UInt8] { throw .notFound }
    func add(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) {
      throw inner.accounts.contains(account) ? .duplicate : .locked
    }
    func update(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) { throw .notFound }
    func delete(_ account: String) throws(KeychainFailure) { throw .notFound }
  }

  @Test func `a keychain that hides what it holds gives no device another name`() throws {
    let folder = try TestFolder()
    let keychain = MemoryKeychain()
    let first = try name(open(folder.path + "/q", KeychainVault(items: keychain)))
    let hidden = KeychainVault(items: Hidden(inner: keychain))
    #expect(try name(open(folder.path + "/q", hidden), asking: 9) == first)
    #expect(try name(open(folder.path + "/fresh", hidden), asking: 9) == nil)
    #expect(try name(open(folder.path + "/fresh", KeychainVault(items: keychain))) == first)
  }

  @Test(arguments: ["", "device", "no identity"])
  func `a damaged item of the keychain is replaced by the file's name`(text: String) throws {
    let folder = try TestFolder()
    let keychain = MemoryKeychain()
    let first = try name(open(folder.path + "/q", KeychainVault(items: keychain)))
    keychain.put("device", Array(text.utf8))
    #expect(try name(open(folder.path + "/q", KeychainVault(items: keychain))) == first)
    #expect(try name(open(folder.path + "/fresh", KeychainVault(items: keychain))) == first)
  }
}

/// A folder for the time of a test.
private final class TestFolder {
  let path = FileManager.default.temporaryDirectory.path + "/FailingVaultTests-" + UUID().uuidString

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record(error, "the temporary directory cannot be removed")
    }
  }
}
