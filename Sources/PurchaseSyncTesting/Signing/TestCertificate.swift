/// An X.509 certificate to be written (RFC 5280), right or wrong. For the testing kit only, never for a product.
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
  /// The first and the last second, such as `20160101000000Z`.
  var notBefore = "20160101000000Z"
  var notAfter = "20991231235959Z"
  /// The same two, in milliseconds since 1970.
  static let years: ClosedRange<Int64> = 1_451_606_400_000...4_102_444_799_000
  var subject: Subject
  /// Whether it may sign other certificates.
  var isAuthority = false
  /// The arcs of Apple's marker, an extension whose content is NULL; nil for none.
  var marker: [UInt64]?
  /// The address of the OCSP responder; nil for none.
  var responder: String?

  /// Apple's markers (StoreFacts c.2).
  static let leafMarker: [UInt64] = [1, 2, 840, 113_635, 100, 6, 11, 1]
  static let intermediateMarker: [UInt64] = [1, 2, 840, 113_635, 100, 6, 2, 1]

  /// The certificate in DER.
  func bytes(signedBy issuerKey: ES256Key) -> [UInt8] {
    let contents = contents(issuerKey.publicKey).encoded()
    return DERNode.signed(contents, by: issuerKey).encoded()
  }

  /// The TBSCertificate, version 3.
  private func contents(_ issuerKey: ES256PublicKey) -> DERNode {
    .constructed(
      0x30,
      [
        .constructed(0xA0, [.integer(2)]), .integer(serialNumber), .ecdsaWithSHA256, .name(issuer),
        .constructed(0x30, [.time(notBefore), .time(notAfter)]), .name(name), subject.node,
        .constructed(0xA3, [.constructed(0x30, extensions(issuerKey))]),
      ])
  }

  private func extensions(_ issuerKey: ES256PublicKey) -> [DERNode] {
    // A leaf's issuer ends the row of authorities, so an authority that has an issuer signs leaves only.
    let path: [DERNode] = issuer == name ? [] : [.integer(0)]
    let constraints = DERNode.constructed(0x30, isAuthority ? [.primitive(0x01, [0xFF])] + path : [])
    // keyCertSign and cRLSign, or digitalSignature.
    let usage = DERNode.primitive(0x03, isAuthority ? [1, 0x06] : [7, 0x80])
    var extensions = [
      Self.extension([2, 5, 29, 14], .primitive(0x04, subject.identifier)),
      Self.extension(
        [2, 5, 29, 35],
        .constructed(0x30, [.primitive(0x80, TestCertificate.Subject.es256(issuerKey).identifier)])),
      Self.extension([2, 5, 29, 19], isCritical: true, constraints),
      Self.extension([2, 5, 29, 15], isCritical: true, usage),
    ]
    if let responder {
      let access = DERNode.constructed(
        0x30, [.identifier([1, 3, 6, 1, 5, 5, 7, 48, 1]), .primitive(0x86, Array(responder.utf8))])
      extensions.append(Self.extension([1, 3, 6, 1, 5, 5, 7, 1, 1], .constructed(0x30, [access])))
    }
    if let marker { extensions.append(Self.extension(marker, .null)) }
    return extensions
  }

  private static func `extension`(
    _ arcs: [UInt64], isCritical: Bool = false, _ value: DERNode
  ) -> DERNode {
    let critical: [DERNode] = isCritical ? [.primitive(0x01, [0xFF])] : []
    return .constructed(0x30, [.identifier(arcs)] + critical + [.primitive(0x04, value.encoded())])
  }
}

extension TestCertificate.Subject {
  /// SubjectPublicKeyInfo.
  var node: DERNode {
    switch self {
    case .es256:
      let algorithm = [
        DERNode.identifier([1, 2, 840, 10_045, 2, 1]), .identifier([1, 2, 840, 10_045, 3, 1, 7]),
      ]
      return .constructed(0x30, [.constructed(0x30, algorithm), .primitive(0x03, [0] + bits)])
    case .rsa:
      return .constructed(
        0x30, [.constructed(0x30, [.rsaEncryption, .null]), .primitive(0x03, [0] + bits)])
    }
  }

  /// The name of the key: SHA-1 of the bits (RFC 5280, 4.2.1.2).
  var identifier: [UInt8] { SHA1.digest(bits) }

  /// What the BIT STRING holds.
  var bits: [UInt8] {
    switch self {
    case .es256(let key): key.bytes
    case .rsa(let modulus, let exponent):
      DERNode.constructed(0x30, [.unsigned(modulus), .unsigned(exponent)]).encoded()
    }
  }
}
