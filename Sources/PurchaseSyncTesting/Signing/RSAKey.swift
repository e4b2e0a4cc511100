/// RSA with PKCS #1 v1.5 padding and SHA-256 (RFC 8017, 8.2). **For the testing kit only**: not in constant time.
struct RSAKey: Sendable {
  /// The modulus and the public exponent, as the octets of an INTEGER without leading zeros.
  let modulus: [UInt8]
  let exponent: [UInt8]
  private let key: LargeModulus
  private let secret: LargeNumber

  /// - Parameters:
  ///   - modulus: An odd number, the highest byte first and not zero.
  ///   - exponent: The public exponent.
  ///   - secret: The private exponent.
  init(modulus: [UInt8], exponent: [UInt8], secret: [UInt8]) {
    (self.modulus, self.exponent) = (modulus, exponent)
    key = LargeModulus(LargeNumber(bigEndian: modulus))
    self.secret = LargeNumber(bigEndian: secret)
  }

  /// As long as the modulus.
  func signature(of message: [UInt8]) -> [UInt8] {
    let padded = Self.padded(SHA256.digest(message), length: modulus.count)
    return key.power(LargeNumber(bigEndian: padded), secret).bigEndian(length: modulus.count)
  }

  /// EMSA-PKCS1-v1_5: 0, 1, a row of 255, 0, the DigestInfo.
  private static func padded(_ digest: [UInt8], length: Int) -> [UInt8] {
    let info: [UInt8] = [
      0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
      0x04,
      0x20,
    ]
    let filling = [UInt8](repeating: 0xFF, count: length - info.count - digest.count - 3)
    return [0, 1] + filling + [0] + info + digest
  }
}

/// A number of any size, in words, the lowest first.
struct LargeNumber: Sendable {
  var words: [UInt64]

  init(words: [UInt64]) { self.words = words }

  init(bigEndian bytes: [UInt8]) {
    words = []
    var end = bytes.count
    while end > 0 {
      let start = max(0, end - 8)
      words.append(bytes[start..<end].reduce(0) { $0 << 8 | UInt64($1) })
      end = start
    }
  }

  /// The lowest bytes, so many, the highest first.
  func bigEndian(length: Int) -> [UInt8] {
    (0..<length).reversed().map { index in
      words.indices.contains(index / 8)
        ? UInt8(truncatingIfNeeded: words[index / 8] >> UInt64(index % 8 * 8)) : 0
    }
  }

  func bit(_ index: Int) -> Bool { words[index / 64] >> UInt64(index % 64) & 1 == 1 }
}

/// Arithmetic modulo an odd number, by Montgomery's method.
struct LargeModulus: Sendable {
  private let modulus: [UInt64]
  private let inverse: UInt64
  /// The square of Montgomery's radix.
  private let square: [UInt64]

  init(_ number: LargeNumber) {
    modulus = number.words
    var inverse: UInt64 = 1
    for _ in 0..<6 { inverse = inverse &* (2 &- modulus[0] &* inverse) }
    self.inverse = 0 &- inverse
    // One, doubled once for each bit of the square of the radix.
    var doubled = [1] + [UInt64](repeating: 0, count: modulus.count - 1)
    for _ in 0..<128 * modulus.count { doubled = Self.doubled(doubled, modulus) }
    square = doubled
  }

  /// The power of a number below the modulus.
  func power(_ base: LargeNumber, _ exponent: LargeNumber) -> LargeNumber {
    let zeros = [UInt64](repeating: 0, count: modulus.count - base.words.count)
    let entered = multiply(base.words + zeros, square)
    let one = [1] + [UInt64](repeating: 0, count: modulus.count - 1)
    var result = multiply(one, square)
    for index in (0..<exponent.words.count * 64).reversed() {
      result = multiply(result, result)
      if exponent.bit(index) { result = multiply(result, entered) }
    }
    return LargeNumber(words: multiply(result, one))
  }

  private func multiply(_ a: [UInt64], _ b: [UInt64]) -> [UInt64] {
    let count = modulus.count
    var sum = [UInt64](repeating: 0, count: count + 2)
    for word in b {
      Self.add(a, times: word, to: &sum)
      Self.add(modulus, times: sum[0] &* inverse, to: &sum)
      // The lowest word is zero now.
      for index in 0...count { sum[index] = sum[index + 1] }
      sum[count + 1] = 0
    }
    let less = Self.difference(Array(sum[..<count]), modulus)
    return less.borrow && sum[count] == 0 ? Array(sum[..<count]) : less.words
  }

  private static func add(_ a: [UInt64], times factor: UInt64, to sum: inout [UInt64]) {
    var carry: UInt64 = 0
    for index in a.indices {
      let product = a[index].multipliedFullWidth(by: factor)
      let (first, c1) = product.low.addingReportingOverflow(sum[index])
      let (second, c2) = first.addingReportingOverflow(carry)
      sum[index] = second
      carry = product.high &+ (c1 ? 1 : 0) &+ (c2 ? 1 : 0)
    }
    let (top, overflow) = sum[a.count].addingReportingOverflow(carry)
    sum[a.count] = top
    if overflow { sum[a.count + 1] &+= 1 }
  }

  private static func difference(_ a: [UInt64], _ b: [UInt64]) -> (words: [UInt64], borrow: Bool) {
    var (words, borrow) = ([UInt64](), false)
    for index in a.indices {
      let (first, b1) = a[index].subtractingReportingOverflow(b[index])
      let (second, b2) = first.subtractingReportingOverflow(borrow ? 1 : 0)
      words.append(second)
      borrow = b1 || b2
    }
    return (words, borrow)
  }

  private static func doubled(_ a: [UInt64], _ modulus: [UInt64]) -> [UInt64] {
    var (words, carry) = ([UInt64](), UInt64(0))
    for word in a {
      words.append(word << 1 | carry)
      carry = word >> 63
    }
    let less = difference(words, modulus)
    return less.borrow && carry == 0 ? words : less.words
  }
}
