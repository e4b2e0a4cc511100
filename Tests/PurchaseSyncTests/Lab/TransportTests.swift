import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

/// The URL session's transport against servers that misbehave.
@Suite struct TransportTests {
  @Test func `an answer arrives with its status, its body and the used header fields`() async throws {
    let server = try TransportServer { _ in
      HTTPResponse(
        status: 503,
        headers: [
          "Retry-After": "7", "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Content-Type": "text/html",
        ], body: Array("busy".utf8))
    }
    let response = try await server.transport().send(.upload())
    #expect(response.status == 503)
    #expect(response.retryAfter == "7")
    #expect(response.date == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(response.contentType == "text/html")
    #expect(response.body == Data("busy".utf8))
  }

  @Test(arguments: [0, 1, 8_000, 3_000_000]) func `a request arrives whole`(bytes: Int) async throws {
    let server = try TransportServer()
    _ = try await server.transport().send(.upload(bytes: bytes))
    let request = try #require(server.requests.first)
    #expect(request.method == "POST" && request.path == "/v1/receipts" && request.body.count == bytes)
    #expect(request.headers["Authorization"] == "Bearer token-alice")
    #expect(request.headers["Cookie"] == nil)
  }

  /// A password challenge makes Foundation on Linux wait forever.
  @Test(arguments: [401, 403, 404, 407, 413, 429, 500]) func `a refusal is an answer`(status: Int)
    async throws
  {
    let server = try TransportServer { _ in
      HTTPResponse(status: status, headers: ["WWW-Authenticate": "Basic realm=\"x\""], body: [0x7B])
    }
    #expect(try await server.transport().send(.upload()).status == status)
    #expect(server.requests.count == 1)
  }

  @Test func `cookies are not kept, and nothing is cached`() async throws {
    let server = try TransportServer { _ in
      HTTPResponse(
        status: 200, headers: ["Set-Cookie": "a=b", "Cache-Control": "max-age=9999"], body: [0x31])
    }
    let transport = try server.transport()
    for _ in 0..<2 {
      _ = try await transport.send(BackendRequest(method: "GET", path: "x", headers: [:], body: Data()))
    }
    #expect(server.requests.count == 2)
    #expect(server.requests.allSatisfy { $0.headers["Cookie"] == nil })
  }

  // MARK: Redirects

  @Test(arguments: [301, 302, 303, 307, 308])
  func `an endless redirect is one answer and is not followed`(status: Int) async throws {
    let server = try TransportServer { request in
      HTTPResponse(status: status, headers: ["Location": request.path + "/again"], body: Array("moved".utf8))
    }
    let response = try await server.transport().send(.upload())
    #expect(response.status == status)
    #expect(server.requests.map(\.path) == ["/v1/receipts"])
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `credentials are not sent to the target of a redirect`(status: Int) async throws {
    let other = try TransportServer()
    let target = try other.base.absoluteString + "/v1/receipts"
    let server = try TransportServer { _ in HTTPResponse(status: status, headers: ["Location": target]) }
    #expect(try await server.transport().send(.upload()).status == status)
    #expect(other.requests.isEmpty)
  }

  // MARK: Unsendable requests

  @Test(arguments: ["//127.0.0.1:1/x", "/v1", "/"]) func `a path leads to no other address`(path: String)
    async throws
  {
    let server = try TransportServer()
    #expect(try await server.transport().failure(.upload(path: path))?.kind == .unsendable)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [
    "v1/../x", "v1/orders/..", "../x", ".", "v1/./x", "v1/%2E%2e/x", "v1/orders/.%2e?a=b", "v1#x",
  ])
  func `a path leads to no other path of the backend`(path: String) async throws {
    let server = try TransportServer()
    #expect(try await server.transport().failure(.upload(path: path))?.kind == .unsendable)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: ["v1/orders/a..b", "v1/orders/...", "v1/a@evil.example:9/x", "v1//x", "v1/127.0.0.1:1"])
  func `dots and signs within a segment are sent as they are`(path: String) async throws {
    let server = try TransportServer()
    _ = try await server.transport().send(
      BackendRequest(method: "GET", path: path, headers: [:], body: Data()))
    #expect(server.requests.map(\.path) == ["/" + path])
  }

  @Test(arguments: ["/api?tenant=1", "/api#top", "?", "#", "/?", "/api/?tenant=1#top"])
  func `an address with a query or a fragment is refused before anything is sent`(suffix: String) async throws
  {
    let server = try TransportServer()
    let base = try #require(URL(string: try server.base.absoluteString + suffix))
    let error = await URLSessionTransport(base: base, timeout: 5).failure()
    #expect(error?.kind == .unsendable)
    #expect(error?.reason.contains("address") == true)
    #expect(server.requests.isEmpty)
  }

  /// The first part of the path would be the host.
  @Test(arguments: [
    "http://", "https://", "http:", "api.example.com", "/api", "file:///api", "ftp://x", "//x",
  ])
  func `an address without a host names none by its path`(base: String) async throws {
    guard let base = URL(string: base) else { return }
    let error = await URLSessionTransport(base: base, timeout: 5).failure(.upload(path: "127.0.0.1:1/v1"))
    #expect(error?.kind == .unsendable)
  }

  @Test func `a base with a path keeps it`() async throws {
    let server = try TransportServer()
    for base in ["/api", "/api/"] {
      let url = try #require(URL(string: try server.base.absoluteString + base))
      _ = try await URLSessionTransport(base: url).send(.upload())
    }
    #expect(server.requests.map(\.path) == ["/api/v1/receipts", "/api/v1/receipts"])
  }

  @Test(arguments: ["a\r\nX-Other: b", "a\nb", "a\u{0}"])
  func `a credential with a line break adds no header field and is not reported`(value: String)
    async throws
  {
    let server = try TransportServer()
    var request = BackendRequest.upload()
    request.headers["Authorization"] = value
    let error = try #require(try await server.transport().failure(request))
    #expect(error.kind == .unsendable && !error.reason.contains(value))
    #expect(server.requests.isEmpty)
  }

  @Test func `descriptions contain neither credentials nor bodies`() {
    let response = BackendResponse(status: 200, body: Data("secret".utf8))
    #expect("\(BackendRequest.upload())" == "POST v1/receipts, 200 bytes")
    #expect("\(response)" == "HTTP 200, 6 bytes")
  }
}
