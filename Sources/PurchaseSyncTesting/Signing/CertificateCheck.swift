import AppStoreReceipts
import Foundation

/// Why a signed proof is refused.
enum ProofRefusal: String, Error, Hashable {
  /// No JWS of three parts.
  case malformed
  /// The header names another algorithm than ES256.
  case algorithm
  /// There are not three certificates.
  case chainLength
  /// A certificate cannot be read.
  case certificate
  /// The last certificate is not the test root.
  case root
  /// A certificate is not signed by the next one.
  case issuer
  /// A certificate was not valid when the proof was signed.
  case expired
  /// Apple's marker is missing.
  case marker
  /// The leaf is revoked.
  case revoked
  /// The signature is not that of the leaf's key.
  case signature
}

/// The checks of the certificates in a JWS that each backend has to do, in the order in which they are cheap.
/// For the testing kit only, never for a product: it trusts the test root and nothing else.
struct CertificateCheck {
  private let header: Data
  private let payload: Data

  init(header: Substring, payload: Substring) throws(ProofRefusal) {
    guard let header = Base64URL.decode(header), let payload = Base64URL.decode(payload) else {
      throw .malformed
    }
    (self.header, self.payload) = (header, payload)
  }

  /// The key of the leaf, and whether the leaf is revoked.
  func key() throws(ProofRefusal) -> (key: ES256PublicKey, isRevoked: Bool) {
    let header: JWSHeader
    do throws(ReceiptDecodingError) { header = try JWSHeader(json: self.header) } catch { throw .malformed }
    guard header.algorithm == "ES256" else { throw .algorithm }
    guard header.certificates.count == 3 else { throw .chainLength }
    let bytes = header.certificates.compactMap { Data(base64Encoded: $0).map(Array.init) }
    let chain = bytes.compactMap(ReadCertificate.init)
    guard bytes.count == 3, chain.count == 3 else { throw .certificate }
    // The root in the text proves nothing: it is compared with the one that is known.
    guard bytes[2] == TestChain.root else { throw .root }
    let moment = try moment()
    guard chain.allSatisfy({ $0.validity.contains(moment) }) else { throw .expired }
    guard chain[0].has(TestCertificate.leafMarker), chain[1].has(TestCertificate.intermediateMarker) else {
      throw .marker
    }
    guard chain[2].hasSigned(chain[1]), chain[1].hasSigned(chain[0]) else { throw .issuer }
    guard let key = chain[0].key else { throw .certificate }
    return (key, TestChain.revoked.contains(chain[0].serial))
  }

  /// When the proof says that it was signed, as certificates write it: a proof is judged by the certificates of its time.
  private func moment() throws(ProofRefusal) -> String {
    let members: JSONValue
    do throws(ReceiptDecodingError) { members = try JSONValue(json: payload) } catch { throw .malformed }
    guard case .integer(let milliseconds)? = members["signedDate"] ?? members["receiptCreationDate"] else {
      throw .malformed
    }
    return Self.text(milliseconds)
  }

  /// A moment as certificates write it, such as `20251010235959Z`.
  static func text(_ milliseconds: Int64) -> String {
    let text = Date(timeIntervalSince1970: Double(milliseconds / 1_000)).formatted(.iso8601)
    return text.filter { $0.isNumber || $0 == "Z" }
  }
}
