package import PurchaseSQLite

/// A vault in a directory, in one file. Storing costs one sync, however many items are stored together; removing costs
/// none.
///
/// Its size is limited, as that of a keychain is. The file takes at most twice the bytes of its items and 256 KiB, and
/// the names. Processes and instances may share a directory.
public struct DirectoryVault: BatchingVault {
  private let file: Locked<VaultFile>
  /// The limit for one item, in bytes.
  public let itemBytes: Int
  /// The limit for all items together, in bytes.
  public let totalBytes: Int

  /// Uses the directory, which is created when the first item is stored. The default limits are 16 KiB for an item and
  /// 8 MiB in all: Apple documents no limits of the keychain, and the keychain takes more than that.
  public init(directory: String, itemBytes: Int = 16 << 10, totalBytes: Int = 8 << 20) {
    self.init(directory: directory, on: .system, itemBytes: itemBytes, totalBytes: totalBytes)
  }

  /// As the public initializer, on another disk.
  package init(directory: String, on disk: Disk, itemBytes: Int = 16 << 10, totalBytes: Int = 8 << 20) {
    file = Locked(VaultFile(directory: directory, on: disk))
    self.itemBytes = itemBytes
    self.totalBytes = totalBytes
  }

  /// Appends the item to the file and syncs it.
  public func store(_ item: VaultItem) throws(VaultError) { try store([item]) }

  /// Appends the items with one write and one sync. Throws `full` without having stored any.
  public func store(_ items: [VaultItem]) throws(VaultError) {
    for item in items where item.bytes.count > itemBytes {
      throw .full(reason: "an item of \(item.bytes.count) bytes; \(itemBytes) are allowed")
    }
    let isStored = try use { (file) throws(FileError) in try file.store(items, atMost: totalBytes) }
    guard isStored else { throw .full(reason: "the items would take more than \(totalBytes) bytes") }
  }

  /// Appends a note of the removal, without a sync: after a power cut the item may be there again.
  public func remove(named name: String) throws(VaultError) {
    try use { (file) throws(FileError) in try file.remove(name) }
  }

  /// The names, from memory; reads only what other processes have changed.
  public func list() throws(VaultError) -> [String] {
    try use { (file) throws(FileError) in try file.names() }
  }

  /// Reads one item.
  public func item(named name: String) throws(VaultError) -> VaultItem? {
    try use { (file) throws(FileError) in try file.bytes(of: name) }.map { VaultItem(name: name, bytes: $0) }
  }

  private func use<R>(_ body: (VaultFile) throws(FileError) -> R) throws(VaultError) -> R {
    do throws(FileError) {
      return try file.withLock { (file) throws(FileError) in try body(file) }
    } catch {
      if error.isDiskFull { throw .full(reason: error.description) }
      throw .failed(reason: error.description)
    }
  }
}
