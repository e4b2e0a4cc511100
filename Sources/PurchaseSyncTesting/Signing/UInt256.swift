/// A number of 256 bits, in four words, the lowest first. For the testing kit only, never for a product: see ``P256``.
struct UInt256: Hashable, Sendable {
  var w0: UInt64 = 0
  var w1: UInt64 = 0
  var w2: UInt64 = 0
  var w3: UInt64 = 0

  static var zero: UInt256 { UInt256() }
  static var one: UInt256 { UInt256(w0: 1) }

  var isZero: Bool { w0 | w1 | w2 | w3 == 0 }

  /// Whether the bit of this weight is set.
  func bit(_ index: Int) -> Bool { word(index >> 6) >> UInt64(index & 63) & 1 == 1 }

  /// Four bits, the nibble of this weight.
  func nibble(_ index: Int) -> Int { Int(word(index >> 4) >> UInt64((index & 15) * 4) & 15) }

  private func word(_ index: Int) -> UInt64 {
    switch index {
    case 0: w0
    case 1: w1
    case 2: w2
    default: w3
    }
  }

  /// The sum, and whether it does not fit.
  func adding(_ other: UInt256) -> (sum: UInt256, carry: Bool) {
    var carry = false
    let r0 = Self.add(w0, other.w0, &carry)
    let r1 = Self.add(w1, other.w1, &carry)
    let r2 = Self.add(w2, other.w2, &carry)
    let r3 = Self.add(w3, other.w3, &carry)
    return (UInt256(w0: r0, w1: r1, w2: r2, w3: r3), carry)
  }

  /// The difference, and whether it is negative.
  func subtracting(_ other: UInt256) -> (difference: UInt256, borrow: Bool) {
    var borrow = false
    let r0 = Self.subtract(w0, other.w0, &borrow)
    let r1 = Self.subtract(w1, other.w1, &borrow)
    let r2 = Self.subtract(w2, other.w2, &borrow)
    let r3 = Self.subtract(w3, other.w3, &borrow)
    return (UInt256(w0: r0, w1: r1, w2: r2, w3: r3), borrow)
  }

  private static func add(_ a: UInt64, _ b: UInt64, _ carry: inout Bool) -> UInt64 {
    let (first, c1) = a.addingReportingOverflow(b)
    let (second, c2) = first.addingReportingOverflow(carry ? 1 : 0)
    carry = c1 || c2
    return second
  }

  private static func subtract(_ a: UInt64, _ b: UInt64, _ borrow: inout Bool) -> UInt64 {
    let (first, c1) = a.subtractingReportingOverflow(b)
    let (second, c2) = first.subtractingReportingOverflow(borrow ? 1 : 0)
    borrow = c1 || c2
    return second
  }
}

extension UInt256 {
  /// Of 32 bytes, the highest first. Fewer bytes are a smaller number; of more, the first 32 count.
  init(bigEndian bytes: some Sequence<UInt8>) {
    for byte in bytes.prefix(32) {
      w3 = w3 << 8 | w2 >> 56
      w2 = w2 << 8 | w1 >> 56
      w1 = w1 << 8 | w0 >> 56
      w0 = w0 << 8 | UInt64(byte)
    }
  }

  /// 32 bytes, the highest first.
  var bigEndian: [UInt8] { [w3, w2, w1, w0].flatMap(\.bigEndianBytes) }
}
