import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The routes for the person who runs the mock server.
@Suite struct AdminRouteTests {
  private struct State: Decodable {
    struct Row: Decodable {
      var transactionID: String?
      var grantedTo: String?
      var number: String?
    }

    var now: Int64
    var orders: [Row]
    var transactions: [Row]
    var faults: FaultPlan
  }

  @Test func `the state lists orders and transactions without secrets`() async throws {
    let fixture = try MockServerFixture()
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    let reply = try await fixture.send("GET", "/admin/state")
    let state = try reply.decode(State.self)
    #expect(state.orders.map(\.number) == [order.number])
    #expect(state.transactions.map(\.transactionID) == [payment.transactionID])
    #expect(state.transactions.first?.grantedTo == nil)
    let text = String(decoding: reply.body, as: UTF8.self)
    #expect(!text.contains(payment.signedTransaction))
    #expect(!text.contains(order.accountToken.uuidString))
  }

  @Test func `the way of a transaction is told from the payment to the finish`() async throws {
    struct Timeline: Decodable {
      struct Entry: Decodable { var who, what: String }
      var entries: [Entry]
    }
    let fixture = try MockServerFixture()
    let order = try await fixture.order()
    let payment = try await fixture.pay(token: order.accountToken)
    _ = try await fixture.upload(payment, order: order.number)
    let reply = try await fixture.send("GET", "/admin/transactions/" + payment.transactionID)
    let words = try reply.decode(Timeline.self).entries.map { $0.who + ": " + $0.what }
    #expect(words.first == "store: apple paid 1 of coins")
    #expect(words.contains("backend: upload by alice: verdict granted, owner yours, order \(order.number)"))
    #expect(words.contains("backend: granted 1 of coins to alice"))
    #expect(words.last == "app: has not finished the transaction yet")
    #expect(!String(decoding: reply.body, as: UTF8.self).contains(payment.signedTransaction))
    #expect(try await fixture.send("GET", "/admin/transactions/0").status == 404)
  }

  @Test func `tables A, B and C are shown without proofs`() async throws {
    struct Tables: Decodable {
      struct Table: Decodable {
        var name: String
        var columns: [String]
        var rows: [[String?]]
        var count: Int
      }
      var tables: [Table]
    }
    let fixture = try MockServerFixture()
    let order = try await fixture.order(product: "monthly")
    let payment = try await fixture.pay(token: order.accountToken, product: "monthly")
    _ = try await fixture.upload(payment, order: order.number)
    let reply = try await fixture.send("GET", "/admin/tables")
    let tables = try reply.decode(Tables.self).tables
    #expect(tables.map(\.name) == ["table_a", "table_b", "table_c"] && tables.map(\.count) == [1, 1, 1])
    for table in tables { #expect(table.rows.first?.contains(payment.transactionID) == true) }
    #expect(!String(decoding: reply.body, as: UTF8.self).contains(payment.signedTransaction))
  }

  @Test func `the state has accounts, waiting purchases and subscriptions`() async throws {
    struct Rows: Decodable {
      struct Account: Decodable { var storeAccount: String, asksToBuy: Bool }
      struct Waiting: Decodable { var storeAccount: String, requestID: String }
      struct Subscription: Decodable { var transactionID: String, phase: String, willRenew: Bool }
      var accounts: [Account]
      var waiting: [Waiting]
      var subscriptions: [Subscription]
    }
    let fixture = try MockServerFixture()
    let paid = try await fixture.pay(product: "monthly")
    _ = try await fixture.send("POST", "/store/accounts", json: #"{"storeAccount":"child","asksToBuy":true}"#)
    _ = try await fixture.send(
      "POST", "/store/payments", json: #"{"storeAccount":"child","productID":"coins"}"#)
    let rows = try await fixture.send("GET", "/admin/state").decode(Rows.self)
    #expect(rows.accounts.map(\.storeAccount) == ["apple", "child"])
    #expect(rows.accounts.map(\.asksToBuy) == [false, true])
    #expect(rows.waiting.map(\.storeAccount) == ["child"])
    #expect(rows.subscriptions.map(\.transactionID) == [paid.transactionID])
    #expect(rows.subscriptions.map(\.phase) == ["active"])
  }

  @Test func `every path that the status page asks is a route`() {
    let page = String(decoding: ServerPages.status, as: UTF8.self)
    let paths = page.split { "\"`'".contains($0) }.map(String.init)
      .filter { $0.hasPrefix("/store/") || $0.hasPrefix("/admin/") }
      // The backend's way to the store, which only a fault plan names; and a path that ends with an id.
      .filter { !$0.hasPrefix("/store/verify") }.map { $0.split(separator: "$")[0].description }
    #expect(Set(paths).count >= 15)
    for path in Set(paths) where path != "/admin/" {
      let asked = path.hasSuffix("/") ? path + "1" : path
      #expect(MockState.routes.contains { $0.parameter(in: asked) != nil }, "\(path)")
    }
  }

  @Test func `faults are switched on and off while it runs`() async throws {
    let fixture = try MockServerFixture()
    let plan =
      #"{"rules":[{"path":"/v1/entitlements","fault":"respond","status":429,"retryAfter":7,"count":null}]}"#
    let planned = try await fixture.send("PUT", "/admin/faults", json: plan)
    #expect(planned.status == 200)
    let struck = try await fixture.send("GET", "/v1/entitlements", MockServerFixture.bearer("alice"))
    #expect(struck.status == 429)
    #expect(struck.headers["retry-after"] == "7")
    let state = try await fixture.send("GET", "/admin/state").decode(State.self)
    #expect(state.faults.rules.map(\.fault.word) == [.respond])
    #expect(state.faults.rules.first?.count == nil)
    _ = try await fixture.send("DELETE", "/admin/faults")
    let healthy = try await fixture.send("GET", "/v1/entitlements", MockServerFixture.bearer("alice"))
    #expect(healthy.status == 200)
  }

  @Test(arguments: [
    "{}", #"{"rules":[{"path":"/","fault":"nope"}]}"#, #"{"rules":[{"fault":"reset"}]}"#, "[",
  ])
  func `an invalid fault plan changes nothing`(plan: String) async throws {
    let fixture = try MockServerFixture(faults: .outage(path: "/v1/entitlements", requests: 1))
    let reply = try await fixture.send("PUT", "/admin/faults", json: plan)
    #expect(reply.status == 400)
    let struck = try await fixture.send("GET", "/v1/entitlements", MockServerFixture.bearer("alice"))
    #expect(struck.status == 503)
  }

  @Test func `the clock is moved for store and backend`() async throws {
    let fixture = try MockServerFixture()
    let before = try await fixture.send("GET", "/admin/state").decode(State.self).now
    let reply = try await fixture.send("POST", "/admin/clock", json: #"{"milliseconds":86400000}"#)
    #expect(reply.status == 200)
    let after = try await fixture.send("GET", "/admin/state").decode(State.self).now
    #expect(after == before + 86_400_000)
    let order = try await fixture.order()
    #expect(order.createdAt.milliseconds == after)
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "4000000000000", "1.5", "\"x\"", "null"])
  func `a step that would move the clock out of its century is refused`(step: String) async throws {
    let fixture = try MockServerFixture()
    let before = try await fixture.send("GET", "/admin/state").decode(State.self).now
    let reply = try await fixture.send("POST", "/admin/clock", json: #"{"milliseconds":"# + step + "}")
    #expect((400..<500).contains(reply.status))
    #expect(try await fixture.send("GET", "/admin/state").decode(State.self).now == before)
  }

  @Test func `every fault of the table survives a JSON round trip`() throws {
    for word in [
      "dropBeforeCommit", "dropAfterCommit", "reset", "truncate", "stall", "delay", "dribble",
      "garbage", "wrongLength", "deliverTwice", "respond",
    ] {
      let text = #"{"rules":[{"path":"/v1","fault":""# + word + #"","count":null,"from":2}]}"#
      let written = try JSONDecoder().decode(FaultPlan.self, from: Data(text.utf8))
      var plan = written
      #expect(plan.next(method: "GET", path: "/v1/x") == nil)
      #expect(plan.next(method: "GET", path: "/v1/x") != nil)
      let again = try JSONDecoder().decode(FaultPlan.self, from: JSONEncoder().encode(written))
      #expect(again == written)
    }
  }
}
