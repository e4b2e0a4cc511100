import AppStoreReceipts
public import PurchaseQueue

/// Whether the certificates that a ``ReceiptForge`` signs with are valid now. See <doc:Signatures>.
///
/// The raw value is the word in the query of the mock store's route, `chain=ended`.
public enum ChainAge: String, Sendable, Hashable, Codable, CaseIterable {
  /// Valid until the end of 2099.
  case current
  /// Valid until 2025-10-11, when Apple's own ended (app-store-server-library-java#206). A proof that was signed before is
  /// genuine for good; one that says a later `signedDate` is not.
  case ended

  /// The end of the ended chain.
  public static let end = Timestamp(milliseconds: 1_760_140_799_000)
  /// The same, as certificates write it.
  static let endText = "20251010235959Z"
}

/// What a backend reads of the leaf in the header of a JWS. A checksum has words in place of certificates.
package struct ProofLeaf {
  /// The last second, such as `20251010235959Z`.
  private let notAfter: String
  /// Whether its issuer has revoked it, which only a question by OCSP shows.
  package let isRevoked: Bool

  /// Nil for a text that is no JWS with a certificate.
  package init?(jws: String) {
    guard let dot = jws.firstIndex(of: "."), let bytes = Base64URL.decode(jws[..<dot]) else { return nil }
    let header: JWSHeader
    do throws(ReceiptDecodingError) { header = try JWSHeader(json: bytes) } catch { return nil }
    guard let text = header.certificates.first else { return nil }
    if let standIn = StandIn.allCases.first(where: { text.hasPrefix($0.rawValue + "/") }) {
      notAfter = standIn == .ended ? ChainAge.endText : "20991231235959Z"
      isRevoked = standIn == .revoked
    } else if let leaf = ReadCertificate(base64: text) {
      (notAfter, isRevoked) = (leaf.validity.upperBound, TestChain.revoked.contains(leaf.serial))
    } else {
      return nil
    }
  }

  /// Whether it is no longer valid at this moment.
  package func hasEnded(at now: Timestamp) -> Bool { notAfter < CertificateCheck.text(now.milliseconds) }

  /// The first word of each stand-in of a checksum's certificates.
  enum StandIn: String, CaseIterable {
    case forged, ended, revoked

    init(_ broken: BrokenProof?, _ age: ChainAge) {
      self = broken == .revoked ? .revoked : broken == nil && age == .ended ? .ended : .forged
    }
  }
}
