/// Goes through the log of a disk, and says at each place what a power cut there could leave.
///
/// Each file's writes, and each directory's names, are durable from the next sync of that file or directory on; until
/// then any of them may be there or not, in any order. A file keeps its number: where the removal
/// of a name is lost, the old file is back with the bytes that it had.
package struct CrashReplay {
  /// Hashes of the sectors of a file as it is durable, and their sum.
  private struct Sums {
    var sectors: [UInt64] = []
    var total: UInt64 = 0

    subscript(sector: Int) -> UInt64 { sector < sectors.count ? sectors[sector] : 0 }

    mutating func set(_ hash: UInt64, of sector: Int) {
      while sectors.count <= sector { sectors.append(0) }
      total = total &- sectors[sector] &+ hash
      sectors[sector] = hash
    }
  }

  private let log: [DiskOperation]
  /// Operations that were done.
  package private(set) var position = 0
  /// The durable content.
  package private(set) var durable: DiskImage
  private var sums: [Int: Sums] = [:]
  /// Operations that were done and are not durable, in their order.
  package private(set) var pending: [DiskOperation] = []
  /// For each file with pending operations, the sectors that they may change.
  private var touched: [Int: [Int]] = [:]

  /// `start` is what was on the disk before the log began, all of it durable.
  package init(start: DiskImage, log: [DiskOperation]) {
    self.log = log
    durable = start
    for (file, content) in start.files {
      var sum = Sums()
      for sector in 0..<content.storedSectors { sum.set(content.sectorHash(sector), of: sector) }
      sums[file] = sum
    }
  }

  package var isAtEnd: Bool { position == log.count }

  /// Does the next operation.
  package mutating func advance() {
    let operation = log[position]
    position += 1
    switch operation {
    case .vault: durable.apply(operation)
    case .sync(let file): makeDurable(file)
    case .syncDirectory(let path):
      for change in pending where change.changedDirectory == path { durable.apply(change) }
      pending.removeAll { $0.changedDirectory == path }
    default:
      // Of notes that are written over each other, the last one or none.
      pending.removeAll { operation.replaces($0) }
      pending.append(operation)
      if let file = operation.changedFile { touched[file] = touchedSectors(file) }
    }
  }

  package mutating func advance(to place: Int) {
    while position < place { advance() }
  }

  private mutating func makeDurable(_ file: Int) {
    let changes = pending.filter { $0.changedFile == file }
    guard !changes.isEmpty else { return }
    for change in changes { durable.apply(change) }
    pending.removeAll { $0.changedFile == file }
    var sum = sums[file] ?? Sums()
    let content = durable.files[file] ?? FileContent()
    for sector in touched[file] ?? [] { sum.set(content.sectorHash(sector), of: sector) }
    sums[file] = sum
    touched[file] = nil
  }

  private func touchedSectors(_ file: Int) -> [Int] {
    var sectors: Set<Int> = []
    var end = sums[file]?.sectors.count ?? 0
    for change in pending where change.changedFile == file {
      switch change {
      case .write(_, let offset, let bytes):
        let last = (offset + max(bytes.count, 1) - 1) / FileContent.sectorSize
        sectors.formUnion(offset / FileContent.sectorSize...last)
        end = max(end, last + 1)
      case .clear(_, let offset, let count):
        // Zeros behind all that is there have no hash.
        let first = offset / FileContent.sectorSize
        let last = min(end, (offset + max(count, 1) - 1) / FileContent.sectorSize + 1)
        if first < last { sectors.formUnion(first..<last) }
      case .resize(_, let size):
        let first = size / FileContent.sectorSize
        if first < end { sectors.formUnion(first..<end) }
      default: break
      }
    }
    return Array(sectors)
  }

  /// The disk after a power cut at this place, with these fates of the pending operations.
  package func image(_ state: CrashState) -> DiskImage {
    var image = durable
    for (operation, fate) in zip(pending, state.fates) { image.apply(operation, fate) }
    return image
  }

  /// Of an image made here: equal for images whose names, files and vault are equal, in this process.
  package func fingerprint(of image: DiskImage) -> Int {
    var hasher = Hasher()
    for (path, file) in image.names.sorted(by: { $0.key < $1.key }) {
      hasher.combine(path)
      let content = image.files[file] ?? FileContent()
      hasher.combine(content.size)
      let base = sums[file] ?? Sums()
      var total = base.total
      for sector in touched[file] ?? [] { total = total &- base[sector] &+ content.sectorHash(sector) }
      hasher.combine(total)
    }
    for (name, bytes) in image.vault.sorted(by: { $0.key < $1.key }) {
      hasher.combine(name)
      unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
    return hasher.finalize()
  }
}
