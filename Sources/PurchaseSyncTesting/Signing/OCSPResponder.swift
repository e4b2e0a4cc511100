/// Answers whether a test certificate is revoked (OCSP, RFC 6960). For the testing kit only, never for a product.
///
/// Its answers do not depend on the time: they hold from 2016 until 2099, because the mock server's clock can be moved and
/// the asking library's cannot.
enum OCSPResponder {
  /// The answer in DER to a question in DER.
  static func answer(to request: [UInt8]) -> [UInt8] {
    guard let list = DERElement(request[...])?[0]?.children?.last(where: { $0.tag == 0x30 })?.children,
      let first = list.first?[0], let issuer = issuer(of: first)
    else {
      // malformedRequest: it asks about nothing, or about a certificate of another authority.
      return DERNode.constructed(0x30, [.primitive(0x0A, [1])]).encoded()
    }
    let answers = list.compactMap { $0[0].flatMap { answer(about: $0, issuer) } }
    let name = TestCertificate.Subject.es256(issuer.publicKey).identifier
    let contents = DERNode.constructed(
      0x30,
      [
        .constructed(0xA2, [.primitive(0x04, name)]), .generalizedTime("20160101000000Z"),
        .constructed(0x30, answers),
      ])
    let basic = DERNode.signed(contents.encoded(), by: issuer).encoded()
    return DERNode.constructed(
      0x30,
      [
        .primitive(0x0A, [0]),
        .constructed(
          0xA0,
          [
            .constructed(0x30, [.identifier([1, 3, 6, 1, 5, 5, 7, 48, 1, 1]), .primitive(0x04, basic)])
          ]),
      ]
    ).encoded()
  }

  /// A SingleResponse: the name of the certificate as it was asked for, its state, and how long that holds.
  private static func answer(about name: DERElement, _ issuer: ES256Key) -> DERNode? {
    guard let serial = name[3], self.issuer(of: name)?.publicKey == issuer.publicKey else { return nil }
    let number = serial.content.suffix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
    let state: DERNode =
      TestChain.revoked.contains(number)
      ? .constructed(0xA1, [.generalizedTime("20160102000000Z")]) : .primitive(0x80, [])
    return .constructed(
      0x30,
      [
        .verbatim(Array(name.whole)), state, .generalizedTime("20160101000000Z"),
        .constructed(0xA0, [.generalizedTime("20991231235959Z")]),
      ])
  }

  /// The key of the authority that a CertID names, by SHA-1 or SHA-256 of its public key.
  private static func issuer(of name: DERElement) -> ES256Key? {
    guard let hash = name[2].map({ Array($0.content) }) else { return nil }
    return [TestKeys.root, TestKeys.intermediate].first { key in
      hash == SHA1.digest(key.publicKey.bytes) || hash == SHA256.digest(key.publicKey.bytes)
    }
  }
}
