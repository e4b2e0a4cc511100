/// The message of an app receipt: SignedData of PKCS #7 with an RSA signature and three certificates, in DER, without
/// signed attributes, as the App Store writes it (StoreFacts b.1). For the testing kit only.
struct SignedReceipt {
  var chain: TestChain
  var broken: BrokenProof?

  /// The message around a payload.
  ///
  /// - Parameter signed: What the signature is of: the payload, unless it was tampered with.
  func bytes(around payload: [UInt8], signed: [UInt8]) -> [UInt8] {
    // An algorithm that is not the signature's.
    let digest = broken == .wrongAlgorithm ? Self.sha1 : Self.sha256
    let certificates = broken == .shortChain ? [chain.leaf] : [chain.leaf, chain.intermediate, chain.root]
    let signers = broken == .unsigned ? [] : [signer(digest, TestKeys.receipts.signature(of: signed))]
    let data = DERNode.constructed(
      0x30,
      [
        .integer(1), .constructed(0x31, [digest]),
        .constructed(
          0x30, [Self.content(1), .constructed(0xA0, [.primitive(0x04, payload)])]),
        // A SET: the order of its elements is that of their bytes.
        .constructed(0xA0, certificates.sorted { $0.lexicographicallyPrecedes($1) }.map(DERNode.verbatim)),
        .constructed(0x31, signers),
      ])
    return DERNode.constructed(0x30, [Self.content(2), .constructed(0xA0, [data])]).encoded()
  }

  private func signer(_ digest: DERNode, _ signature: [UInt8]) -> DERNode {
    let certificate = ReadCertificate(chain.leaf)
    let name = DERNode.constructed(
      0x30,
      [
        .verbatim(certificate?.issuer ?? []), .primitive(0x02, certificate?.serialNumber ?? []),
      ])
    return .constructed(
      0x30,
      [
        .integer(1), name, digest, .constructed(0x30, [.rsaEncryption, .null]), .primitive(0x04, signature),
      ])
  }

  private static func content(_ kind: UInt64) -> DERNode { .identifier([1, 2, 840, 113_549, 1, 7, kind]) }

  private static var sha1: DERNode { .constructed(0x30, [.identifier([1, 3, 14, 3, 2, 26]), .null]) }

  private static var sha256: DERNode {
    .constructed(0x30, [.identifier([2, 16, 840, 1, 101, 3, 4, 2, 1]), .null])
  }
}
