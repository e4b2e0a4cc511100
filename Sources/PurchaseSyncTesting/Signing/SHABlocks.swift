/// What SHA-1 and SHA-256 share (FIPS 180-4, 5.1.1, 5.2.1 and 6): padding, blocks of 64 bytes, words of 32 bits.
enum SHABlocks {
  /// The state after all blocks, as bytes.
  ///
  /// - Parameter mix: Takes the words of one block, first extended to `count` words by `next`, into the state.
  static func digest(
    _ message: [UInt8], from initial: [UInt32], words count: Int, next: ([UInt32]) -> UInt32,
    mix: ([UInt32], [UInt32]) -> [UInt32]
  ) -> [UInt8] {
    var state = initial
    let padded = padded(message)
    for start in stride(from: 0, to: padded.count, by: 64) {
      var words = words(of: padded[start..<start + 64])
      words.reserveCapacity(count)
      while words.count < count { words.append(next(words)) }
      let mixed = mix(words, state)
      for index in state.indices { state[index] = state[index] &+ mixed[index] }
    }
    return state.flatMap(\.bigEndianBytes)
  }

  /// Rotated to the left.
  static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word << count | word >> (32 - count) }

  /// A bit, zeros, and the number of the message's bits.
  private static func padded(_ message: [UInt8]) -> [UInt8] {
    var padded = message + [0x80]
    padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
    let bits = UInt64(message.count) * 8
    return padded + bits.bigEndianBytes
  }

  private static func words(of block: ArraySlice<UInt8>) -> [UInt32] {
    stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
      block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
  }
}

extension FixedWidthInteger {
  /// The bytes, the highest first.
  var bigEndianBytes: [UInt8] {
    stride(from: Self.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: self >> $0) }
  }
}
