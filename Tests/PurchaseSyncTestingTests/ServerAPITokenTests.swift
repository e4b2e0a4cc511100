import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import Testing

@testable import PurchaseSyncTesting

/// The JSON Web Token of requests to the App Store Server API.
struct ServerAPITokenTests {
  typealias Refusal = ServerAPIToken.Refusal

  private static let key = ServerAPIKey(bundleID: Sample.bundleID)
  private static let now = Sample.now
  private static let seconds = now.milliseconds / 1_000

  private static func claims(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
    var claims: [String: JSONValue] = [
      "iss": .string(key.issuerID), "iat": .integer(seconds), "exp": .integer(seconds + 300),
      "aud": "appstoreconnect-v1", "bid": .string(Sample.bundleID),
    ]
    for (name, value) in changes { claims[name] = value }
    return .object(claims)
  }

  private static func refusal(_ authorization: String?, now: Timestamp = now) -> Refusal? {
    var tokens = CheckedTokens()
    do throws(Refusal) {
      try tokens.check(authorization, key, now: now)
      return nil
    } catch {
      return error
    }
  }

  @Test func `the key's own token is accepted, and again from memory`() throws {
    var tokens = CheckedTokens()
    let token = "Bearer " + Self.key.token(now: Self.now)
    try tokens.check(token, Self.key, now: Self.now)
    try tokens.check(token, Self.key, now: Self.now.adding(milliseconds: 299_000))
    #expect(throws: Refusal.expired) {
      try tokens.check(token, Self.key, now: Self.now.adding(milliseconds: 300_000))
    }
  }

  @Test(
    arguments: [
      (["exp": .integer(seconds)], .expired), (["exp": nil], .expired), (["exp": "soon"], .expired),
      (["exp": .integer(seconds + 3_601)], .tooLong), (["exp": .integer(.max)], .tooLong),
      (["iat": nil, "exp": .integer(seconds + 3_600)], nil), (["iat": nil], nil),
      (["iat": nil, "exp": .integer(seconds + 3_661)], .tooLong),
      (["iat": .integer(seconds - 3_000), "exp": .integer(seconds + 601)], .tooLong),
      (["iat": .integer(seconds + 61)], .issuedLater), (["iat": .integer(.max)], .issuedLater),
      (["iat": .integer(.min)], .tooLong),
      (["aud": "appstoreconnect-v2"], .audience), (["aud": nil], .audience),
      (["aud": ["another", "appstoreconnect-v1"]], nil), (["aud": ["another"]], .audience),
      (["aud": []], .audience),
      (["exp": .number("\(seconds).5")], nil), (["exp": .number("1e999")], .expired),
      (["exp": .number("\(seconds + 300).75"), "iat": .number("\(seconds).25")], nil),
      (["exp": .number("\(seconds + 3_600).5")], .tooLong), (["iat": .number("1.7e9")], nil),
      (["iat": .number("\(seconds + 60).5")], .issuedLater), (["iat": "now"], .issuedLater),
      (["nbf": .integer(seconds)], nil), (["nbf": .integer(seconds + 60)], nil),
      (["nbf": .number("\(seconds + 60).5")], .notYet), (["nbf": .integer(.max)], .notYet),
      (["nbf": "now"], .notYet),
      (["iss": "another-issuer"], .issuer), (["iss": nil], .issuer),
      (["bid": "com.example.other"], .bundleID), (["bid": 7], .bundleID),
    ] as [([String: JSONValue?], Refusal?)])
  func `each claim is checked`(changes: [String: JSONValue?], refusal: Refusal?) {
    #expect(Self.refusal("Bearer " + Self.key.token(claims: Self.claims(changes))) == refusal)
  }

  @Test(
    arguments: [
      (["alg": "none", "kid": .string(key.keyID), "typ": "JWT"], .algorithm),
      (["alg": "HS256", "kid": .string(key.keyID), "typ": "JWT"], .algorithm),
      (["alg": "ES256", "kid": "ANOTHERKEY", "typ": "JWT"], .keyID),
      (["alg": "ES256", "typ": "JWT"], .keyID),
      (["alg": "ES256", "kid": .string(key.keyID), "typ": "JWS"], .type),
      (["alg": "ES256", "kid": .string(key.keyID)], nil),
    ] as [(JSONValue, Refusal?)])
  func `each field of the header is checked`(header: JSONValue, refusal: Refusal?) {
    #expect(Self.refusal("Bearer " + Self.key.token(claims: Self.claims(), header: header)) == refusal)
  }

  @Test func `another key, an altered claim and an empty signature are refused`() throws {
    let other = try #require(ES256Key(bytes: [UInt8](repeating: 7, count: 32)))
    #expect(Self.refusal("Bearer " + Self.key.token(claims: Self.claims(), signedBy: other)) == .signature)
    let parts = Self.key.token(now: Self.now).split(separator: ".").map(String.init)
    let later = Base64URL.encode(Self.claims(["exp": .integer(Self.seconds + 301)]).data)
    #expect(Self.refusal("Bearer \(parts[0]).\(later).\(parts[2])") == .signature)
    #expect(Self.refusal("Bearer \(parts[0]).\(parts[1]).") == .signature)
  }

  @Test(
    arguments: [
      (nil, .missing), ("", .missing), ("Bearer", .missing), ("Basic dTpw", .missing),
      ("Bearer token-alice", .malformed), ("Bearer a.b.c", .malformed), ("Bearer ..", .malformed),
      ("Bearer e30.W10.", .malformed), ("Bearer a b", .missing),
    ] as [(String?, Refusal)])
  func `what is no token is refused`(authorization: String?, refusal: Refusal) {
    #expect(Self.refusal(authorization) == refusal)
  }

  @Test func `the private key is PKCS 8 with the key of the tokens`() throws {
    let lines = Self.key.privateKeyPEM.split(separator: "\n")
    #expect(lines.first == "-----BEGIN PRIVATE KEY-----" && lines.last == "-----END PRIVATE KEY-----")
    let der = try #require(Data(base64Encoded: lines.dropFirst().dropLast().joined()))
    // RFC 5208 and RFC 5915: the scalar follows the version of the inner key.
    let inner = try #require(der.firstRange(of: Data([2, 1, 1, 4, 32])))
    let key = try #require(ES256Key(bytes: Array(der[inner.upperBound...].prefix(32))))
    #expect(key.publicKey == Self.key.publicKey)
    #expect(der.suffix(65) == Data(key.publicKey.bytes))
  }

  @Test func `the limit of an endpoint is that of a span, and tells its end in milliseconds`() throws {
    var limiter = ServerAPILimiter()
    limiter.limit = ServerAPIRateLimit(requests: 2, milliseconds: 1_000)
    let now = Timestamp(milliseconds: 5_000)
    for _ in 0..<2 { try limiter.admit("history", now: now) }
    let refused = ServerAPIError.rateLimited(until: Timestamp(milliseconds: 6_000))
    #expect(throws: refused) { try limiter.admit("history", now: now.adding(milliseconds: 999)) }
    #expect(refused.response.headers["Retry-After"] == "6000" && refused.response.status == 429)
    try limiter.admit("info", now: now)
    try limiter.admit("history", now: now.adding(milliseconds: 1_000))
    // A clock that was set back does not lock a backend out.
    try limiter.admit("history", now: Timestamp(milliseconds: 1))
  }
}
