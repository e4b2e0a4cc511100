import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The routes, over HTTP.
struct MockServerRouteTests {
  private struct Transactions: Decodable {
    struct Item: Decodable { var proof: String? }
    var transactions: [Item]
  }
  private struct Entitlements: Decodable {
    struct Item: Decodable, Equatable {
      var productID: String
      var quantity: Int
    }
    var entitlements: [Item]
  }
  private struct Orders: Decodable { var orders: [OrderDocument] }
  private struct Notification: Decodable { var signedPayload: String }

  @Test func `one purchase from order to finish leaves one credit and nothing unfinished`() async throws {
    let fixture = try MockServerFixture()
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    let verdict = try #require(try await fixture.upload(payment, order: order.number))
    #expect(verdict.verdict == .granted)
    #expect(verdict.orderNumber == order.number)
    let pending = try await fixture.send("GET", "/store/unfinished?storeAccount=apple")
    #expect(try pending.decode(Transactions.self).transactions.map(\.proof) == [payment.signedTransaction])
    let finish = try await fixture.send(
      "POST", "/store/finish", json: #"{"transactionIDs":["\#(payment.transactionID)"]}"#)
    #expect(finish.status == 200)
    let after = try await fixture.send("GET", "/store/unfinished?storeAccount=apple")
    #expect(try after.decode(Transactions.self).transactions.isEmpty)
    let held = try await fixture.send("GET", "/v1/entitlements", MockServerFixture.bearer("alice"))
    #expect(try held.decode(Entitlements.self).entitlements == [.init(productID: "coins", quantity: 1)])
    let snapshot = try fixture.server.snapshot()
    #expect(snapshot.charges.map(\.isFinished) == [true])
    #expect(snapshot.charges.map(\.accountToken) == [order.accountToken])
    #expect(snapshot.credits.map(\.orderNumber) == [order.number])
    #expect(snapshot.orders.map(\.state) == [.delivered])
    #expect(snapshot.verdicts.map(\.verdict) == [.granted])
    #expect(snapshot.requestCount == 7)
  }

  @Test func `an order is 201 at first, 200 when repeated, 422 under a used key`() async throws {
    let fixture = try MockServerFixture()
    let headers = MockServerFixture.bearer("alice").merging(["Idempotency-Key": "k"]) { first, _ in first }
    let json = #"{"productID":"coins","quantity":1,"unknown":null}"#
    let first = try await fixture.send("POST", "/v1/orders", headers, json: json)
    let again = try await fixture.send("POST", "/v1/orders", headers, json: json)
    #expect(first.status == 201)
    #expect(again.status == 200)
    #expect(first.body == again.body)
    let other = try await fixture.send(
      "POST", "/v1/orders", headers, json: #"{"productID":"coins","quantity":2}"#)
    #expect(other.status == 422)
    let list = try await fixture.send("GET", "/v1/orders?state=open", MockServerFixture.bearer("alice"))
    #expect(try list.decode(Orders.self).orders == [try first.decode(OrderDocument.self)])
    let none = try await fixture.send("GET", "/v1/orders?state=delivered", MockServerFixture.bearer("alice"))
    #expect(try none.decode(Orders.self).orders.isEmpty)
  }

  @Test func `another account's order is 403 and not auth, an unknown one 404`() async throws {
    let fixture = try MockServerFixture()
    let order = try await fixture.order()
    let path = "/v1/orders/\(order.number)"
    #expect(
      try await fixture.send("GET", path, MockServerFixture.bearer("alice")).decode(OrderDocument.self)
        == order)
    let foreign = try await fixture.send("GET", path, MockServerFixture.bearer("bob"))
    #expect(foreign.status == 403)
    #expect(try foreign.decode(ProblemDocument.self).type != ProblemDocument.auth)
    #expect(try await fixture.send("GET", "/v1/orders/none", MockServerFixture.bearer("bob")).status == 404)
  }

  @Test(arguments: [nil, "", "Bearer", "Bearer other", "Basic dTpw", "Device no-uuid:s", "Bearer token-"])
  func `missing or wrong credentials are 401 of type auth`(authorization: String?) async throws {
    let fixture = try MockServerFixture()
    let headers = authorization.map { ["Authorization": $0] } ?? [:]
    for (method, path) in [("GET", "/v1/orders"), ("POST", "/v1/receipts"), ("GET", "/v1/entitlements")] {
      let reply = try await fixture.send(
        method, path, headers, body: method == "POST" ? Data("{}".utf8) : nil)
      #expect(reply.status == 401)
      #expect(reply.headers["www-authenticate"] != nil)
      #expect(try reply.decode(ProblemDocument.self).type == ProblemDocument.auth)
    }
  }

  @Test func `a revoked token is refused until it is accepted again`() async throws {
    let fixture = try MockServerFixture()
    fixture.server.revoke(token: "token-alice")
    #expect(try await fixture.send("GET", "/v1/orders", MockServerFixture.bearer("alice")).status == 401)
    #expect(try await fixture.send("GET", "/v1/orders", MockServerFixture.bearer("bob")).status == 200)
    fixture.server.accept(token: "token-alice")
    #expect(try await fixture.send("GET", "/v1/orders", MockServerFixture.bearer("alice")).status == 200)
  }

  @Test func `a device uploads without an account, and an adoption moves its grants`() async throws {
    let fixture = try MockServerFixture()
    let device = UUID()
    let payment = try await fixture.pay()
    let headers = MockServerFixture.device(device)
    #expect(try await fixture.upload(payment, headers: headers, device: device)?.verdict == .granted)
    #expect(try fixture.server.snapshot().creditOwners == [.device(device)])
    let json = #"{"device":"\#(device.uuidString)"}"#
    #expect(
      try await fixture.send(
        "POST", "/v1/adoptions", MockServerFixture.device(device, of: "alice"), json: json
      )
      .status == 200)
    #expect(try fixture.server.snapshot().creditOwners == [.account("alice")])
    #expect(try await fixture.send("POST", "/v1/adoptions", headers, json: json).status == 401)
  }

  @Test func `forged and altered proofs are rejected, without a proof the store is asked by id`() async throws
  {
    let fixture = try MockServerFixture()
    var payment = try await fixture.pay(token: try await fixture.order().accountToken)
    let genuine = payment.signedTransaction
    payment.signedTransaction = String(genuine.dropLast()) + (genuine.hasSuffix("A") ? "E" : "A")
    #expect(try await fixture.upload(payment)?.verdict == .rejected)
    payment.signedTransaction = "garbage"
    #expect(try await fixture.upload(payment)?.verdict == .rejected)
    #expect(try await fixture.upload(payment, withProof: false)?.verdict == .granted)
    payment.transactionID = "77"
    #expect(try await fixture.upload(payment, withProof: false)?.verdict == .unknownTransaction)
  }

  @Test func `a refund at the store is known at the next upload, and takes back the credit by notification`()
    async throws
  {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    #expect(try await fixture.upload(payment)?.verdict == .granted)
    let refund = try await fixture.send(
      "POST", "/store/refunds", json: #"{"transactionID":"\#(payment.transactionID)"}"#)
    let notification = try refund.decode(Notification.self)
    for _ in 0..<2 {
      let reply = try await fixture.send("POST", "/v1/notifications/appstore", body: refund.body)
      #expect(reply.status == 200)
    }
    #expect(
      try fixture.server.snapshot().reversals.map(\.transaction.transactionID) == [payment.transactionID])
    #expect(try await fixture.upload(payment)?.verdict == .refunded)
    let forged = #"{"signedPayload":"\#(notification.signedPayload.dropLast(2))"}"#
    #expect(try await fixture.send("POST", "/v1/notifications/appstore", json: forged).status == 422)
  }

  @Test func `notifications of version 1 are believed if the store confirms them, unknown types accepted`()
    async throws
  {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    let items =
      #"{"latest_receipt_info":[{"transaction_id":"\#(payment.transactionID)"},{"transaction_id":"9"}]}"#
    let cancel = #"{"notification_type":"CANCEL","unified_receipt":\#(items)}"#
    #expect(try await fixture.send("POST", "/v1/notifications/appstore", json: cancel).status == 200)
    #expect(try fixture.server.snapshot().reversals.isEmpty)
    try fixture.server.withStore { store throws(StoreModelError) in
      _ = try store.refund(transactionID: payment.transactionID, now: Sample.now)
    }
    #expect(try await fixture.send("POST", "/v1/notifications/appstore", json: cancel).status == 200)
    #expect(try fixture.server.snapshot().reversals.count == 1)
    let unknown = try await fixture.send(
      "POST", "/v1/notifications/appstore", json: #"{"notification_type":"NEWS"}"#)
    #expect(unknown.status == 202)
  }
}
