import Foundation
import PurchaseSync

/// A keychain in memory. It answers as Apple's documentation says that the system's keychain does.
final class MemoryKeychain: KeychainItems, @unchecked Sendable {
  private let lock = NSLock()
  private var items: [String: [UInt8]] = [:]
  private var failure: KeychainFailure?
  private var interference: (@Sendable (MemoryKeychain, String) -> Void)?
  private var sizesAreKnown = true

  /// The error of every call from now on; nil for none.
  func fail(with failure: KeychainFailure?) { lock.withLock { self.failure = failure } }

  /// Lists no longer state the size of an item.
  func forgetSizes() { lock.withLock { sizesAreKnown = false } }

  /// Simulates another process. Runs once, after an update that found nothing.
  func interfere(_ body: (@Sendable (MemoryKeychain, String) -> Void)?) {
    lock.withLock { interference = body }
  }

  var accounts: [String] { lock.withLock { items.keys.sorted() } }

  func put(_ account: String, _ bytes: [UInt8]) { lock.withLock { items[account] = bytes } }

  func list() throws(KeychainFailure) -> [KeychainEntry] {
    let (items, sizesAreKnown) = try healthy()
    guard !items.isEmpty else { throw .notFound }
    return items.map { KeychainEntry(account: $0.key, size: sizesAreKnown ? $0.value.count : nil) }
  }

  func read(_ account: String) throws(KeychainFailure) -> [UInt8] {
    guard let bytes = try healthy().items[account] else { throw .notFound }
    return bytes
  }

  func add(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) {
    guard try healthy().items[account] == nil else { throw .duplicate }
    put(account, bytes)
  }

  func update(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) {
    guard try healthy().items[account] != nil else {
      let interference = lock.withLock {
        defer { self.interference = nil }
        return self.interference
      }
      interference?(self, account)
      throw .notFound
    }
    put(account, bytes)
  }

  func delete(_ account: String) throws(KeychainFailure) {
    guard try healthy().items[account] != nil else { throw .notFound }
    lock.withLock { items[account] = nil }
  }

  private func healthy() throws(KeychainFailure) -> (items: [String: [UInt8]], sizesAreKnown: Bool) {
    lock.lock()
    defer { lock.unlock() }
    if let failure { throw failure }
    return (items, sizesAreKnown)
  }
}
