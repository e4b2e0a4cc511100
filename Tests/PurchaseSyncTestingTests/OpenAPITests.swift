import AppStoreReceipts
import Foundation
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The OpenAPI document agrees with the server.
@Suite struct OpenAPITests {
  private let document: JSONValue

  init() throws { document = try JSONValue(json: OpenAPIDocument.json) }

  private var operations: [String] {
    (document["paths"]?.object ?? [:]).flatMap { path, item in
      ["get", "post", "put", "delete", "patch"].filter { item[$0] != nil }.map {
        "\($0.uppercased()) \(path)"
      }
    }
  }

  @Test func `the documented routes are the served routes`() {
    // The App Store Server API is documented by Apple.
    let served = MockState.routes.filter { !$0.path.hasPrefix("/inApps/") }.map { "\($0.method) \($0.path)" }
    let documented = operations.map { operation in
      operation.split(separator: "/", omittingEmptySubsequences: false)
        .map { $0.hasPrefix("\u{7B}") ? "*" : $0 }.joined(separator: "/")
    }
    #expect(Set(documented).subtracting(served) == [], "not served")
    #expect(Set(served).subtracting(documented) == [], "not documented")
  }

  @Test func `every reference has its component`() throws {
    let text = String(decoding: OpenAPIDocument.json, as: UTF8.self)
    let names = text.components(separatedBy: "#/components/").dropFirst().map { $0.prefix { $0 != "\"" } }
    #expect(names.count > 20)
    for name in names {
      let parts = name.split(separator: "/").map(String.init)
      #expect(parts.count == 2 && document["components"]?[parts[0]]?[parts[1]] != nil, "\(name)")
    }
  }

  @Test func `the served document is that of the repository`() async throws {
    let fixture = try MockServerFixture()
    let reply = try await fixture.send("GET", "/openapi.json")
    #expect(reply.body == OpenAPIDocument.json)
    #expect(document["openapi"]?.string == "3.1.0")
  }

  // MARK: Answers

  /// Method, path in the document, target, headers and body of a request.
  private typealias Step = (String, String, String, [String: String], String?)

  private static func orderSteps(_ order: String) -> [Step] {
    let alice = MockServerFixture.bearer("alice")
    let number = "device-\(UUID().uuidString)"
    let made = """
      {"number":"\(number)","accountToken":"\(UUID().uuidString)","account":"alice","productID":"coins","quantity":1,
       "state":"open","createdAt":1}
      """
    let keyed = alice.merging(["Idempotency-Key": "k2"]) { first, _ in first }
    return [
      ("post", "/v1/orders", "/v1/orders", keyed, #"{"productID":"coins","quantity":1}"#),
      ("post", "/v1/orders", "/v1/orders", keyed, #"{"productID":"coins","quantity":1}"#),
      ("post", "/v1/orders", "/v1/orders", alice, "{}"), ("post", "/v1/orders", "/v1/orders", keyed, "{}"),
      ("get", "/v1/orders", "/v1/orders", alice, nil),
      ("get", "/v1/orders", "/v1/orders?state=open", alice, nil),
      ("get", "/v1/orders/{number}", "/v1/orders/\(order)", alice, nil),
      ("get", "/v1/orders/{number}", "/v1/orders/\(order)", MockServerFixture.bearer("bob"), nil),
      ("get", "/v1/orders/{number}", "/v1/orders/none", alice, nil),
      ("get", "/v1/orders", "/v1/orders?limit=1", alice, nil),
      ("get", "/v1/orders", "/v1/orders?limit=0", alice, nil),
      ("put", "/v1/orders/{number}", "/v1/orders/\(number)", alice, made),
      ("put", "/v1/orders/{number}", "/v1/orders/\(number)", alice, made),
      (
        "put", "/v1/orders/{number}", "/v1/orders/\(number)", alice,
        made.replacing("\"quantity\":1", with: "\"quantity\":2")
      ),
      ("put", "/v1/orders/{number}", "/v1/orders/\(number)", MockServerFixture.bearer("bob"), made),
      ("put", "/v1/orders/{number}", "/v1/orders/other", alice, made),
      ("post", "/v1/orders/{number}/defer", "/v1/orders/\(order)/defer", alice, nil),
      ("post", "/v1/orders/{number}/cancel", "/v1/orders/\(order)/cancel", alice, nil),
      ("post", "/v1/orders/{number}/cancel", "/v1/orders/none/cancel", alice, nil),
    ]
  }

  /// Some requests from the order to the refund, with the expected answers.
  @Test func `answers follow the OpenAPI document`() async throws {
    let fixture = try MockServerFixture()
    let alice = MockServerFixture.bearer("alice")
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    let claim = """
      {"transactionID":"\(payment.transactionID)","environment":"Production","productID":"coins","quantity":1,
       "purchasedAt":1,"match":"bound","orderNumber":"\(order.number)","proof":0}
      """
    let upload = """
      {"device":"\(UUID().uuidString)","proofs":[{"kind":"signedTransaction","data":"\(payment.signedTransaction)"}],
       "claims":[\(claim)]}
      """
    let device = UUID()
    let steps =
      Self.orderSteps(order.number) + [
        ("post", "/v1/receipts", "/v1/receipts", alice, upload),
        ("post", "/v1/receipts", "/v1/receipts", alice, upload),
        ("post", "/v1/receipts", "/v1/receipts", alice, #"{"device":"x"}"#),
        ("get", "/v1/entitlements", "/v1/entitlements", alice, nil),
        (
          "post", "/v1/adoptions", "/v1/adoptions", MockServerFixture.device(device, of: "alice"),
          #"{"device":"\#(device.uuidString)"}"#
        ),
        (
          "post", "/v1/adoptions", "/v1/adoptions",
          [
            "Authorization": "Device \(device.uuidString):other", "Account-Authorization": "Bearer token-bob",
          ],
          #"{"device":"\#(device.uuidString)"}"#
        ),
        (
          "post", "/v1/notifications/appstore", "/v1/notifications/appstore", [:],
          #"{"notification_type":"INITIAL_BUY"}"#
        ),
        ("post", "/v1/notifications/appstore", "/v1/notifications/appstore", [:], #"{"signedPayload":"x"}"#),
      ]
    for (method, path, target, headers, body) in steps {
      let reply = try await fixture.send(
        method.uppercased(), target, headers, body: body.map { Data($0.utf8) })
      var answer = document["paths"]?[path]?[method]?["responses"]?["\(reply.status)"]
      if let name = answer?["$ref"]?.string?.split(separator: "/").last {
        answer = document["components"]?["responses"]?[String(name)]
      }
      let content = try #require(
        answer?["content"]?.object, "\(method) \(target): \(reply.status) is not documented")
      let (type, described) = try #require(content.first)
      let sent = reply.headers["content-type"]?.split(separator: ";").first.map(String.init)
      #expect(sent == type, "\(method) \(target)")
      let faults = SchemaCheck(document: document, takesMore: false).faults(
        in: try JSONValue(json: reply.body), of: described["schema"] ?? .null,
        at: "\(method) \(target) \(reply.status)")
      #expect(faults == [])
    }
  }
}
