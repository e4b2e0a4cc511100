#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The bytes of a file in memory, and zeros behind them up to its size. A value: copies share their bytes until one
/// of them is written to.
@safe package struct FileContent: @unchecked Sendable {
  /// Bytes that are shared by copies.
  @safe private final class Storage {
    let base: UnsafeMutableRawPointer
    let capacity: Int

    init(capacity: Int) {
      unsafe base = .allocate(byteCount: max(capacity, 1), alignment: 16)
      self.capacity = capacity
    }

    deinit { unsafe base.deallocate() }
  }

  private var storage: Storage?
  /// Bytes that are there one by one; what is behind them, up to `size`, is zero.
  private var count = 0
  /// In bytes.
  package private(set) var size = 0

  package init() {}

  package init(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe write($0, at: 0) }
  }

  /// All of it.
  package var bytes: [UInt8] {
    var all = [UInt8](repeating: 0, count: size)
    unsafe all.withUnsafeMutableBytes { unsafe _ = read(into: $0, at: 0) }
    return all
  }

  /// Fills the buffer from the offset on, with zeros behind the end; returns how many bytes are the file's.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    guard let target = buffer.baseAddress else { return 0 }
    let stored = max(0, min(buffer.count, count - offset))
    if stored > 0, let storage { unsafe memcpy(target, storage.base + offset, stored) }
    if stored < buffer.count { unsafe memset(target + stored, 0, buffer.count - stored) }
    return max(0, min(buffer.count, size - offset))
  }

  mutating func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
    guard let from = source.baseAddress, source.count > 0 else { return }
    let end = offset + source.count
    reach(end)
    if let storage { unsafe memcpy(storage.base + offset, from, source.count) }
    size = max(size, end)
  }

  /// Writes so many zeros.
  mutating func clear(at offset: Int, count length: Int) {
    let end = offset + length
    let stored = min(end, count)
    if offset < stored {
      reach(stored)
      if let storage { unsafe memset(storage.base + offset, 0, stored - offset) }
    }
    size = max(size, end)
  }

  mutating func resize(to newSize: Int) {
    count = min(count, newSize)
    size = newSize
  }

  /// Makes the bytes up to `end` this value's own.
  private mutating func reach(_ end: Int) {
    let wanted = max(end, count)
    if storage == nil || !isKnownUniquelyReferenced(&storage) || wanted > (storage?.capacity ?? 0) {
      let isLonger = wanted > (storage?.capacity ?? 0)
      let fresh = Storage(capacity: isLonger ? wanted + wanted / 2 + 4096 : storage?.capacity ?? wanted)
      if let storage { unsafe memcpy(fresh.base, storage.base, count) }
      storage = fresh
    }
    if wanted > count, let storage {
      unsafe memset(storage.base + count, 0, wanted - count)
      count = wanted
    }
  }

  static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return true }
    // Each byte is the one before it, and the first is zero.
    return unsafe base.load(as: UInt8.self) == 0 && memcmp(base, base + 1, bytes.count - 1) == 0
  }

  // MARK: Sectors

  /// What a power cut may tear a write into.
  package static let sectorSize = 512

  /// A number for the bytes of one sector, the same for equal bytes in this process; 0 for zeros.
  func sectorHash(_ sector: Int) -> UInt64 {
    let start = sector * Self.sectorSize
    guard start < count, let storage else { return 0 }
    let length = min(Self.sectorSize, count - start)
    // Zeros at the end count as absent, however they came there.
    var end = length
    while end > 0, unsafe storage.base.load(fromByteOffset: start + end - 1, as: UInt8.self) == 0 { end -= 1 }
    guard end > 0 else { return 0 }
    var hasher = Hasher()
    hasher.combine(sector)
    unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: storage.base + start, count: end))
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Sectors that may hold something else than zeros.
  var storedSectors: Int { (count + Self.sectorSize - 1) / Self.sectorSize }
}
