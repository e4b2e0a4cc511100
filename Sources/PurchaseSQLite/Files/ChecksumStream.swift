extension Checksum {
  /// The checksum of bytes that come in parts. The parts together have the checksum of one array with all of them.
  struct Stream {
    private var (a, b, c, d) = (prime1 &+ prime2, prime2, UInt64(0), 0 &- prime1)
    /// Whole words of a stripe that is not complete.
    private var (w0, w1, w2) = (UInt64(0), UInt64(0), UInt64(0))
    /// Bytes of a word that is not complete, the first in the lowest place.
    private var word: UInt64 = 0
    private var count = 0

    init() {}

    /// Adds a number of 1 to 8 bytes, least significant first. Its higher bytes are 0.
    mutating func add(_ number: UInt64, bytes: Int) {
      let held = count % 8
      word |= number &<< UInt64(8 * held)
      count += bytes
      guard held + bytes >= 8 else { return }
      let full = word
      word = held == 0 ? 0 : number &>> UInt64(8 * (8 - held))
      take(full, at: (count - held - bytes) / 8 % 4)
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
      var offset = 0
      while offset + 8 <= bytes.count {
        unsafe add(word64(bytes, offset), bytes: 8)
        offset += 8
      }
      while offset < bytes.count {
        add(UInt64(unsafe bytes[offset]), bytes: 1)
        offset += 1
      }
    }

    /// Takes the next whole word of the stripe.
    private mutating func take(_ word: UInt64, at place: Int) {
      switch place {
      case 0: w0 = word
      case 1: w1 = word
      case 2: w2 = word
      default:
        a = round(a, w0)
        b = round(b, w1)
        c = round(c, w2)
        d = round(d, word)
      }
    }

    /// The checksum of everything that was added.
    var value: Int64 {
      var hash = count >= 32 ? merged(a, b, c, d) : prime5
      hash &+= UInt64(count)
      let words = count / 8 % 4
      // Without an array of the words: every row has a checksum.
      if words > 0 { hash = finish(hash, word: w0) }
      if words > 1 { hash = finish(hash, word: w1) }
      if words > 2 { hash = finish(hash, word: w2) }
      var (rest, left) = (word, count % 8)
      if left >= 4 {
        hash = finish(hash, half: rest & 0xFFFF_FFFF)
        (rest, left) = (rest &>> 32, left - 4)
      }
      for _ in 0..<left {
        hash = finish(hash, byte: rest & 0xFF)
        rest &>>= 8
      }
      return Int64(bitPattern: avalanche(hash))
    }
  }
}
