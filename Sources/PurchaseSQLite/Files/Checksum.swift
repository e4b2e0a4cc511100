/// XXH64 with seed 0, the checksum of every stored value.
///
/// SQLite's own integrity check does not find a flipped bit in a stored value; a checksum does. It protects against
/// accidents, not against attacks. Specification: <https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md>
package enum Checksum {
  static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  /// The checksum as SQLite stores it: the same 64 bits, signed.
  package static func of(_ bytes: [UInt8]) -> Int64 {
    // Every enqueue and every read hashes a payload, so the loop reads whole words without a bounds check for each byte.
    unsafe bytes.withUnsafeBytes { unsafe Int64(bitPattern: hash($0)) }
  }

  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var offset = 0
    var hash = bytes.count >= 32 ? unsafe stripes(bytes, &offset) : prime5
    hash &+= UInt64(bytes.count)
    while offset + 8 <= bytes.count {
      hash = finish(hash, word: unsafe word64(bytes, offset))
      offset += 8
    }
    if offset + 4 <= bytes.count {
      let word = unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      hash = finish(hash, half: UInt64(word))
      offset += 4
    }
    while offset < bytes.count {
      hash = finish(hash, byte: UInt64(unsafe bytes[offset]))
      offset += 1
    }
    return avalanche(hash)
  }

  /// Whole stripes of 32 bytes, in four lanes.
  private static func stripes(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) -> UInt64 {
    var (a, b, c, d) = (prime1 &+ prime2, prime2, UInt64(0), 0 &- prime1)
    while offset + 32 <= bytes.count {
      a = round(a, unsafe word64(bytes, offset))
      b = round(b, unsafe word64(bytes, offset + 8))
      c = round(c, unsafe word64(bytes, offset + 16))
      d = round(d, unsafe word64(bytes, offset + 24))
      offset += 32
    }
    return merged(a, b, c, d)
  }

  static func merged(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) -> UInt64 {
    var hash = rotate(a, 1) &+ rotate(b, 7) &+ rotate(c, 12) &+ rotate(d, 18)
    hash = merge(hash, a)
    hash = merge(hash, b)
    hash = merge(hash, c)
    return merge(hash, d)
  }

  /// The bytes after the last whole stripe: whole words, half a word, single bytes.
  static func finish(_ hash: UInt64, word: UInt64) -> UInt64 {
    rotate(hash ^ round(0, word), 27) &* prime1 &+ prime4
  }

  static func finish(_ hash: UInt64, half: UInt64) -> UInt64 {
    rotate(hash ^ half &* prime1, 23) &* prime2 &+ prime3
  }

  static func finish(_ hash: UInt64, byte: UInt64) -> UInt64 { rotate(hash ^ byte &* prime5, 11) &* prime1 }

  private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
    (hash ^ round(0, lane)) &* prime1 &+ prime4
  }

  static func round(_ accumulator: UInt64, _ word: UInt64) -> UInt64 {
    rotate(accumulator &+ word &* prime2, 31) &* prime1
  }

  static func avalanche(_ value: UInt64) -> UInt64 {
    var hash = value
    hash = (hash ^ hash >> 33) &* prime2
    hash = (hash ^ hash >> 29) &* prime3
    return hash ^ hash >> 32
  }

  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value &<< count | value &>> (64 - count)
  }

  static func word64(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
