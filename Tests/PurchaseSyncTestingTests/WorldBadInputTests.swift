import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// Whatever comes in, a problem document goes out and the server lives on.
struct WorldBadInputTests {
  private static let posts = [
    "/v1/orders", "/v1/receipts", "/v1/claims", "/v1/notifications/appstore", "/store/payments",
    "/store/finish",
    "/store/refunds",
  ]
  private static let wrongTypes = #"""
    {"productID":[1],"claims":{},"device":2,"storeAccount":3,"transactionID":{},"signedPayload":5}
    """#
  private static let headers = WorldFixture.bearer("alice").merging(["Idempotency-Key": "k"]) { first, _ in
    first
  }

  private func expectAlive(_ world: WorldFixture) async throws {
    #expect(try await world.send("GET", "/store/products").status == 200)
    #expect(try world.server.snapshot().credits.isEmpty)
  }

  @Test(
    arguments: posts, ["", "{", "[]", "null", "\"text\"", "{}}", "\u{0}", wrongTypes])
  func `a body that is not the right JSON is a 4xx problem`(path: String, body: String) async throws {
    let world = try WorldFixture()
    let reply = try await world.send("POST", path, Self.headers, json: body)
    #expect(reply.status == 400)
    #expect(reply.headers["content-type"] == "application/problem+json")
    #expect(try reply.decode(ProblemDocument.self).status == 400)
    try await expectAlive(world)
  }

  @Test(arguments: posts)
  func `a body of bytes that are no text is a 4xx problem`(path: String) async throws {
    let world = try WorldFixture()
    let body = Data((0..<512).map { UInt8(truncatingIfNeeded: $0 &* 37 | 0x80) })
    #expect(try await world.send("POST", path, Self.headers, body: body).status == 400)
    let deep = Data(String(repeating: "[", count: 100_000).utf8)
    #expect(try await world.send("POST", path, Self.headers, body: deep).status == 400)
    try await expectAlive(world)
  }

  @Test func `a wrong type names its coding path and not its value`() async throws {
    let world = try WorldFixture()
    let claim = #"{"transactionID":"1","environment":"Production","productID":"coins","quantity":"secret"}"#
    let json = #"{"device":"\#(UUID().uuidString)","claims":[\#(claim)]}"#
    let reply = try await world.send("POST", "/v1/receipts", Self.headers, json: json)
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
    let world = try WorldFixture()
    #expect(try await world.send("POST", "/v1/orders", Self.headers, json: json).status == 422)
    #expect(try world.server.snapshot().orders.isEmpty)
  }

  @Test func `an order without an idempotency key is 400`() async throws {
    let world = try WorldFixture()
    let json = #"{"productID":"coins","quantity":1}"#
    #expect(
      try await world.send("POST", "/v1/orders", WorldFixture.bearer("alice"), json: json).status == 400)
  }

  @Test(arguments: [0, 101])
  func `an upload of no claims or of more than 100 is 422`(count: Int) async throws {
    let world = try WorldFixture()
    let claims = Array(repeating: Sample.claim(for: Sample.record()), count: count)
    let request = UploadRequest(device: UUID(), proof: nil, claims: claims)
    let body = try JSONEncoder().encode(request)
    #expect(try await world.send("POST", "/v1/receipts", Self.headers, body: body).status == 422)
  }

  @Test func `claims that make no sense are 422`() async throws {
    let world = try WorldFixture()
    var claims = Array(repeating: Sample.claim(for: Sample.record()), count: 4)
    claims[0].quantity = 0
    claims[1].transactionID = ""
    claims[2].productID = ""
    claims[3].match = .bound
    for claim in claims {
      let body = try JSONEncoder().encode(UploadRequest(device: UUID(), proof: nil, claims: [claim]))
      #expect(try await world.send("POST", "/v1/receipts", Self.headers, body: body).status == 422)
    }
    let device = ["Authorization": "Device \(UUID().uuidString)"]
    let other = UploadRequest(device: UUID(), proof: nil, claims: [Sample.claim(for: Sample.record())])
    let reply = try await world.send("POST", "/v1/receipts", device, body: JSONEncoder().encode(other))
    #expect(reply.status == 422)
  }

  @Test func `more than 16 MiB is 413`() async throws {
    let world = try WorldFixture()
    let body = Data(repeating: 0x20, count: 16 * 1024 * 1024 + 1)
    let reply = try await world.send("POST", "/v1/receipts", Self.headers, body: body)
    #expect(reply.status == 413)
    #expect(reply.headers["content-type"] == "application/problem+json")
    try await expectAlive(world)
  }

  @Test(arguments: [
    "/v1/", "/v1", "/v1/orders/", "/v1/orders/a/b", "/v2/orders", "/store/verify", "/v1/%2e%2e/x",
  ])
  func `an unknown path is 404`(path: String) async throws {
    let world = try WorldFixture()
    let reply = try await world.send("GET", path, Self.headers)
    #expect(reply.status == 404)
    #expect(reply.headers["content-type"] == "application/problem+json")
  }

  @Test(arguments: [
    ("DELETE", "/v1/orders", "POST, GET"), ("PUT", "/v1/receipts", "POST"), ("GET", "/v1/claims", "POST"),
    ("PATCH", "/v1/orders/x", "GET"), ("POST", "/store/products", "GET"),
  ])
  func `an unknown method is 405 with Allow`(method: String, path: String, allowed: String) async throws {
    let world = try WorldFixture()
    let reply = try await world.send(method, path, Self.headers)
    #expect(reply.status == 405)
    #expect(reply.headers["allow"] == allowed)
  }

  @Test func `the store refuses what it does not know`() async throws {
    let world = try WorldFixture()
    let unknown = #"{"transactionID":"1"}"#
    #expect(try await world.send("POST", "/store/finish", json: unknown).status == 404)
    #expect(try await world.send("POST", "/store/refunds", json: unknown).status == 404)
    #expect(try await world.send("GET", "/store/unfinished").status == 400)
    for payment in [
      #"{"storeAccount":"a","productID":"none","quantity":1}"#,
      #"{"storeAccount":"a","productID":"coins","quantity":0}"#,
      #"{"storeAccount":"","productID":"coins","quantity":1}"#,
    ] {
      #expect(try await world.send("POST", "/store/payments", json: payment).status == 422)
    }
    #expect(try world.server.snapshot().charges.isEmpty)
  }
}
