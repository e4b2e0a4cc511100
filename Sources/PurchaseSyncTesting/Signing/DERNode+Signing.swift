/// The elements of certificates and signed messages. For the testing kit only.
extension DERNode {
  static var null: DERNode { .primitive(0x05, []) }

  static var ecdsaWithSHA256: DERNode { .constructed(0x30, [.identifier([1, 2, 840, 10_045, 4, 3, 2])]) }

  /// The identifier alone: where it names an algorithm, NULL follows.
  static var rsaEncryption: DERNode { .identifier([1, 2, 840, 113_549, 1, 1, 1]) }

  /// An OBJECT IDENTIFIER of at least two arcs.
  static func identifier(_ arcs: [UInt64]) -> DERNode {
    var octets: [UInt8] = []
    for arc in [arcs[0] * 40 + arcs[1]] + arcs[2...] {
      var groups = [UInt8(arc & 0x7F)]
      var rest = arc >> 7
      while rest > 0 {
        groups.append(UInt8(rest & 0x7F) | 0x80)
        rest >>= 7
      }
      octets += groups.reversed()
    }
    return .primitive(0x06, octets)
  }

  /// A positive INTEGER of any size.
  static func unsigned(_ octets: [UInt8]) -> DERNode {
    var octets = Array(octets.drop { $0 == 0 })
    if octets.first.map({ $0 >= 0x80 }) ?? true { octets.insert(0, at: 0) }
    return .primitive(0x02, octets)
  }

  /// A distinguished name with nothing but a common name.
  static func name(_ commonName: String) -> DERNode {
    .constructed(
      0x30,
      [.constructed(0x31, [.constructed(0x30, [.identifier([2, 5, 4, 3]), .utf8(commonName)])])])
  }

  /// A Time: from 2050 on a GeneralizedTime, before a UTCTime of two digits for the year (RFC 5280, 4.1.2.5).
  static func time(_ text: String) -> DERNode {
    text >= "2050" ? .generalizedTime(text) : .primitive(0x17, Array(text.utf8.dropFirst(2)))
  }

  static func generalizedTime(_ text: String) -> DERNode { .primitive(0x18, Array(text.utf8)) }

  /// r and s of 32 bytes each, as X.509 has them.
  static func ecdsa(_ signature: [UInt8]) -> DERNode {
    .constructed(0x30, [.unsigned(Array(signature.prefix(32))), .unsigned(Array(signature.suffix(32)))])
  }

  /// The contents, the algorithm and the signature, with more elements behind them: a certificate, or an answer of OCSP.
  static func signed(_ contents: [UInt8], by key: ES256Key, _ more: [DERNode] = []) -> DERNode {
    let signature = DERNode.ecdsa(key.signature(of: contents)).encoded()
    return .constructed(
      0x30, [.verbatim(contents), .ecdsaWithSHA256, .primitive(0x03, [0] + signature)] + more)
  }
}
