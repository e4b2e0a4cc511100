import PurchaseSQLite

/// The file of a `DirectoryVault`: records of items, one behind the other. Storing costs one sync, removing none.
///
/// Several processes may use it: each call holds the lock of a file next to it, and takes in what others have appended.
/// When most of the file is garbage, it is replaced by a file with the live items.
final class VaultFile {
  private let directory: String
  private let path: String
  private let disk: Disk
  private var files: Files?
  private var index = VaultIndex()
  /// Whether the file's name in its directory, and the directory's own, are durable.
  private var isNamed = false

  /// The mark at the beginning of the file. It is written after the directory and the one above it were synced, so it says
  /// that their names are durable.
  private static let beginning = Array("PQVault1".utf8)
  /// Less garbage than this is not worth a new file.
  private static let muchGarbage = 256 << 10

  /// The open lock file, and the open file.
  private final class Files {
    let lock: AdvisoryLock
    var descriptor: Int32
    private let disk: Disk

    init(_ path: String, on disk: Disk) throws(FileError) {
      lock = try AdvisoryLock(path: path + "-lock", on: disk)
      descriptor = try disk.files.open(path, .updating)
      self.disk = disk
    }

    deinit { disk.files.close(descriptor) }
  }

  init(directory: String, on disk: Disk) {
    self.directory = directory
    path = directory + "/items"
    self.disk = disk
  }

  // MARK: Calls

  /// Stores the items in one step: after a power cut all are there, or the call had not returned. False if they would
  /// pass the limit; then nothing is stored.
  func store(_ items: [VaultItem], atMost limit: Int) throws(FileError) -> Bool {
    let files = try opened()
    return try exclusively(files) { () throws(FileError) in
      guard index.liveBytes(with: items) <= limit else { return false }
      if index.garbage > max(Self.muchGarbage, index.liveBytes) { try compact(files) }
      var records: [[UInt8]] = []
      for (number, item) in items.enumerated() {
        records.append(VaultRecord.item(item, sequence: index.sequence + 1 + UInt64(number)))
      }
      try append(records, to: files, isSynced: true)
      for (item, record) in zip(items, records) { index.append(item.name, record) }
      return true
    }
  }

  /// Removes an item without a sync: a power cut may bring it back.
  func remove(_ name: String) throws(FileError) {
    guard let files = try openedIfPresent() else { return }
    try exclusively(files) { () throws(FileError) in
      guard index.places[name] != nil else { return }
      let record = VaultRecord.removal(of: name, sequence: index.sequence + 1)
      try append([record], to: files, isSynced: false)
      index.append(name, record)
    }
  }

  func names() throws(FileError) -> [String] {
    guard let files = try openedIfPresent() else { return [] }
    return try exclusively(files) { () throws(FileError) in index.places.keys.sorted() }
  }

  /// The bytes of an item; nil if it is absent.
  func bytes(of name: String) throws(FileError) -> [UInt8]? {
    guard let files = try openedIfPresent() else { return nil }
    return try exclusively(files) { () throws(FileError) in
      guard let place = index.places[name] else { return nil }
      return try disk.files.read(files.descriptor, from: place.offset, count: place.length, path)
    }
  }

  // MARK: The file

  private func opened() throws(FileError) -> Files {
    if let files, !files.lock.isOrphaned { return files }
    try disk.createDirectory(directory)
    return try open()
  }

  /// Nil if nothing was stored yet: reading creates nothing.
  private func openedIfPresent() throws(FileError) -> Files? {
    if let files, !files.lock.isOrphaned { return files }
    guard try disk.kind(of: path) == .file else { return nil }
    return try open()
  }

  private func open() throws(FileError) -> Files {
    let opened = try Files(path, on: disk)
    files = opened
    (index, isNamed) = (VaultIndex(), false)
    return opened
  }

  private func exclusively<R>(
    _ files: Files, _ body: () throws(FileError) -> R
  ) throws(FileError) -> R {
    guard try files.lock.lock(timeoutMilliseconds: 5_000) else {
      throw FileError.held(path + "-lock", "for five seconds")
    }
    defer { files.lock.unlock() }
    try takeIn(files)
    return try body()
  }

  /// Reads what other processes have written since. A torn end is cut off: it would hide what follows it.
  private func takeIn(_ files: Files) throws(FileError) {
    if disk.files.isUnlinked(files.descriptor) {
      let descriptor = try disk.files.open(path, .updating)
      disk.files.close(files.descriptor)
      files.descriptor = descriptor
      (index, isNamed) = (VaultIndex(), false)
    }
    var size = try disk.files.size(of: files.descriptor, path)
    if size < index.end { (index, isNamed) = (VaultIndex(), false) }
    guard size > index.end else { return }
    var bytes = try disk.files.read(files.descriptor, from: index.end, count: size - index.end, path)
    if index.end == 0 {
      isNamed = bytes.starts(with: Self.beginning)
      if isNamed { index.begin(at: Self.beginning.count) }
      bytes.removeFirst(isNamed ? Self.beginning.count : 0)
    }
    index.read(bytes)
    size = try disk.files.size(of: files.descriptor, path)
    if size > index.end { try disk.files.resize(files.descriptor, to: index.end, path) }
  }

  private func append(_ records: [[UInt8]], to files: Files, isSynced: Bool) throws(FileError) {
    let start = index.end
    var bytes = records.flatMap { $0 }
    if !isNamed {
      try disk.syncDirectory(of: path)
      try disk.syncName(ofDirectory: directory)
      if start == 0 {
        bytes = Self.beginning + bytes
      } else {
        try disk.files.write(Self.beginning, to: files.descriptor, at: 0, path)
      }
    }
    do throws(FileError) {
      try disk.files.write(bytes, to: files.descriptor, at: start, path)
      if isSynced { try disk.files.sync(files.descriptor, path) }
    } catch {
      // If this fails too, the next call takes in what is whole, which costs some work at most.
      try disk.files.resize(files.descriptor, to: start, path)
      throw error
    }
    if start == 0 { index.begin(at: Self.beginning.count) }
    isNamed = true
  }

  /// Replaces the file by one that holds the live items, in their order. The new file has its mark only after the
  /// directory was synced: if that fails or a kill comes first, the next append syncs the directory.
  private func compact(_ files: Files) throws(FileError) {
    var bytes = [UInt8](repeating: 0, count: Self.beginning.count)
    var fresh = VaultIndex()
    fresh.begin(at: bytes.count, after: index.sequence)
    for (name, place) in index.places.sorted(by: { $0.value.offset < $1.value.offset }) {
      let item = VaultItem(
        name: name,
        bytes: try disk.files.read(files.descriptor, from: place.offset, count: place.length, path))
      let record = VaultRecord.item(item, sequence: fresh.sequence + 1)
      bytes += record
      fresh.append(name, record)
    }
    try disk.replace(path, with: bytes)
    let descriptor = try disk.files.open(path, .updating)
    disk.files.close(files.descriptor)
    files.descriptor = descriptor
    (index, isNamed) = (fresh, false)
    try disk.files.write(Self.beginning, to: descriptor, at: 0, path)
    isNamed = true
  }
}
