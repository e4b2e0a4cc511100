/// A defect of a signed proof. A backend has to refuse a proof with any of them. See <doc:Signatures>.
///
/// The raw value is the name in the query of the mock store's routes, such as `broken=wrong-root`.
public enum BrokenProof: String, Sendable, Hashable, Codable, CaseIterable {
  /// The leaf's time ended in 2016, before the proof was signed.
  case expiredLeaf = "expired-leaf"
  /// The three certificates belong together and look right, but the last one is another root with the same name.
  case wrongRoot = "wrong-root"
  /// As `wrongRoot`, with the right root's certificate in the last place: it has not signed the second one.
  case pastedRoot = "pasted-root"
  /// The leaf lacks Apple's marker 1.2.840.113635.100.6.11.1: it is for something else.
  case missingLeafMarker = "missing-leaf-oid"
  /// The intermediate lacks Apple's marker 1.2.840.113635.100.6.2.1.
  case missingIntermediateMarker = "missing-intermediate-oid"
  /// The header has the leaf and the intermediate only. An app receipt has the leaf only.
  case shortChain = "short-chain"
  /// The header says HS256, and the signature is an HMAC whose password is the leaf's public key. An app receipt says SHA-1
  /// about a signature with SHA-256.
  case wrongAlgorithm = "wrong-algorithm"
  /// The header says that the algorithm is `none`, and the signature is empty. An app receipt has no signer.
  case unsigned
  /// The content was changed after it was signed: the quantity is 100. What has no quantity has a new member `tampered`. An
  /// app receipt has the version 43 as well.
  case tamperedPayload = "tampered-payload"
  /// Everything is right, but the leaf is revoked. Only a question to the OCSP responder shows that.
  case revoked = "revoked"

  /// The member of a broken proof's header that names the defect, and no member of Apple's. Of an app receipt the opaque
  /// value is the name. So a planted bug of a backend overlooks one defect, and no other.
  package static let headerMember = "defect"

  /// One line about the defect, for people.
  public var summary: String {
    switch self {
    case .expiredLeaf: "the leaf had expired before the proof was signed"
    case .wrongRoot: "the chain ends at another root with the same name"
    case .pastedRoot: "the right root is appended to a stranger's chain"
    case .missingLeafMarker: "the leaf lacks 1.2.840.113635.100.6.11.1"
    case .missingIntermediateMarker: "the intermediate lacks 1.2.840.113635.100.6.2.1"
    case .shortChain: "certificates are missing"
    case .wrongAlgorithm: "the header names an algorithm that Apple does not use"
    case .unsigned: "there is no signature"
    case .tamperedPayload: "the content was changed after it was signed"
    case .revoked: "the leaf is revoked, which only OCSP tells"
    }
  }
}
