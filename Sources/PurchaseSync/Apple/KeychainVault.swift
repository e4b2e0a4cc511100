public import PurchaseQueue

/// The vault in the keychain: one generic password per item, within limits of its own.
///
/// Items are readable after the first unlock since the device started, so that the queue can work in the background;
/// before that every call throws `locked`. They stay on this device: they hold its name. That they outlive an
/// uninstall is observed, not promised by Apple; build on the store's redelivery.
public struct KeychainVault: ReceiptVault {
  private let items: any KeychainItems
  /// The most bytes of one item.
  public let itemBytes: Int
  /// The most bytes of all items.
  public let totalBytes: Int

  package init(items: any KeychainItems, itemBytes: Int = 16 << 10, totalBytes: Int = 8 << 20) {
    self.items = items
    self.itemBytes = itemBytes
    self.totalBytes = totalBytes
  }

  /// Replaces the item, or adds it. The keychain writes one item as a whole or not at all.
  public func store(_ item: VaultItem) throws(VaultError) {
    guard item.bytes.count <= itemBytes else {
      throw .full(reason: "an item of \(item.bytes.count) bytes; \(itemBytes) are allowed")
    }
    let account = VaultFileName.encode(item.name)
    let used = try usedBytes(without: account)
    guard used + item.bytes.count <= totalBytes else {
      throw .full(reason: "\(used + item.bytes.count) bytes in all; \(totalBytes) are allowed")
    }
    do throws(KeychainFailure) {
      try replace(account, item.bytes)
    } catch {
      throw Self.error(error)
    }
  }

  /// Removes the item; an absent one is fine.
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

  /// Another process of the app may add or delete between two calls: then the other call is right.
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
    try items.update(account, bytes)
  }

  /// An item that doesn't say its size counts as a full one: the limit holds whatever an older version left.
  private func usedBytes(without account: String) throws(VaultError) -> Int {
    var sum = 0
    for entry in try entries() where entry.account != account { sum += entry.size ?? itemBytes }
    return sum
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
    case .noRoom: .full(reason: "the keychain has no room")
    case .notFound, .duplicate: .failed(reason: "another process changed the item at the same moment")
    case .notEntitled:
      .failed(
        reason: "the app is not signed for this keychain: it needs an application identifier or access group")
    case .malformed: .failed(reason: "an item has no bytes")
    case .other(let status): .failed(reason: "the keychain answered \(status)")
    }
  }
}
