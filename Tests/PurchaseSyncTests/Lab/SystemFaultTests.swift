import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// What the system, other versions of the backend and loggers do to an app.
@Suite struct SystemFaultTests {
  private static let otherProtocol = BackendResponse(
    status: 426, contentType: "application/problem+json",
    body: Data(#"{"type":"protocol","title":"Version 2 only","status":426}"#.utf8))

  @Test func `a backend of another version ends no notice that is pending`() async throws {
    try await BuyingFixture.with { shop in
      let isOther = Locked(true)
      let transport = RecordingTransport(shop.transport) {
        $0.path.hasSuffix("/cancel") && isOther.value ? Self.otherProtocol : nil
      }
      let engine = try await shop.open(transport: transport)
      let order = try await engine.begin(product: "gems", account: "alice")
      try await engine.cancel(order: order.number)
      for await event in try await engine.eventStream() { if case .protocolRefused = event { break } }
      isOther.withLock { $0 = false }
      try await engine.wake()
      try await until {
        try shop.server.snapshot().orders.contains { $0.number == order.number && $0.state == .cancelled }
      }
      await engine.shutdown()
    }
  }

  @Test func `a background task of an app that the system launched for it works, and suspends`() async throws
  {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      let isDone = try await engine.work(forSeconds: 30)
      #expect(isDone)
      #expect(try fixture.server.snapshot().credits.count == 1)
      let isSuspended = await engine.isSuspended
      #expect(isSuspended, "the file stays open when the system suspends the app")
      await engine.shutdown()
    }
  }

  @Test func `the OpenAPI document names the answers that the mock gives`() async throws {
    try await OwnershipLab.with { lab in
      let transport = URLSessionTransport(base: lab.server.baseURL)
      let text = try await transport.send(
        BackendRequest(method: "GET", path: "openapi.json", headers: [:], body: Data()))
      let document = try #require(try JSONSerialization.jsonObject(with: text.body) as? [String: Any])
      let paths = try #require(document["paths"] as? [String: [String: Any]])
      let name = UUID().uuidString
      let cases: [(String, String, String, [String: String], String)] = [
        ("PUT", "v1/orders/x", "/v1/orders/{number}", ["Purchase-Sync-Protocol": "2"], "{}"),
        ("POST", "v1/orders/x/cancel", "/v1/orders/{number}/cancel", ["Purchase-Sync-Protocol": "2"], ""),
        ("POST", "v1/orders/x/defer", "/v1/orders/{number}/defer", ["Purchase-Sync-Protocol": "2"], ""),
        (
          "POST", "v1/notifications/appstore", "/v1/notifications/appstore", ["Purchase-Sync-Protocol": "2"],
          "{}"
        ),
        (
          "POST", "v1/adoptions", "/v1/adoptions",
          ["Authorization": "Device \(UUID().uuidString):x", "Account-Authorization": "Bearer token-a"],
          #"{"device":"\#(name)"}"#
        ),
      ]
      for (method, path, template, headers, body) in cases {
        let status = try await transport.send(
          BackendRequest(method: method, path: path, headers: headers, body: Data(body.utf8))
        ).status
        let operation = paths[template]?[method.lowercased()] as? [String: Any]
        let known = (operation?["responses"] as? [String: Any])?.keys.sorted() ?? []
        #expect(known.contains("\(status)"), "\(method) \(template)")
      }
    }
  }

  @Test func `dump shows no token`() {
    var text = ""
    dump(CredentialRequest(account: "alice", refusedToken: "very-secret"), to: &text)
    dump(
      BackendRequest(
        method: "GET", path: "x", headers: ["Authorization": "Bearer very-secret"], body: Data()),
      to: &text)
    #expect(!text.isEmpty && !text.contains("very-secret"))
  }
}
