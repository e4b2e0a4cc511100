/// RSA with PKCS #1 v1.5 padding and SHA-256 (RFC 8017, 8.2). **For the testing kit only**, never for a product: not in
/// constant time, and its only key is in this repository. A product signs with Security.framework.
struct RSAKey: Sendable {
  /// The modulus and the public exponent, as the octets of an INTEGER without leading zeros.
  let modulus: [UInt8]
  let exponent: [UInt8]
  private let first: Factor
  private let second: Factor
  /// The inverse of the second prime modulo the first.
  private let coefficient: LargeNumber

  /// One of the two primes, with the private exponent modulo the prime less one.
  private struct Factor: Sendable {
    var prime: LargeModulus
    var exponent: LargeNumber

    init(_ prime: [UInt8], _ exponent: [UInt8]) {
      self.prime = LargeModulus(LargeNumber(bigEndian: prime))
      self.exponent = LargeNumber(bigEndian: exponent)
    }

    func root(of number: LargeNumber) -> LargeNumber { prime.power(prime.reduced(number), exponent) }
  }

  /// - Parameters:
  ///   - modulus: The product of the primes, the highest byte first, as all numbers here.
  ///   - exponent: The public exponent.
  ///   - primes: Two primes of half the modulus' length, whose highest bit is set.
  ///   - exponents: The private exponent modulo each prime less one.
  ///   - coefficient: The inverse of the second prime modulo the first.
  init(
    modulus: [UInt8], exponent: [UInt8], primes: (first: [UInt8], second: [UInt8]),
    exponents: (first: [UInt8], second: [UInt8]), coefficient: [UInt8]
  ) {
    (self.modulus, self.exponent) = (modulus, exponent)
    first = Factor(primes.first, exponents.first)
    second = Factor(primes.second, exponents.second)
    self.coefficient = LargeNumber(bigEndian: coefficient)
  }

  /// As long as the modulus. By the Chinese remainder theorem (RFC 8017, 5.1.2), because two powers modulo primes of half
  /// the length take a quarter of the time.
  func signature(of message: [UInt8]) -> [UInt8] {
    let padded = LargeNumber(bigEndian: Self.padded(SHA256.digest(message), length: modulus.count))
    let (a, b) = (first.root(of: padded), second.root(of: padded))
    let prime = first.prime
    let factor = prime.product(prime.difference(a, prime.reduced(b)), coefficient)
    return b.adding(factor.multiplied(by: second.prime.number)).bigEndian(length: modulus.count)
  }

  /// EMSA-PKCS1-v1_5: 0, 1, a row of 255, 0, the DigestInfo.
  private static func padded(_ digest: [UInt8], length: Int) -> [UInt8] {
    let info: [UInt8] = [
      0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
      0x04, 0x20,
    ]
    let filling = [UInt8](repeating: 0xFF, count: length - info.count - digest.count - 3)
    return [0, 1] + filling + [0] + info + digest
  }
}
