/// The numbers modulo a prime of 256 bits, in Montgomery's form: `x` is held as `x·2²⁵⁶`. For the testing kit only, never
/// for a product: not in constant time.
struct PrimeField: Sendable {
  /// The prime.
  let modulus: UInt256
  /// `-modulus⁻¹` modulo 2⁶⁴.
  private let inverse: UInt64
  /// 2⁵¹² modulo the prime.
  private let square: UInt256
  /// One, in Montgomery's form.
  let one: UInt256

  /// - Parameter modulus: A prime above 2²⁵⁵.
  init(_ modulus: UInt256) {
    self.modulus = modulus
    // Newton: each step doubles the number of right bits.
    var inverse: UInt64 = 1
    for _ in 0..<6 { inverse = inverse &* (2 &- modulus.w0 &* inverse) }
    self.inverse = 0 &- inverse
    // 2²⁵⁶ modulo the prime, doubled 256 times.
    let first = UInt256.zero.subtracting(modulus).difference
    var doubled = first
    for _ in 0..<256 { doubled = Self.sum(doubled, doubled, modulus) }
    (one, square) = (first, doubled)
  }

  /// To Montgomery's form. The number may be as large as its type holds.
  func enter(_ number: UInt256) -> UInt256 { multiply(reduced(number), square) }

  /// From Montgomery's form.
  func leave(_ number: UInt256) -> UInt256 { multiply(number, .one) }

  /// The number modulo the prime, which is above 2²⁵⁵.
  func reduced(_ number: UInt256) -> UInt256 {
    let (less, borrow) = number.subtracting(modulus)
    return borrow ? number : less
  }

  func add(_ a: UInt256, _ b: UInt256) -> UInt256 { Self.sum(a, b, modulus) }

  private static func sum(_ a: UInt256, _ b: UInt256, _ modulus: UInt256) -> UInt256 {
    let (sum, carry) = a.adding(b)
    let (less, borrow) = sum.subtracting(modulus)
    return borrow && !carry ? sum : less
  }

  func subtract(_ a: UInt256, _ b: UInt256) -> UInt256 {
    let (difference, borrow) = a.subtracting(b)
    return borrow ? difference.adding(modulus).sum : difference
  }

  /// The product of two numbers in Montgomery's form, in that form (CIOS: Koç, Acar, Kaliski 1996).
  func multiply(_ a: UInt256, _ b: UInt256) -> UInt256 {
    var rest = Rest()
    rest.add(a, b.w0, modulus, inverse)
    rest.add(a, b.w1, modulus, inverse)
    rest.add(a, b.w2, modulus, inverse)
    rest.add(a, b.w3, modulus, inverse)
    let (less, borrow) = rest.value.subtracting(modulus)
    return borrow && rest.high == 0 ? rest.value : less
  }

  /// The power of a number in Montgomery's form.
  func power(_ base: UInt256, _ exponent: UInt256) -> UInt256 {
    var result = one
    for index in (0..<256).reversed() {
      result = multiply(result, result)
      if exponent.bit(index) { result = multiply(result, base) }
    }
    return result
  }

  /// The inverse of a number in Montgomery's form, by Fermat; zero for zero.
  func invert(_ number: UInt256) -> UInt256 {
    power(number, modulus.subtracting(UInt256(w0: 2)).difference)
  }
}

/// What a multiplication has added up, divided by 2⁶⁴ after each word.
private struct Rest {
  var value = UInt256.zero
  var high: UInt64 = 0

  mutating func add(_ a: UInt256, _ word: UInt64, _ modulus: UInt256, _ inverse: UInt64) {
    var carry: UInt64 = 0
    let t0 = Self.term(value.w0, a.w0, word, &carry)
    let t1 = Self.term(value.w1, a.w1, word, &carry)
    let t2 = Self.term(value.w2, a.w2, word, &carry)
    let t3 = Self.term(value.w3, a.w3, word, &carry)
    let (t4, overflow) = high.addingReportingOverflow(carry)
    // The multiple of the modulus that makes the lowest word zero.
    let factor = t0 &* inverse
    carry = 0
    _ = Self.term(t0, factor, modulus.w0, &carry)
    value.w0 = Self.term(t1, factor, modulus.w1, &carry)
    value.w1 = Self.term(t2, factor, modulus.w2, &carry)
    value.w2 = Self.term(t3, factor, modulus.w3, &carry)
    let (top, again) = t4.addingReportingOverflow(carry)
    value.w3 = top
    high = (overflow ? 1 : 0) &+ (again ? 1 : 0)
  }

  /// `sum + a·b + carry`: the low word, and the high one as the next carry.
  private static func term(_ sum: UInt64, _ a: UInt64, _ b: UInt64, _ carry: inout UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    let (first, c1) = product.low.addingReportingOverflow(sum)
    let (second, c2) = first.addingReportingOverflow(carry)
    carry = product.high &+ (c1 ? 1 : 0) &+ (c2 ? 1 : 0)
    return second
  }
}
