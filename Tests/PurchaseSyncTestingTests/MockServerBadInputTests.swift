import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The server answers each bad request with a problem document and continues to run.
struct MockServerBadInputTests {
  private static let posts = [
    "/v1/orders", "/v1/receipts", "/v1/adoptions", "/v1/notifications/appstore", "/store/payments",
    "/store/finish",
    "/store/refunds",
  ]
  private static let wrongTypes = #"""
    {"productID":[1],"claims":{},"device":2,"storeAccount":3,"transactionID":{},"signedPayload":5}
    """#
  private static let headers = MockServerFixture.bearer("alice").merging([
    "Idempotency-Key": "k", "Account-Authorization": "Bearer token-alice",
  ]) { first, _ in first }

  private func expectAlive(_ fixture: MockServerFixture) async throws {
    #expect(try await fixture.send("GET", "/store/products").status == 200)
    #expect(try fixture.server.snapshot().credits.isEmpty)
  }

  @Test(
    arguments: posts, ["", "{", "[]", "null", "\"text\"", "{}}", "\u{0}", wrongTypes])
  func `a body that is not the right JSON is a 4xx problem`(path: String, body: String) async throws {
    let fixture = try MockServerFixture()
    let reply = try await fixture.send("POST", path, Self.headers, json: body)
    #expect(reply.status == 400)
    #expect(reply.headers["content-type"] == "application/problem+json")
    #expect(try reply.decode(ProblemDocument.self).status == 400)
    try await expectAlive(fixture)
  }

  @Test(arguments: posts)
  func `a body that is not text is a 4xx problem`(path: String) async throws {
    let fixture = try MockServerFixture()
    let body = Data((0..<512).map { UInt8(truncatingIfNeeded: $0 &* 37 | 0x80) })
    #expect(try await fixture.send("POST", path, Self.headers, body: body).status == 400)
    let deep = Data(String(repeating: "[", count: 100_000).utf8)
    #expect(try await fixture.send("POST", path, Self.headers, body: deep).status == 400)
    try await expectAlive(fixture)
  }

  @Test func `a wrong type names its coding path and not its value`() async throws {
    let fixture = try MockServerFixture()
    let claim = #"{"transactionID":"1","environment":"Production","productID":"coins","quantity":"secret"}"#
    let json = #"{"device":"\#(UUID().uuidString)","claims":[\#(claim)]}"#
    let reply = try await fixture.send("POST", "/v1/receipts", Self.headers, json: json)
    let detail = try #require(try reply.decode(ProblemDocument.self).detail)
    #expect(reply.status == 400)
    #expect(detail.contains("claims.0.quantity"))
    #expect(!detail.contains("secret"))
  }

  @Test(arguments: [
    #"{"productID":"coins","quantity":0}"#, #"{"productID":"coins","quantity":-9223372036854775808}"#,
    #"{"productID":"","quantity":1}"#, #"{"productID":"  ","quantity":1}"#,
    #"{"productID":"none","quantity":1}"#,
  ])
  func `an order that makes no sense is 422`(json: String) async throws {
    let fixture = try MockServerFixture()
    #expect(try await fixture.send("POST", "/v1/orders", Self.headers, json: json).status == 422)
    #expect(try fixture.server.snapshot().orders.isEmpty)
  }

  @Test func `an order without an idempotency key is 400`() async throws {
    let fixture = try MockServerFixture()
    let json = #"{"productID":"coins","quantity":1}"#
    #expect(
      try await fixture.send("POST", "/v1/orders", MockServerFixture.bearer("alice"), json: json).status
        == 400)
  }

  @Test(arguments: [0, 101])
  func `an upload without claims or with more than 100 is answered 422`(count: Int) async throws {
    let fixture = try MockServerFixture()
    let claims = Array(repeating: Sample.claim(for: Sample.record()), count: count)
    let request = UploadRequest(device: UUID(), proof: nil, claims: claims)
    let body = try JSONEncoder().encode(request)
    #expect(try await fixture.send("POST", "/v1/receipts", Self.headers, body: body).status == 422)
  }

  @Test func `invalid claims are answered 422`() async throws {
    let fixture = try MockServerFixture()
    var claims = Array(repeating: Sample.claim(for: Sample.record()), count: 4)
    claims[0].quantity = 0
    claims[1].transactionID = ""
    claims[2].productID = ""
    claims[3].match = .bound
    for claim in claims {
      let body = try JSONEncoder().encode(UploadRequest(device: UUID(), proof: nil, claims: [claim]))
      #expect(try await fixture.send("POST", "/v1/receipts", Self.headers, body: body).status == 422)
    }
    let device = MockServerFixture.device(UUID())
    let other = UploadRequest(device: UUID(), proof: nil, claims: [Sample.claim(for: Sample.record())])
    let reply = try await fixture.send("POST", "/v1/receipts", device, body: JSONEncoder().encode(other))
    #expect(reply.status == 422)
  }

  @Test func `more than 16 MiB is 413`() async throws {
    let fixture = try MockServerFixture()
    let body = Data(repeating: 0x20, count: 16 * 1024 * 1024 + 1)
    let reply = try await fixture.send("POST", "/v1/receipts", Self.headers, body: body)
    #expect(reply.status == 413)
    #expect(reply.headers["content-type"] == "application/problem+json")
    try await expectAlive(fixture)
  }

  @Test(arguments: [
    "/v1/", "/v1", "/v1/orders/", "/v1/orders/a/b", "/v2/orders", "/store/verify", "/v1/%2e%2e/x",
  ])
  func `an unknown path is 404`(path: String) async throws {
    let fixture = try MockServerFixture()
    let reply = try await fixture.send("GET", path, Self.headers)
    #expect(reply.status == 404)
    #expect(reply.headers["content-type"] == "application/problem+json")
  }

  @Test(arguments: [
    ("DELETE", "/v1/orders", "POST, GET"), ("PUT", "/v1/receipts", "POST"), ("GET", "/v1/adoptions", "POST"),
    ("PATCH", "/v1/orders/x", "GET, PUT"), ("POST", "/store/products", "GET"),
  ])
  func `an unknown method is 405 with Allow`(method: String, path: String, allowed: String) async throws {
    let fixture = try MockServerFixture()
    let reply = try await fixture.send(method, path, Self.headers)
    #expect(reply.status == 405)
    #expect(reply.headers["allow"] == allowed)
  }

  @Test func `the store refuses unknown products and transactions`() async throws {
    let fixture = try MockServerFixture()
    #expect(try await fixture.send("POST", "/store/finish", json: #"{"transactionIDs":["1"]}"#).status == 404)
    #expect(try await fixture.send("POST", "/store/refunds", json: #"{"transactionID":"1"}"#).status == 404)
    #expect(try await fixture.send("GET", "/store/unfinished").status == 400)
    for payment in [
      #"{"storeAccount":"a","productID":"none","quantity":1}"#,
      #"{"storeAccount":"a","productID":"coins","quantity":0}"#,
      #"{"storeAccount":"","productID":"coins","quantity":1}"#,
    ] {
      #expect(try await fixture.send("POST", "/store/payments", json: payment).status == 422)
    }
    #expect(try fixture.server.snapshot().charges.isEmpty)
  }
}
