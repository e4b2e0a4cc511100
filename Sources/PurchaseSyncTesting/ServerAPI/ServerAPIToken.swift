import AppStoreReceipts
import Foundation
import PurchaseQueue

/// The JSON Web Token of a request to the App Store Server API: what the store checks before it looks at the request.
///
/// "Tokens that expire more than 60 minutes after the time in `iat` are not valid" (Apple, Generating JSON Web Tokens for
/// API requests). Apple's library for Python sends no `iat`, and the store takes its tokens; they count from now.
struct ServerAPIToken {
  /// Why a token is refused. The store does not say why; the mock store has the reason in `WWW-Authenticate`.
  enum Refusal: String, Error, CaseIterable {
    case missing = "no Authorization header with the scheme Bearer"
    case malformed = "no JSON Web Token"
    case algorithm = "alg is not ES256"
    case type = "typ is not JWT"
    case keyID = "kid is not the ID of the key"
    case signature = "the signature is not the key's"
    case issuer = "iss is not the issuer's ID"
    case audience = "aud is not appstoreconnect-v1"
    case bundleID = "bid is not the app's bundle ID"
    case expired = "exp is missing or over"
    case tooLong = "exp is more than 60 minutes after iat"
    case issuedLater = "iat is no moment, or in the future"
    case notYet = "nbf is no moment, or in the future"
  }

  static let audience = "appstoreconnect-v1"
  /// The longest life of a token, in seconds.
  static let lifetime = 3_600.0
  /// How far the clock of a backend may be ahead, in seconds.
  static let tolerance = 60.0

  private let message: Substring
  private let signature: [UInt8]
  private let header: JSONValue
  private let claims: JSONValue
  /// The three parts.
  let text: Substring

  /// Reads the `Authorization` header; checks nothing.
  init(authorization: String?) throws(Refusal) {
    let words = (authorization ?? "").split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bearer" else { throw .missing }
    text = words[1]
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.json(parts[0]), let claims = Self.json(parts[1]),
      let signature = Base64URL.decode(parts[2])
    else { throw .malformed }
    (self.header, self.claims, self.signature) = (header, claims, Array(signature))
    message = text[..<parts[1].endIndex]
  }

  /// Checks everything except the signature.
  ///
  /// - Parameter now: The time of the store's own clock, which no test moves: a backend has no other.
  func check(_ key: ServerAPIKey, now: Timestamp) throws(Refusal) {
    guard header["alg"]?.string == "ES256" else { throw .algorithm }
    guard header["typ"].map({ $0.string?.uppercased() == "JWT" }) ?? true else { throw .type }
    guard header["kid"]?.string == key.keyID else { throw .keyID }
    guard claims["iss"]?.string == key.issuerID else { throw .issuer }
    // One audience, or a list of them (RFC 7519, 4.1.3).
    let audiences = claims["aud"]?.array ?? claims["aud"].map { [$0] } ?? []
    guard audiences.contains(where: { $0.string == Self.audience }) else { throw .audience }
    guard claims["bid"]?.string == key.bundleID else { throw .bundleID }
    try checkMoments(at: Double(now.milliseconds) / 1_000)
  }

  private func checkMoments(at seconds: Double) throws(Refusal) {
    guard let end = claims["exp"]?.numericDate, end > seconds else { throw .expired }
    if let earliest = claims["nbf"] {
      guard let moment = earliest.numericDate, moment <= seconds + Self.tolerance else { throw .notYet }
    }
    var begin = seconds
    if let issued = claims["iat"] {
      guard let moment = issued.numericDate, moment <= seconds + Self.tolerance else { throw .issuedLater }
      begin = moment
    }
    guard end <= seconds + Self.lifetime + Self.tolerance, end - begin <= Self.lifetime else {
      throw .tooLong
    }
  }

  /// Checks the signature, which takes some milliseconds.
  func checkSignature(_ key: ServerAPIKey) throws(Refusal) {
    guard key.publicKey?.isSignature(signature, of: Array(message.utf8)) == true else { throw .signature }
  }

  private static func json(_ part: Substring) -> JSONValue? {
    guard let data = Base64URL.decode(part) else { return nil }
    do throws(ReceiptDecodingError) {
      let value = try JSONValue(json: data)
      return value.object == nil ? nil : value
    } catch {
      return nil
    }
  }
}

/// The tokens whose signature was right: a backend sends one for minutes, and a check costs more than the request.
struct CheckedTokens: Sendable {
  private var newest: [Substring] = []
  private static let capacity = 16

  /// Refuses a request whose token is not the key's, or not valid now.
  mutating func check(_ authorization: String?, _ key: ServerAPIKey, now: Timestamp)
    throws(ServerAPIToken.Refusal)
  {
    let token = try ServerAPIToken(authorization: authorization)
    try token.check(key, now: now)
    guard !newest.contains(token.text) else { return }
    try token.checkSignature(key)
    newest.append(token.text)
    if newest.count > Self.capacity { newest.removeFirst() }
  }
}

extension JSONValue {
  /// Seconds since 1970 as a JSON Web Token has them: a number, with or without a fraction (RFC 7519, section 2, *NumericDate*).
  /// Nil for other values, and for a number that is no moment.
  var numericDate: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
    default: nil
    }
  }

  /// The number of an integer; nil for other values.
  var wholeNumber: Int64? {
    guard case .integer(let number) = self else { return nil }
    return number
  }

  /// The value of true and false; nil for other values.
  var flag: Bool? {
    guard case .bool(let flag) = self else { return nil }
    return flag
  }
}
