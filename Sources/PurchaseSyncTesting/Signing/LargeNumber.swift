/// A number of any size, in words, the lowest first. For ``RSAKey``: for the testing kit only, never for a product.
struct LargeNumber: Sendable, Equatable {
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
    (0..<length).reversed().map { index -> UInt8 in
      guard index / 8 < words.count else { return 0 }
      // In steps: as one expression it takes seconds to type-check.
      let shift = index % 8 * 8
      return UInt8(truncatingIfNeeded: words[index / 8] >> shift)
    }
  }

  func bit(_ index: Int) -> Bool {
    let word = words[index / 64] >> (index % 64)
    return word & 1 == 1
  }

  /// As many words as both have.
  func multiplied(by other: LargeNumber) -> LargeNumber {
    var sum = [UInt64](repeating: 0, count: words.count + other.words.count)
    for (place, word) in words.enumerated() {
      var carry: UInt64 = 0
      for (index, factor) in other.words.enumerated() {
        (carry, sum[place + index]) = Self.term(sum[place + index], word, factor, carry)
      }
      sum[place + other.words.count] = carry
    }
    return LargeNumber(words: sum)
  }

  /// The sum, in as many words as the longer of both has; it has to fit.
  func adding(_ other: LargeNumber) -> LargeNumber {
    var sum: [UInt64] = []
    var carry = false
    for index in 0..<max(words.count, other.words.count) {
      let a = words.indices.contains(index) ? words[index] : 0
      let b = other.words.indices.contains(index) ? other.words[index] : 0
      let (first, c1) = a.addingReportingOverflow(b)
      let (second, c2) = first.addingReportingOverflow(carry ? 1 : 0)
      sum.append(second)
      carry = c1 || c2
    }
    return LargeNumber(words: sum)
  }

  /// `sum + a·b + carry` in two words.
  static func term(_ sum: UInt64, _ a: UInt64, _ b: UInt64, _ carry: UInt64) -> (high: UInt64, low: UInt64) {
    let product = a.multipliedFullWidth(by: b)
    let (first, c1) = product.low.addingReportingOverflow(sum)
    let (second, c2) = first.addingReportingOverflow(carry)
    return (product.high &+ (c1 ? 1 : 0) &+ (c2 ? 1 : 0), second)
  }
}

/// Arithmetic modulo an odd number whose highest bit is set, by Montgomery's method. For the testing kit only.
struct LargeModulus: Sendable {
  private let modulus: [UInt64]
  private let inverse: UInt64
  /// The square of Montgomery's radix, which is the power of two with as many words.
  private let square: [UInt64]

  init(_ number: LargeNumber) {
    modulus = number.words
    // Newton: each step doubles the number of right bits.
    var inverse: UInt64 = 1
    for _ in 0..<6 { inverse = inverse &* (2 &- modulus[0] &* inverse) }
    self.inverse = 0 &- inverse
    // One, doubled once for each bit of the square of the radix.
    var doubled = [1] + [UInt64](repeating: 0, count: modulus.count - 1)
    for _ in 0..<128 * modulus.count { doubled = Self.doubled(doubled, modulus) }
    square = doubled
  }

  /// The modulus itself.
  var number: LargeNumber { LargeNumber(words: modulus) }

  /// A number of up to twice the modulus' words, modulo it.
  func reduced(_ number: LargeNumber) -> LargeNumber {
    let count = modulus.count
    let words = number.words + [UInt64](repeating: 0, count: 2 * count - number.words.count)
    let low = Self.less(Array(words[..<count]), carry: 0, modulus)
    // The upper half times the radix: Montgomery's product takes one radix of the square away.
    return sum(LargeNumber(words: low), LargeNumber(words: multiply(Array(words[count...]), square)))
  }

  private func sum(_ a: LargeNumber, _ b: LargeNumber) -> LargeNumber {
    var (words, carry) = ([UInt64](), false)
    for index in modulus.indices {
      let (first, c1) = a.words[index].addingReportingOverflow(b.words[index])
      let (second, c2) = first.addingReportingOverflow(carry ? 1 : 0)
      words.append(second)
      carry = c1 || c2
    }
    return LargeNumber(words: Self.less(words, carry: carry ? 1 : 0, modulus))
  }

  /// The difference of two numbers below the modulus.
  func difference(_ a: LargeNumber, _ b: LargeNumber) -> LargeNumber {
    let (words, borrow) = Self.difference(a.words, b.words)
    guard borrow else { return LargeNumber(words: words) }
    // The carry of this sum and the borrow cancel each other.
    var (result, carry) = ([UInt64](), false)
    for index in modulus.indices {
      let (first, c1) = words[index].addingReportingOverflow(modulus[index])
      let (second, c2) = first.addingReportingOverflow(carry ? 1 : 0)
      result.append(second)
      carry = c1 || c2
    }
    return LargeNumber(words: result)
  }

  /// The product of two numbers below the modulus.
  func product(_ a: LargeNumber, _ b: LargeNumber) -> LargeNumber {
    LargeNumber(words: multiply(multiply(a.words, square), b.words))
  }

  /// The power of a number below the modulus.
  func power(_ base: LargeNumber, _ exponent: LargeNumber) -> LargeNumber {
    let entered = multiply(base.words, square)
    let one = [1] + [UInt64](repeating: 0, count: modulus.count - 1)
    var result = multiply(one, square)
    for index in (0..<exponent.words.count * 64).reversed() {
      result = multiply(result, result)
      if exponent.bit(index) { result = multiply(result, entered) }
    }
    return LargeNumber(words: multiply(result, one))
  }

  /// The product divided by the radix, modulo the modulus.
  private func multiply(_ a: [UInt64], _ b: [UInt64]) -> [UInt64] {
    let count = modulus.count
    var sum = [UInt64](repeating: 0, count: count)
    // The word above the sum: zero or one.
    var high: UInt64 = 0
    for word in b {
      let (low, first) = LargeNumber.term(sum[0], a[0], word, 0)
      let factor = first &* inverse
      var (carryA, carryM) = (low, LargeNumber.term(first, factor, modulus[0], 0).high)
      for index in 1..<count {
        let added = LargeNumber.term(sum[index], a[index], word, carryA)
        let shifted = LargeNumber.term(added.low, factor, modulus[index], carryM)
        (carryA, carryM) = (added.high, shifted.high)
        sum[index - 1] = shifted.low
      }
      let (top, c1) = high.addingReportingOverflow(carryA)
      let (last, c2) = top.addingReportingOverflow(carryM)
      sum[count - 1] = last
      high = (c1 ? 1 : 0) &+ (c2 ? 1 : 0)
    }
    return Self.less(sum, carry: high, modulus)
  }

  /// A number below twice the modulus, modulo it.
  private static func less(_ words: [UInt64], carry: UInt64, _ modulus: [UInt64]) -> [UInt64] {
    let less = difference(words, modulus)
    return less.borrow && carry == 0 ? words : less.words
  }

  private static func difference(_ a: [UInt64], _ b: [UInt64]) -> (words: [UInt64], borrow: Bool) {
    var (words, borrow) = ([UInt64](), false)
    words.reserveCapacity(a.count)
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
    return less(words, carry: carry, modulus)
  }
}
