import PurchaseQueue
import PurchaseSync
import Specification

/// Another phone next to the first one: new and empty, or begun with a copy of the first one's file.
final class EnginePhone: @unchecked Sendable {
  /// The first phone is 0.
  let number: Int
  let isClone: Bool
  /// The Apple ID.
  let storeAccount: Int
  let directory: String
  let vault: EngineVault
  /// The account that uses it. It changes only while its app does not run.
  var user: String?
  /// Its processes, the present one last.
  var processes: [EngineProcess] = []
  var watch: FileWatch?
  /// What the copied file held; nothing on a new phone.
  let copied: FileWatch.Content
  /// The receipt on the phone.
  var receipt: [UInt8]?
  /// What the latest restore handed over, and what was bought on it.
  var restored: Set<Int> = []
  var bought: Set<Int> = []
  /// What the backend said to it about owners: `yours/` and the account, `another` or `device`.
  var answers: [Int: Set<String>] = [:]
  /// Transactions whose outcome its app received.
  var told: Set<Int> = []

  init(
    number: Int, storeAccount: Int, user: String?, directory: String, vault: EngineVault,
    copied: FileWatch.Content?
  ) {
    self.number = number
    self.storeAccount = storeAccount
    self.user = user
    self.directory = directory
    self.vault = vault
    isClone = copied != nil
    self.copied = copied ?? FileWatch.Content()
  }

  var name: String { "phone \(number + 1)" }
  var process: EngineProcess? { processes.last }

  /// Whether the entry of a transaction came with the copied file.
  func hasCopied(_ sale: Int) -> Bool { copied.rows[Names.key(sale).rawValue] != nil }
  func hasCopiedOutcome(of sale: Int) -> Bool { copied.stones[Names.key(sale).rawValue] != nil }
}

/// The keychain of one phone, in memory. No backup holds it.
final class EngineVault: @unchecked Sendable {
  var items: [String: [UInt8]] = [:]
}

/// A phone's vault as one process calls it.
struct EngineProcessVault: QueueVault {
  let vault: EngineVault
  let process: EngineProcess
  let itemBytes = 16 << 10

  func store(_ item: VaultItem) throws(VaultError) {
    try check()
    vault.items[item.name] = item.bytes
  }

  func remove(named name: String) throws(VaultError) {
    try check()
    vault.items[name] = nil
  }

  func list() throws(VaultError) -> [String] {
    try check()
    return vault.items.keys.sorted()
  }

  func item(named name: String) throws(VaultError) -> VaultItem? {
    try check()
    return vault.items[name].map { VaultItem(name: name, bytes: $0) }
  }

  private func check() throws(VaultError) {
    if !process.isAlive { throw .failed(reason: "the process is gone") }
  }
}
