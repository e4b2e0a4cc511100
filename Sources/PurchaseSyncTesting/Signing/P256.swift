/// The curve P-256 (SEC 2, secp256r1). **For the testing kit only**, never for a product: not in constant time, and its
/// keys are in this repository. A product signs with CryptoKit.
enum P256 {
  /// The field of the coordinates.
  static let field = PrimeField(
    UInt256(w0: .max, w1: 0xFFFF_FFFF, w2: 0, w3: 0xFFFF_FFFF_0000_0001))
  /// The field of the scalars: modulo the order of the base point.
  static let scalars = PrimeField(
    UInt256(
      w0: 0xF3B9_CAC2_FC63_2551, w1: 0xBCE6_FAAD_A717_9E84, w2: .max, w3: 0xFFFF_FFFF_0000_0000))

  /// The coefficient b, in Montgomery's form.
  private static let b = field.enter(
    UInt256(
      w0: 0x3BCE_3C3E_27D2_604B, w1: 0x651D_06B0_CC53_B0F6, w2: 0xB3EB_BD55_7698_86BC,
      w3: 0x5AC6_35D8_AA3A_93E7))

  static let base = AffinePoint(
    x: field.enter(
      UInt256(
        w0: 0xF4A1_3945_D898_C296, w1: 0x7703_7D81_2DEB_33A0, w2: 0xF8BC_E6E5_63A4_40F2,
        w3: 0x6B17_D1F2_E12C_4247)),
    y: field.enter(
      UInt256(
        w0: 0xCBB6_4068_37BF_51F5, w1: 0x2BCE_3357_6B31_5ECE, w2: 0x8EE7_EB4A_7C0F_9E16,
        w3: 0x4FE3_42E2_FE1A_7F9B)))

  /// A point other than infinity, with coordinates in Montgomery's form.
  struct AffinePoint: Hashable, Sendable {
    var x: UInt256
    var y: UInt256

    /// Whether y² = x³ − 3x + b.
    var isOnCurve: Bool {
      let field = P256.field
      let cube = field.multiply(field.multiply(x, x), x)
      let right = field.add(field.subtract(cube, field.add(field.add(x, x), x)), P256.b)
      return field.multiply(y, y) == right
    }

    /// 65 bytes: 4, x, y.
    var bytes: [UInt8] { [4] + P256.field.leave(x).bigEndian + P256.field.leave(y).bigEndian }

    /// Nil unless the 65 bytes are a point of the curve.
    init?(bytes: [UInt8]) {
      guard bytes.count == 65, bytes[0] == 4 else { return nil }
      let (x, y) = (UInt256(bigEndian: bytes[1..<33]), UInt256(bigEndian: bytes[33...]))
      guard x.subtracting(P256.field.modulus).borrow, y.subtracting(P256.field.modulus).borrow else {
        return nil
      }
      self.init(x: P256.field.enter(x), y: P256.field.enter(y))
      guard isOnCurve else { return nil }
    }

    init(x: UInt256, y: UInt256) { (self.x, self.y) = (x, y) }
  }
}

/// A point in Jacobian coordinates: (x/z², y/z³). Infinity has z = 0.
struct JacobianPoint: Sendable {
  var x = P256.field.one
  var y = P256.field.one
  var z = UInt256.zero

  static var infinity: JacobianPoint { JacobianPoint() }

  /// The point, or nil for infinity.
  var affine: P256.AffinePoint? {
    guard !z.isZero else { return nil }
    return affine(inverse: P256.field.invert(z))
  }

  /// - Parameter inverse: Of z.
  func affine(inverse: UInt256) -> P256.AffinePoint {
    let field = P256.field
    let square = field.multiply(inverse, inverse)
    return P256.AffinePoint(
      x: field.multiply(x, square), y: field.multiply(y, field.multiply(square, inverse)))
  }

  /// dbl-2001-b of the Explicit-Formulas Database.
  func doubled() -> JacobianPoint {
    let field = P256.field
    let delta = field.multiply(z, z)
    let gamma = field.multiply(y, y)
    let beta = field.multiply(x, gamma)
    let product = field.multiply(field.subtract(x, delta), field.add(x, delta))
    let alpha = field.add(field.add(product, product), product)
    let beta4 = field.times4(beta)
    let sum = field.add(y, z)
    var result = JacobianPoint()
    result.x = field.subtract(field.multiply(alpha, alpha), field.add(beta4, beta4))
    result.z = field.subtract(field.subtract(field.multiply(sum, sum), gamma), delta)
    let gamma2 = field.multiply(gamma, gamma)
    let gamma8 = field.add(field.times4(gamma2), field.times4(gamma2))
    result.y = field.subtract(field.multiply(alpha, field.subtract(beta4, result.x)), gamma8)
    return result
  }

  /// madd-2007-bl of the same.
  func adding(_ other: P256.AffinePoint) -> JacobianPoint {
    let field = P256.field
    guard !z.isZero else { return JacobianPoint(x: other.x, y: other.y, z: field.one) }
    let zz = field.multiply(z, z)
    let u = field.multiply(other.x, zz)
    let s = field.multiply(other.y, field.multiply(z, zz))
    let h = field.subtract(u, x)
    let half = field.subtract(s, y)
    if h.isZero { return half.isZero ? doubled() : .infinity }
    let hh = field.multiply(h, h)
    let i = field.times4(hh)
    let j = field.multiply(h, i)
    let r = field.add(half, half)
    let v = field.multiply(x, i)
    var result = JacobianPoint()
    result.x = field.subtract(field.subtract(field.multiply(r, r), j), field.add(v, v))
    let yj = field.multiply(y, j)
    result.y = field.subtract(field.multiply(r, field.subtract(v, result.x)), field.add(yj, yj))
    let zh = field.add(z, h)
    result.z = field.subtract(field.subtract(field.multiply(zh, zh), zz), hh)
    return result
  }
}

extension PrimeField {
  fileprivate func times4(_ number: UInt256) -> UInt256 {
    let double = add(number, number)
    return add(double, double)
  }
}

extension P256 {
  /// The product of a point and a scalar.
  static func multiply(_ point: AffinePoint, by scalar: UInt256) -> JacobianPoint {
    var result = JacobianPoint.infinity
    for index in (0..<256).reversed() {
      result = result.doubled()
      if scalar.bit(index) { result = result.adding(point) }
    }
    return result
  }

  /// For each of 64 nibbles the multiples 1…15 of the base point at its weight: a product takes 64 additions.
  private static let multiples: [[AffinePoint]] = {
    var weight = JacobianPoint.infinity.adding(base)
    var weights: [JacobianPoint] = []
    for _ in 0..<64 {
      weights.append(weight)
      for _ in 0..<4 { weight = weight.doubled() }
    }
    let sums = affine(weights).flatMap { weight in
      var sum = JacobianPoint.infinity
      return (1...15).map { _ in
        sum = sum.adding(weight)
        return sum
      }
    }
    let points = affine(sums)
    return stride(from: 0, to: points.count, by: 15).map { Array(points[$0..<$0 + 15]) }
  }()

  /// The points in affine coordinates, for the price of one inversion (Montgomery): the inverse of the product of all z
  /// gives each. None of them is infinity.
  private static func affine(_ points: [JacobianPoint]) -> [AffinePoint] {
    var products = [field.one]
    for point in points { products.append(field.multiply(products[products.count - 1], point.z)) }
    var inverse = field.invert(products.removeLast())
    return zip(points, products).reversed().map { point, before in
      let own = field.multiply(inverse, before)
      inverse = field.multiply(inverse, point.z)
      return point.affine(inverse: own)
    }.reversed()
  }

  /// The product of the base point and a scalar.
  static func multiplyBase(by scalar: UInt256) -> JacobianPoint {
    var result = JacobianPoint.infinity
    for index in 0..<64 {
      let nibble = scalar.nibble(index)
      if nibble > 0 { result = result.adding(multiples[index][nibble - 1]) }
    }
    return result
  }
}
