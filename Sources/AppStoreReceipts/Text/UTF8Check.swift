/// Checks for well-formed UTF-8 (Unicode 15, table 3-7), because Swift's decoding repairs errors silently.
enum UTF8Check {
  /// The offset of the first byte that is not part of a well-formed sequence.
  static func firstInvalid(in bytes: [UInt8]) -> Int? { firstInvalid(in: bytes, bytes.indices) }

  /// The same, for a part of the bytes.
  static func firstInvalid(in bytes: [UInt8], _ range: Range<Int>) -> Int? {
    var index = range.lowerBound
    while index < range.upperBound {
      let lead = bytes[index]
      if lead < 0x80 {
        index += 1
        continue
      }
      guard let shape = shape(of: lead), shape.count < range.upperBound - index,
        shape.second ~= bytes[index + 1],
        bytes[(index + 1)...(index + shape.count)].allSatisfy({ 0x80...0xBF ~= $0 })
      else { return index }
      index += 1 + shape.count
    }
    return nil
  }

  /// The number of bytes after a lead byte, and the allowed values of the first of them.
  private static func shape(of lead: UInt8) -> (count: Int, second: ClosedRange<UInt8>)? {
    switch lead {
    case 0xC2...0xDF: (1, 0x80...0xBF)
    case 0xE0: (2, 0xA0...0xBF)
    case 0xED: (2, 0x80...0x9F)
    case 0xE1...0xEF: (2, 0x80...0xBF)
    case 0xF0: (3, 0x90...0xBF)
    case 0xF1...0xF3: (3, 0x80...0xBF)
    case 0xF4: (3, 0x80...0x8F)
    default: nil
    }
  }
}
