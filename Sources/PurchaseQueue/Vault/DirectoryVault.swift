import PurchaseSQLite

/// A vault in a directory: one file per item, written whole, synced and renamed into place.
///
/// It has limits as a keychain has them, and imitates a keychain's bad moods on demand: `imitate` writes a file into
/// the directory, so that other processes see them as well.
public struct DirectoryVault: ReceiptVault {
  /// How a vault can misbehave.
  public enum Condition: String, Sendable, CaseIterable {
    /// As it should.
    case normal
    /// Every call throws `locked`, as before the first unlock after a start.
    case locked
    /// Every call throws `failed`.
    case failing
    /// Storing throws `full`; the rest works.
    case full
    /// Storing and removing do nothing and say that they worked: what is in the vault grows old.
    case stale
  }

  private static let suffix = ".item"
  private let directory: String
  /// The most bytes of one item.
  public let itemBytes: Int
  /// The most bytes of all items.
  public let totalBytes: Int

  /// Uses the directory; it is made when the first item is stored. 16 KiB an item and 8 MiB in all unless said
  /// otherwise: Apple documents no limits of the keychain, and these are well inside what it takes.
  public init(directory: String, itemBytes: Int = 16 << 10, totalBytes: Int = 8 << 20) {
    self.directory = directory
    self.itemBytes = itemBytes
    self.totalBytes = totalBytes
  }

  /// Behaves so from now on, in every process that uses this directory.
  public func imitate(_ condition: Condition) throws(VaultError) {
    try Self.wrap { () throws(FileError) in
      try DurableFile.createDirectory(directory)
      try DurableFile.replace(conditionPath, with: Array(condition.rawValue.utf8))
    }
  }

  /// Writes beside the item's file, syncs, renames, syncs the directory.
  public func store(_ item: VaultItem) throws(VaultError) {
    switch try condition() {
    case .full: throw .full(reason: "imitated")
    case .stale: return
    default: break
    }
    guard item.bytes.count <= itemBytes else {
      throw .full(reason: "an item of \(item.bytes.count) bytes; \(itemBytes) are allowed")
    }
    let path = path(of: item.name)
    try Self.wrap { () throws(FileError) in try DurableFile.createDirectory(directory) }
    let used = try size() - Self.wrap { () throws(FileError) in try DurableFile.size(of: path) }
    guard used + item.bytes.count <= totalBytes else {
      throw .full(reason: "\(used + item.bytes.count) bytes in all; \(totalBytes) are allowed")
    }
    try Self.wrap { () throws(FileError) in try DurableFile.replace(path, with: item.bytes) }
  }

  /// Removes the item's file and syncs the directory.
  public func remove(named name: String) throws(VaultError) {
    guard try condition() != .stale else { return }
    try Self.wrap { () throws(FileError) in
      guard try DurableFile.kind(of: path(of: name)) != .absent else { return }
      try DurableFile.remove(path(of: name))
    }
  }

  /// Reads the directory. What a killed write left behind is passed over.
  public func list() throws(VaultError) -> [String] {
    _ = try condition()
    return try files().map { VaultFileName.decode($0.dropLast(Self.suffix.count)) }.sorted()
  }

  /// Reads one item's file.
  public func item(named name: String) throws(VaultError) -> VaultItem? {
    _ = try condition()
    return try Self.wrap { () throws(FileError) in
      let path = path(of: name)
      guard try DurableFile.kind(of: path) == .file else { return nil }
      return VaultItem(name: name, bytes: try DurableFile.read(path))
    }
  }

  private var conditionPath: String { directory + "/condition" }

  private func condition() throws(VaultError) -> Condition {
    let text = try Self.wrap { () throws(FileError) in
      try DurableFile.kind(of: conditionPath) == .file ? DurableFile.read(conditionPath) : []
    }
    switch Condition(rawValue: String(decoding: text, as: UTF8.self)) ?? .normal {
    case .locked: throw .locked
    case .failing: throw .failed(reason: "imitated")
    case let other: return other
    }
  }

  private func files() throws(VaultError) -> [String] {
    try Self.wrap { () throws(FileError) in
      guard try DurableFile.kind(of: directory) != .absent else { return [] }
      return try DurableFile.names(in: directory).filter { $0.hasSuffix(Self.suffix) }
    }
  }

  private func size() throws(VaultError) -> Int {
    var sum = 0
    for file in try files() {
      sum += try Self.wrap { () throws(FileError) in try DurableFile.size(of: directory + "/" + file) }
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
