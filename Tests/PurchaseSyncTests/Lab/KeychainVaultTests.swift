import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// The portable part of the keychain vault, on a keychain in memory.
@Suite struct KeychainVaultTests {
  private let keychain = MemoryKeychain()
  private var vault: KeychainVault { KeychainVault(items: keychain, itemBytes: 8, totalBytes: 20) }

  private func item(_ name: String, _ size: Int) -> VaultItem {
    VaultItem(name: name, bytes: [UInt8](repeating: 7, count: size))
  }

  @Test func `an item can be read, replaced as a whole, and removed`() throws {
    #expect(try vault.list() == [])
    try vault.store(item("b", 3))
    try vault.store(item("a", 0))
    try vault.store(item("b", 5))
    #expect(try vault.list() == ["a", "b"])
    #expect(try vault.item(named: "b") == item("b", 5))
    #expect(try vault.item(named: "a") == item("a", 0))
    try vault.remove(named: "b")
    try vault.remove(named: "b")
    #expect(try vault.item(named: "b") == nil)
  }

  @Test(arguments: ["entry.Sandbox/1", "order.größer als\0null", "proof.e\u{301}", "proof.\u{e9}", "%2f"])
  func `any name becomes an account of plain characters and is read back byte by byte`(name: String) throws {
    try vault.store(item(name, 1))
    #expect(keychain.accounts.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } })
    #expect(try vault.list().map { Array($0.utf8) } == [Array(name.utf8)])
    #expect(try vault.item(named: name) != nil)
  }

  @Test func `an item over its limit is refused and the old one stays`() throws {
    try vault.store(item("a", 8))
    #expect(throws: VaultError.full(reason: "an item of 9 bytes; 8 are allowed")) {
      try vault.store(item("a", 9))
    }
    #expect(try vault.item(named: "a") == item("a", 8))
  }

  @Test func `the limit of all items counts a replaced item once`() throws {
    try vault.store(item("a", 8))
    try vault.store(item("b", 8))
    try vault.store(item("c", 4))
    #expect(throws: VaultError.full(reason: "21 bytes in all; 20 are allowed")) {
      try vault.store(item("d", 1))
    }
    try vault.store(item("a", 7))
    try vault.store(item("d", 1))
  }

  @Test func `items without a stated size count as full items`() throws {
    try vault.store(item("a", 1))
    try vault.store(item("b", 1))
    keychain.forgetSizes()
    #expect(throws: VaultError.full(reason: "21 bytes in all; 20 are allowed")) {
      try vault.store(item("c", 5))
    }
    try vault.store(item("c", 4))
  }

  /// A list whose sizes are not true.
  private struct Liar: KeychainItems {
    let sizes: [Int?]
    func list() throws(KeychainFailure) -> [KeychainEntry] {
      sizes.enumerated().map { KeychainEntry(account: "other \($0.offset)", size: $0.element) }
    }
    func read(_ account: String) throws(KeychainFailure) -> [UInt8] { [] }
    func add(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) {}
    func update(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) {}
    func delete(_ account: String) throws(KeychainFailure) {}
  }

  @Test(arguments: [[Int.max, .max], [.min, .max], [.min, .min, .min], [-1], [1 << 62, 1 << 62]])
  func `a size that no item can have counts as a full item`(sizes: [Int]) throws {
    let room = sizes.count * 8
    let liar = Liar(sizes: sizes)
    try KeychainVault(items: liar, itemBytes: 8, totalBytes: room + 4).store(item("a", 4))
    #expect(throws: VaultError.self) {
      try KeychainVault(items: liar, itemBytes: 8, totalBytes: room + 3).store(item("a", 4))
    }
  }

  @Test func `limits at the ends of the numbers are no crash`() throws {
    let liar = Liar(sizes: [.max, .max, .min, nil])
    let open = KeychainVault(items: liar, itemBytes: .max, totalBytes: .max)
    try open.store(item("a", 4))
    #expect(throws: VaultError.self) {
      try KeychainVault(items: liar, itemBytes: .min, totalBytes: .min).store(item("a", 0))
    }
    let folder = FileManager.default.temporaryDirectory.path + "/KeychainVaultTests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: folder) } }
    let noon = Timestamp(milliseconds: 1_780_000_000_000)
    let queue = try QueueFile(path: folder + "/q", vault: open, now: noon)
    let new = NewEntry(
      key: EntryKey(rawValue: "a"), lane: .device, payloads: [Payload(kind: "k", bytes: [1, 2, 3])])
    _ = try queue.enqueue(new, now: noon)
    #expect(try queue.entry(new.key)?.isUnprotected == false)
  }

  private static let failures: [(KeychainFailure, VaultError)] = [
    (.locked, .locked), (.noSpace, .full(reason: "the keychain has no space")),
    (
      .notEntitled,
      .failed(
        reason: "the app is not signed for this keychain: it needs an application identifier or access group")
    ),
    (.malformed, .failed(reason: "an item has no bytes")),
    (.other(status: -50), .failed(reason: "the keychain answered -50")),
  ]

  @Test(arguments: failures)
  func `a failing keychain counts neither as empty nor as done`(failure: KeychainFailure, error: VaultError)
    throws
  {
    try vault.store(item("device", 4))
    keychain.fail(with: failure)
    #expect(throws: error) { try vault.list() }
    #expect(throws: error) { try vault.item(named: "device") }
    #expect(throws: error) { try vault.item(named: "absent") }
    #expect(throws: error) { try vault.store(item("a", 1)) }
    #expect(throws: error) { try vault.remove(named: "device") }
    keychain.fail(with: nil)
    #expect(try vault.list() == ["device"])
  }

  @Test func `an item that another process adds in between is replaced`() throws {
    keychain.interfere { $0.put($1, [1, 2]) }
    try vault.store(item("a", 3))
    #expect(try vault.item(named: "a") == item("a", 3))
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `the vault behaves like a dictionary with a limit`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var model: [String: Int] = [:]
    for _ in 0..<200 {
      let name = ["a", "b", "c", "d", "e"].randomElement(using: &random) ?? "a"
      let size = Int.random(in: 0...9, using: &random)
      if Bool.random(using: &random) {
        let others = model.filter { $0.key != name }.values.reduce(0, +)
        let fits = size <= 8 && others + size <= 20
        var wasStored = true
        do throws(VaultError) {
          try vault.store(item(name, size))
        } catch {
          wasStored = false
        }
        #expect(wasStored == fits)
        if fits { model[name] = size }
      } else {
        try vault.remove(named: name)
        model[name] = nil
      }
      #expect(try vault.list() == model.keys.sorted())
      #expect(try vault.item(named: name)?.bytes.count == model[name])
    }
  }

  @Test func `a fresh install restores its entries from the vault`() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/KeychainVaultTests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer {
      do {
        try FileManager.default.removeItem(atPath: directory)
      } catch {
        Issue.record(error, "the temporary directory cannot be removed")
      }
    }
    let vault = KeychainVault(items: keychain, itemBytes: 64 << 10)
    let noon = Timestamp(milliseconds: 1_780_000_000_000)
    let proof = Payload(kind: "appReceipt", bytes: (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
    let new = NewEntry(key: EntryKey(rawValue: "Production/1"), lane: .account("alice"), payloads: [proof])
    let first = try QueueFile(path: directory + "/first", vault: vault, now: noon)
    _ = try first.enqueue(new, now: noon)
    #expect(keychain.accounts.count == 5)
    let second = try QueueFile(path: directory + "/second", vault: vault, now: noon)
    let restored = try #require(try second.entry(new.key))
    #expect(restored.lane == .account("alice"))
    #expect(try second.payload(try #require(restored.payloads.first)) == proof)
  }
}
