import AppStoreReceipts
import Foundation
package import PurchaseQueue

/// The API key with which a backend signs its requests to the App Store Server API. It is public, and the same in every
/// mock store: **for the testing kit only**.
package struct ServerAPIKey: Sendable {
  /// `kid` of the tokens.
  package let keyID = "MOCKSTORE1"
  /// `iss` of the tokens.
  package let issuerID = "57246542-96fe-1a63-e053-0824d011072a"
  /// `bid` of the tokens.
  package let bundleID: String
  /// The app's number in the store.
  package let appAppleID = Self.appAppleID

  package static let appAppleID: Int64 = 1_234_567_890
  private static let secret = SHA256.digest(Array("the API key of the mock App Store".utf8))
  /// Computed once: it takes a multiplication of a point. Nil only for a number that is no key, which the digest is not.
  private static let key = ES256Key(bytes: secret)

  package init(bundleID: String) { self.bundleID = bundleID }

  /// The public half. Nil never happens.
  var publicKey: ES256PublicKey? { Self.key?.publicKey }

  /// The private key as PKCS #8 in PEM, as App Store Connect has it for download (`AuthKey_….p8`).
  package var privateKeyPEM: String {
    let publicBits = DERNode.primitive(0x03, [0] + (Self.key?.publicKey.bytes ?? []))
    let key = DERNode.constructed(
      0x30, [.integer(1), .primitive(0x04, Self.secret), .constructed(0xA1, [publicBits])])
    let document = DERNode.constructed(
      0x30,
      [
        .integer(0),
        .constructed(
          0x30, [.identifier([1, 2, 840, 10_045, 2, 1]), .identifier([1, 2, 840, 10_045, 3, 1, 7])]),
        .primitive(0x04, key.encoded()),
      ])
    let text = Data(document.encoded()).base64EncodedString()
    let lines = stride(from: 0, to: text.count, by: 64).map { text.dropFirst($0).prefix(64) }
    return "-----BEGIN PRIVATE KEY-----\n" + lines.joined(separator: "\n") + "\n-----END PRIVATE KEY-----\n"
  }

  /// A token of five minutes, as Apple's libraries make it.
  package func token(now: Timestamp) -> String {
    let seconds = now.milliseconds / 1_000
    return token(claims: [
      "iss": .string(issuerID), "iat": .integer(seconds), "exp": .integer(seconds + 300),
      "aud": .string(ServerAPIToken.audience), "bid": .string(bundleID),
    ])
  }

  /// A token with any claims, right or wrong.
  func token(
    claims: JSONValue, header: JSONValue? = nil, signedBy other: ES256Key? = nil
  ) -> String {
    let header = header ?? ["alg": "ES256", "kid": .string(keyID), "typ": "JWT"]
    let message = Base64URL.encode(header.data) + "." + Base64URL.encode(claims.data)
    let signature = (other ?? Self.key)?.signature(of: Array(message.utf8)) ?? []
    return message + "." + Base64URL.encode(Data(signature))
  }
}
