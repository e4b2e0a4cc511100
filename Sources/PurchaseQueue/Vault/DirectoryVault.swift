import PurchaseSQLite

/// A vault in a directory: one file per item, written completely, synced and renamed into place.
///
/// Its size is limited, as that of a keychain is.
public struct DirectoryVault: ReceiptVault {
  private static let suffix = ".item"
  private let directory: String
  /// The limit for one item, in bytes.
  public let itemBytes: Int
  /// The limit for all items together, in bytes.
  public let totalBytes: Int

  /// Uses the directory, which is created when the first item is stored. The default limits are 16 KiB for an item and
  /// 8 MiB in all: Apple documents no limits of the keychain, and the keychain takes more than that.
  public init(directory: String, itemBytes: Int = 16 << 10, totalBytes: Int = 8 << 20) {
    self.directory = directory
    self.itemBytes = itemBytes
    self.totalBytes = totalBytes
  }

  /// Writes a temporary file, syncs it, renames it, and syncs the directory.
  public func store(_ item: VaultItem) throws(VaultError) {
    guard item.bytes.count <= itemBytes else {
      throw .full(reason: "an item of \(item.bytes.count) bytes; \(itemBytes) are allowed")
    }
    let path = path(of: item.name)
    try Self.wrap { () throws(FileError) in try Disk.system.createDirectory(directory) }
    let used = try size() - Self.wrap { () throws(FileError) in try Disk.system.size(of: path) }
    guard used + item.bytes.count <= totalBytes else {
      throw .full(reason: "\(used + item.bytes.count) bytes in all; \(totalBytes) are allowed")
    }
    try Self.wrap { () throws(FileError) in try Disk.system.replace(path, with: item.bytes) }
  }

  /// Removes the item's file and syncs the directory.
  public func remove(named name: String) throws(VaultError) {
    try Self.wrap { () throws(FileError) in
      guard try Disk.system.kind(of: path(of: name)) != .absent else { return }
      try Disk.system.remove(path(of: name))
    }
  }

  /// Reads the directory. Leftovers of a killed write are skipped.
  public func list() throws(VaultError) -> [String] {
    try files().map { VaultFileName.decode($0.dropLast(Self.suffix.count)) }.sorted()
  }

  /// Reads the file of one item.
  public func item(named name: String) throws(VaultError) -> VaultItem? {
    try Self.wrap { () throws(FileError) in
      let path = path(of: name)
      guard try Disk.system.kind(of: path) == .file else { return nil }
      return VaultItem(name: name, bytes: try Disk.system.read(path))
    }
  }

  private func files() throws(VaultError) -> [String] {
    try Self.wrap { () throws(FileError) in
      guard try Disk.system.kind(of: directory) != .absent else { return [] }
      return try Disk.system.names(in: directory).filter { $0.hasSuffix(Self.suffix) }
    }
  }

  private func size() throws(VaultError) -> Int {
    var sum = 0
    for file in try files() {
      sum += try Self.wrap { () throws(FileError) in try Disk.system.size(of: directory + "/" + file) }
    }
    return sum
  }

  private func path(of name: String) -> String {
    directory + "/" + VaultFileName.encode(name) + Self.suffix
  }

  private static func wrap<R>(_ body: () throws(FileError) -> R) throws(VaultError) -> R {
    do throws(FileError) {
      return try body()
    } catch {
      if error.isDiskFull { throw .full(reason: error.description) }
      throw .failed(reason: error.description)
    }
  }
}
