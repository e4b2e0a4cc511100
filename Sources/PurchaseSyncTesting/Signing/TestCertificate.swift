/// An X.509 certificate to be written (RFC 5280), right or wrong. For the testing kit only.
struct TestCertificate: Sendable {
  /// The key that a certificate is about.
  enum Subject: Sendable {
    case es256(ES256PublicKey)
    case rsa(modulus: [UInt8], exponent: [UInt8])
  }

  var serialNumber: Int64
  /// The common names.
  var issuer: String
  var name: String
  /// UTCTime, such as `240101000000Z`.
  var notBefore: String
  var notAfter: String
  var subject: Subject
  /// Whether it may sign other certificates.
  var isAuthority: Bool
  /// The arcs of Apple's marker, an extension without content; nil for none.
  var marker: [UInt64]?

  /// Apple's markers (receipt-facts c.2).
  static let leafMarker: [UInt64] = [1, 2, 840, 113_635, 100, 6, 11, 1]
  static let intermediateMarker: [UInt64] = [1, 2, 840, 113_635, 100, 6, 2, 1]

  /// The certificate in DER.
  func bytes(signedBy issuerKey: ES256Key) -> [UInt8] {
    let contents = contents.encoded()
    let signature = DERNode.ecdsa(issuerKey.signature(of: contents)).encoded()
    return DERNode.constructed(
      0x30, [.verbatim(contents), Self.algorithm, .primitive(0x03, [0] + signature)]
    ).encoded()
  }

  /// ecdsa-with-SHA256.
  private static let algorithm = DERNode.constructed(0x30, [.identifier([1, 2, 840, 10_045, 4, 3, 2])])

  /// The TBSCertificate, version 3.
  private var contents: DERNode {
    .constructed(
      0x30,
      [
        .constructed(0xA0, [.integer(2)]), .integer(serialNumber), Self.algorithm, .name(issuer),
        .constructed(
          0x30, [.primitive(0x17, Array(notBefore.utf8)), .primitive(0x17, Array(notAfter.utf8))]),
        .name(name), subjectKey, .constructed(0xA3, [.constructed(0x30, extensions)]),
      ])
  }

  private var subjectKey: DERNode {
    switch subject {
    case .es256(let key):
      .constructed(
        0x30,
        [
          .constructed(
            0x30, [.identifier([1, 2, 840, 10_045, 2, 1]), .identifier([1, 2, 840, 10_045, 3, 1, 7])]),
          .primitive(0x03, [0] + key.bytes),
        ])
    case .rsa(let modulus, let exponent):
      .constructed(
        0x30,
        [
          .constructed(0x30, [.identifier([1, 2, 840, 113_549, 1, 1, 1]), .primitive(0x05, [])]),
          .primitive(
            0x03, [0] + DERNode.constructed(0x30, [.unsigned(modulus), .unsigned(exponent)]).encoded()),
        ])
    }
  }

  private var extensions: [DERNode] {
    let constraints = DERNode.constructed(0x30, isAuthority ? [.primitive(0x01, [0xFF])] : [])
    // keyCertSign and cRLSign, or digitalSignature.
    let usage = DERNode.primitive(0x03, isAuthority ? [1, 0x06] : [7, 0x80])
    var extensions = [
      Self.extension([2, 5, 29, 19], isCritical: true, constraints),
      Self.extension([2, 5, 29, 15], isCritical: true, usage),
    ]
    if let marker { extensions.append(Self.extension(marker, isCritical: false, .primitive(0x05, []))) }
    return extensions
  }

  private static func `extension`(_ arcs: [UInt64], isCritical: Bool, _ value: DERNode) -> DERNode {
    let critical: [DERNode] = isCritical ? [.primitive(0x01, [0xFF])] : []
    return .constructed(0x30, [.identifier(arcs)] + critical + [.primitive(0x04, value.encoded())])
  }
}

extension DERNode {
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

  /// r and s of 32 bytes each, as X.509 has them.
  static func ecdsa(_ signature: [UInt8]) -> DERNode {
    .constructed(0x30, [.unsigned(Array(signature.prefix(32))), .unsigned(Array(signature.suffix(32)))])
  }
}
