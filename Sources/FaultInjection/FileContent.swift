#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The bytes of a file in memory. A value: copies share their pieces until one of them is written to, so that what a
/// power cut leaves costs no more than what differs.
@safe package struct FileContent: @unchecked Sendable {
  /// A piece of the file that copies share.
  @safe private final class Chunk {
    static let size = 16_384
    let base: UnsafeMutableRawPointer

    /// Not initialised.
    init() { unsafe base = .allocate(byteCount: Self.size, alignment: 16) }

    convenience init(copying other: Chunk) {
      self.init()
      unsafe memcpy(base, other.base, Self.size)
    }

    deinit { unsafe base.deallocate() }
  }

  /// Nil where everything is zero, and behind them as well. Bytes behind the end of the file are zero.
  private var chunks: [Chunk?] = []
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
    Self.forEachPart(of: offset..<offset + buffer.count) { number, range, done in
      if number < chunks.count, let chunk = chunks[number] {
        unsafe memcpy(target + done, chunk.base + range.lowerBound, range.count)
      } else {
        unsafe memset(target + done, 0, range.count)
      }
    }
    return max(0, min(buffer.count, size - offset))
  }

  mutating func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
    guard let from = source.baseAddress, source.count > 0 else { return }
    let end = offset + source.count
    Self.forEachPart(of: offset..<end) { number, range, done in
      let chunk = ownChunk(number, isOverwritten: range.count == Chunk.size)
      unsafe memcpy(chunk.base + range.lowerBound, from + done, range.count)
    }
    size = max(size, end)
  }

  /// Writes so many zeros.
  mutating func clear(at offset: Int, count length: Int) {
    blank(offset..<offset + length)
    size = max(size, offset + length)
  }

  mutating func resize(to newSize: Int) {
    if newSize < size {
      blank(newSize..<size)
      let needed = (newSize + Chunk.size - 1) / Chunk.size
      if chunks.count > needed { chunks.removeLast(chunks.count - needed) }
    }
    size = newSize
  }

  private mutating func blank(_ bytes: Range<Int>) {
    Self.forEachPart(of: bytes) { number, range, _ in
      guard number < chunks.count, chunks[number] != nil else { return }
      if range.count == Chunk.size {
        chunks[number] = nil
      } else {
        unsafe memset(ownChunk(number, isOverwritten: false).base + range.lowerBound, 0, range.count)
      }
    }
  }

  /// The parts of a range of bytes that each lie in one chunk: its number, the range in it, and how many bytes came
  /// before.
  private static func forEachPart(of bytes: Range<Int>, _ body: (Int, Range<Int>, Int) -> Void) {
    var position = bytes.lowerBound
    while position < bytes.upperBound {
      let (number, start) = (position / Chunk.size, position % Chunk.size)
      let end = min(Chunk.size, start + bytes.upperBound - position)
      body(number, start..<end, position - bytes.lowerBound)
      position += end - start
    }
  }

  /// The chunk as this value's own.
  private mutating func ownChunk(_ number: Int, isOverwritten: Bool) -> Chunk {
    while chunks.count <= number { chunks.append(nil) }
    if isKnownUniquelyReferenced(&chunks[number]), let chunk = chunks[number] { return chunk }
    let fresh: Chunk
    if let shared = chunks[number], !isOverwritten {
      fresh = Chunk(copying: shared)
    } else {
      fresh = Chunk()
      if !isOverwritten { unsafe memset(fresh.base, 0, Chunk.size) }
    }
    chunks[number] = fresh
    return fresh
  }

  static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress, bytes.count > 0 else { return true }
    // Each byte is the one before it, and the first is zero.
    return unsafe base.load(as: UInt8.self) == 0 && memcmp(base, base + 1, bytes.count - 1) == 0
  }

  // MARK: Sectors

  /// The parts into which a power cut may tear a write.
  package static let sectorSize = 512

  /// A number for the bytes of one sector, the same for equal bytes in this process; 0 for zeros.
  func sectorHash(_ sector: Int) -> UInt64 {
    let start = sector * Self.sectorSize
    guard start / Chunk.size < chunks.count, let chunk = chunks[start / Chunk.size] else { return 0 }
    let offset = start % Chunk.size
    // Zeros at the end count as absent, however they came there.
    var end = Self.sectorSize
    while end > 0, unsafe chunk.base.load(fromByteOffset: offset + end - 1, as: UInt8.self) == 0 { end -= 1 }
    guard end > 0 else { return 0 }
    var hasher = Hasher()
    hasher.combine(sector)
    unsafe hasher.combine(bytes: UnsafeRawBufferPointer(start: chunk.base + offset, count: end))
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }

  /// Sectors that may hold something else than zeros.
  var storedSectors: Int { chunks.count * (Chunk.size / Self.sectorSize) }
}
