/// ECDSA over P-256 with SHA-256, deterministic (RFC 6979). **For the testing kit only**, never for a product: see ``P256``.
struct ES256Key: Sendable {
  /// The private scalar.
  private let scalar: UInt256
  /// The public point.
  let publicKey: ES256PublicKey

  /// - Parameter bytes: 32 bytes, a number from 1 to the order of the base point less one; else nil.
  init?(bytes: [UInt8]) {
    let scalar = UInt256(bigEndian: bytes)
    guard bytes.count == 32, Self.isValid(scalar), let point = P256.multiplyBase(by: scalar).affine else {
      return nil
    }
    (self.scalar, publicKey) = (scalar, ES256PublicKey(point: point))
  }

  private static func isValid(_ scalar: UInt256) -> Bool {
    !scalar.isZero && scalar.subtracting(P256.scalars.modulus).borrow
  }

  /// r and s, 32 bytes each, as JWS has them (RFC 7518, 3.4).
  func signature(of message: [UInt8]) -> [UInt8] {
    let digest = SHA256.digest(message)
    let field = P256.scalars
    let (hash, secret) = (field.enter(UInt256(bigEndian: digest)), field.enter(scalar))
    var nonces = Nonces(scalar, digest)
    while true {
      let nonce = nonces.next()
      guard Self.isValid(nonce), let point = P256.multiplyBase(by: nonce).affine else { continue }
      let r = field.reduced(P256.field.leave(point.x))
      let sum = field.add(hash, field.multiply(field.enter(r), secret))
      let s = field.leave(field.multiply(field.invert(field.enter(nonce)), sum))
      if !r.isZero, !s.isZero { return r.bigEndian + s.bigEndian }
    }
  }
}

/// The public half.
struct ES256PublicKey: Hashable, Sendable {
  fileprivate let point: P256.AffinePoint

  fileprivate init(point: P256.AffinePoint) { self.point = point }

  /// - Parameter bytes: 65 bytes: 4, x, y. Nil unless they are a point of the curve.
  init?(bytes: [UInt8]) {
    guard let point = P256.AffinePoint(bytes: bytes) else { return nil }
    self.point = point
  }

  /// 65 bytes: 4, x, y.
  var bytes: [UInt8] { point.bytes }

  /// Whether the signature, r and s of 32 bytes each, is the key's.
  func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    guard signature.count == 64 else { return false }
    let field = P256.scalars
    let (r, s) = (UInt256(bigEndian: signature.prefix(32)), UInt256(bigEndian: signature.suffix(32)))
    guard !r.isZero, !s.isZero, r.subtracting(field.modulus).borrow, s.subtracting(field.modulus).borrow
    else {
      return false
    }
    let inverse = field.invert(field.enter(s))
    let hash = field.enter(UInt256(bigEndian: SHA256.digest(message)))
    let ours = field.leave(field.multiply(hash, inverse))
    let theirs = field.leave(field.multiply(field.enter(r), inverse))
    let first = P256.multiplyBase(by: ours)
    let sum = P256.multiply(point, by: theirs).affine.map { first.adding($0) } ?? first
    return sum.affine.map { field.reduced(P256.field.leave($0.x)) == r } ?? false
  }
}

/// The nonces of RFC 6979, 3.2: each signature of one message by one key has the same.
private struct Nonces {
  private var key = [UInt8](repeating: 0, count: 32)
  private var value = [UInt8](repeating: 1, count: 32)
  private var isFirst = true

  init(_ scalar: UInt256, _ digest: [UInt8]) {
    let seed = scalar.bigEndian + P256.scalars.reduced(UInt256(bigEndian: digest)).bigEndian
    for mark: UInt8 in [0, 1] { stir([mark] + seed) }
  }

  private mutating func stir(_ bytes: [UInt8]) {
    key = SHA256.authentication(of: value + bytes, key: key)
    value = SHA256.authentication(of: value, key: key)
  }

  mutating func next() -> UInt256 {
    if !isFirst { stir([0]) }
    isFirst = false
    value = SHA256.authentication(of: value, key: key)
    return UInt256(bigEndian: value)
  }
}
