public import PurchaseQueue

/// A vault in the keychain: one generic password per item, within limits of its own.
///
/// Items are readable after the first unlock since the device started, so that the queue can work in the
/// background. Before that, every call throws `locked`. Items stay on this device, because they hold its
/// name. Keychain items survive an uninstall in practice, but Apple does not promise it: rely on the store's
/// redelivery.
public struct KeychainVault: QueueVault {
  private let items: any KeychainItems
  /// The greatest number of bytes of one item.
  public let itemBytes: Int
  /// The greatest number of bytes of all items.
  public let totalBytes: Int

  package init(items: any KeychainItems, itemBytes: Int = 16 << 10, totalBytes: Int = 8 << 20) {
    self.items = items
    self.itemBytes = itemBytes
    self.totalBytes = totalBytes
  }

  /// Replaces or adds the item. The keychain writes one item completely or not at all.
  public func store(_ item: VaultItem) throws(VaultError) {
    guard item.bytes.count <= itemBytes else {
      throw .full(reason: "an item of \(item.bytes.count) bytes; \(itemBytes) are allowed")
    }
    let account = VaultFileName.encode(item.name)
    let all = Self.sum(try usedBytes(without: account), item.bytes.count)
    guard all <= totalBytes else { throw .full(reason: "\(all) bytes in all; \(totalBytes) are allowed") }
    do throws(KeychainFailure) {
      try replace(account, item.bytes)
    } catch {
      throw Self.error(error)
    }
  }

  /// Removes the item. A missing item is not an error.
  public func remove(named name: String) throws(VaultError) {
    do throws(KeychainFailure) {
      try items.delete(VaultFileName.encode(name))
    } catch {
      if error != .notFound { throw Self.error(error) }
    }
  }

  /// The names of all items of the service.
  public func list() throws(VaultError) -> [String] {
    var names: [String] = []
    for entry in try entries() { names.append(VaultFileName.decode(entry.account[...])) }
    return names.sorted()
  }

  /// Reads one item.
  public func item(named name: String) throws(VaultError) -> VaultItem? {
    do throws(KeychainFailure) {
      return VaultItem(name: name, bytes: try items.read(VaultFileName.encode(name)))
    } catch {
      if error == .notFound { return nil }
      throw Self.error(error)
    }
  }

  /// Updates or adds. If another process of the app adds or deletes between the two calls, the other call
  /// succeeds.
  private func replace(_ account: String, _ bytes: [UInt8]) throws(KeychainFailure) {
    do throws(KeychainFailure) {
      return try items.update(account, bytes)
    } catch {
      if error != .notFound { throw error }
    }
    do throws(KeychainFailure) {
      return try items.add(account, bytes)
    } catch {
      if error != .duplicate { throw error }
    }
    do throws(KeychainFailure) {
      try items.update(account, bytes)
    } catch {
      // It holds the item and does not show it: before the first unlock a keychain may say so instead of being locked.
      throw error == .notFound ? .locked : error
    }
  }

  /// An item without a stated size counts as `itemBytes`, so the limit holds for items of older versions too. So does one
  /// with a size that no item of this vault can have: another app of the access group may have written it.
  private func usedBytes(without account: String) throws(VaultError) -> Int {
    let allowed = 0...max(0, totalBytes)
    return try entries().reduce(0) { sum, entry in
      guard entry.account != account else { return sum }
      return Self.sum(sum, entry.size.flatMap { allowed.contains($0) ? $0 : nil } ?? max(0, itemBytes))
    }
  }

  private static func sum(_ bytes: Int, _ more: Int) -> Int {
    let (sum, isTooLarge) = bytes.addingReportingOverflow(more)
    return isTooLarge ? .max : sum
  }

  private func entries() throws(VaultError) -> [KeychainEntry] {
    do throws(KeychainFailure) {
      return try items.list()
    } catch {
      if error == .notFound { return [] }
      throw Self.error(error)
    }
  }

  private static func error(_ failure: KeychainFailure) -> VaultError {
    switch failure {
    case .locked: .locked
    case .noSpace: .full(reason: "the keychain has no space")
    case .notFound, .duplicate: .failed(reason: "another process changed the item at the same moment")
    case .notEntitled:
      .failed(
        reason: "the app is not signed for this keychain: it needs an application identifier or access group")
    case .malformed: .failed(reason: "an item has no bytes")
    case .other(let status): .failed(reason: "the keychain answered \(status)")
    }
  }
}
