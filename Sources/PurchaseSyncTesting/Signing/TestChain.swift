/// A leaf, its intermediate and its root, in DER: the test certificates, right or broken. For the testing kit only.
struct TestChain: Sendable, Hashable {
  /// What the leaf signs.
  enum Purpose: Sendable { case transactions, receipts }

  let leaf: [UInt8]
  let intermediate: [UInt8]
  let root: [UInt8]

  /// All chains end here, except those of a stranger. Its certificate is in `Tests/Apple/Certificates/root.cer`.
  static let root = authority(TestKeys.root, signedBy: TestKeys.root)

  /// The serial numbers of the leaves that the responder calls revoked.
  static let revoked: Set<Int64> = [SerialNumber.revoked(.transactions), SerialNumber.revoked(.receipts)]

  /// The chain that proofs with this defect have. Certificates are the same each time.
  ///
  /// - Parameters:
  ///   - responder: The address of the OCSP responder, for the intermediate and the leaf.
  ///   - broken: The defect; nil for none, and a defect that is not of a certificate counts as none.
  ///   - age: Whether the leaf is valid now.
  init(_ purpose: Purpose, responder: String?, broken: BrokenProof? = nil, age: ChainAge = .current) {
    let isStranger = broken == .wrongRoot || broken == .pastedRoot
    let rootKey = isStranger ? TestKeys.strangerRoot : TestKeys.root
    let key = isStranger ? TestKeys.strangerIntermediate : TestKeys.intermediate
    root = broken == .wrongRoot ? Self.authority(rootKey, signedBy: rootKey) : Self.root
    intermediate = Self.authority(
      key, signedBy: rootKey, marked: broken != .missingIntermediateMarker, responder: responder)
    var certificate = TestCertificate(
      serialNumber: SerialNumber.leaf(purpose, broken, age), issuer: Self.intermediateName,
      name: purpose == .transactions ? "purchase-sync test transactions" : "purchase-sync test receipts",
      subject: Self.subject(purpose, isStranger: isStranger))
    certificate.responder = responder
    certificate.marker = broken == .missingLeafMarker ? nil : TestCertificate.leafMarker
    if age == .ended { certificate.notAfter = ChainAge.endText }
    if broken == .expiredLeaf { certificate.notAfter = "20161231235959Z" }
    leaf = certificate.bytes(signedBy: key)
  }

  static let rootName = "purchase-sync test root, never trust it"
  static let intermediateName = "purchase-sync test intermediate"

  private static func subject(_ purpose: Purpose, isStranger: Bool) -> TestCertificate.Subject {
    switch purpose {
    case .receipts: .rsa(modulus: TestKeys.receipts.modulus, exponent: TestKeys.receipts.exponent)
    case .transactions: .es256((isStranger ? TestKeys.stranger : TestKeys.transactions).publicKey)
    }
  }

  private static func authority(
    _ key: ES256Key, signedBy issuer: ES256Key, marked: Bool = true, responder: String? = nil
  ) -> [UInt8] {
    let isRoot = key.publicKey == issuer.publicKey
    var certificate = TestCertificate(
      serialNumber: isRoot ? SerialNumber.root : SerialNumber.intermediate(marked: marked),
      issuer: rootName, name: isRoot ? rootName : intermediateName, subject: .es256(key.publicKey))
    certificate.isAuthority = true
    certificate.marker = isRoot || !marked ? nil : TestCertificate.intermediateMarker
    certificate.responder = responder
    return certificate.bytes(signedBy: issuer)
  }
}

/// The serial numbers of the test certificates: each issuer gives each one once (RFC 5280, 4.1.2.2).
enum SerialNumber {
  static let root: Int64 = 1

  static func intermediate(marked: Bool) -> Int64 { marked ? 2 : 3 }

  static func revoked(_ purpose: TestChain.Purpose) -> Int64 { leaf(purpose, .revoked) }

  static func leaf(
    _ purpose: TestChain.Purpose, _ broken: BrokenProof?, _ age: ChainAge = .current
  ) -> Int64 {
    let kind: Int64 =
      switch broken {
      case .expiredLeaf: 1
      case .missingLeafMarker: 2
      case .revoked: 3
      default: age == .ended ? 4 : 0
      }
    return 0x1000 + kind * 2 + (purpose == .transactions ? 0 : 1)
  }
}
