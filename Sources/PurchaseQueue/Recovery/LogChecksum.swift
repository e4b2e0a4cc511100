/// The running checksum of a write-ahead log (<https://sqlite.org/fileformat2.html#checksum_algorithm>).
struct LogChecksum: Hashable {
  var first: UInt32 = 0
  var second: UInt32 = 0

  init() {}

  /// As it is stored: two numbers of 32 bits, most significant byte first.
  init(storedIn bytes: [UInt8], at offset: Int) {
    first = bytes.bigEndian32(offset)
    second = bytes.bigEndian32(offset + 4)
  }

  /// Adds bytes; their count is a multiple of 8.
  mutating func add(_ bytes: [UInt8], _ range: Range<Int>, isBigEndian: Bool) {
    var offset = range.lowerBound
    var (one, two) = (first, second)
    while offset + 8 <= range.upperBound {
      one = one &+ bytes.word32(offset, isBigEndian) &+ two
      two = two &+ bytes.word32(offset + 4, isBigEndian) &+ one
      offset += 8
    }
    (first, second) = (one, two)
  }

  /// Adds the fields of a frame that its checksum covers: page and size in the header, then the page.
  mutating func addFrame(_ bytes: [UInt8], at offset: Int, isBigEndian: Bool) {
    add(bytes, offset..<offset + 8, isBigEndian: isBigEndian)
    add(bytes, offset + 24..<offset + LogImage.frameSize, isBigEndian: isBigEndian)
  }

  /// How many of the 64 bits differ.
  func distance(to other: LogChecksum) -> Int {
    (first ^ other.first).nonzeroBitCount + (second ^ other.second).nonzeroBitCount
  }

  /// The bits of a frame, as byte and mask, each of which explains alone the difference between this checksum of the
  /// frame and the stored one. The sum is linear: a word that differs by d changes both numbers by multiples of d that
  /// depend only on the position of the word. Of the high bits of a word, little is left of the position.
  func flippedBits(
    of bytes: [UInt8], at offset: Int, stored: LogChecksum, isBigEndian: Bool
  ) -> [(byte: Int, mask: UInt8)] {
    var found: [(byte: Int, mask: UInt8)] = []
    let wanted = (stored.first &- first, stored.second &- second)
    // The effect of the even and of the odd word of a pair, from the last pair to the first.
    var (even, odd): ((UInt32, UInt32), (UInt32, UInt32)) = ((1, 1), (0, 1))
    for pair in stride(from: LogImage.pageSize / 8, through: 0, by: -1) {
      let start = pair == 0 ? offset : offset + 24 + (pair - 1) * 8
      for (word, effect) in [(start, even), (start + 4, odd)] {
        let value = bytes.word32(word, isBigEndian)
        for bit in UInt32(0)..<32 {
          let change = value & (1 << bit) == 0 ? UInt32(1) << bit : 0 &- (UInt32(1) << bit)
          guard change &* effect.0 == wanted.0, change &* effect.1 == wanted.1 else { continue }
          let byte = isBigEndian ? 3 - Int(bit / 8) : Int(bit / 8)
          found.append((word + byte, 1 << UInt8(bit % 8)))
        }
      }
      even = (even.0 &+ even.1, even.0 &+ 2 &* even.1)
      odd = (odd.0 &+ odd.1, odd.0 &+ 2 &* odd.1)
    }
    return found
  }
}

extension [UInt8] {
  func bigEndian32(_ offset: Int) -> UInt32 {
    UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
      | UInt32(self[offset + 3])
  }

  func bigEndian16(_ offset: Int) -> Int { Int(self[offset]) << 8 | Int(self[offset + 1]) }

  fileprivate func word32(_ offset: Int, _ isBigEndian: Bool) -> UInt32 {
    let value = bigEndian32(offset)
    return isBigEndian ? value : value.byteSwapped
  }

  mutating func setBigEndian32(_ value: UInt32, at offset: Int) {
    for (index, shift) in [UInt32(24), 16, 8, 0].enumerated() {
      self[offset + index] = UInt8(truncatingIfNeeded: value >> shift)
    }
  }
}
