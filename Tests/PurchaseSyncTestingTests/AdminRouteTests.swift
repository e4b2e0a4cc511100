import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// What somebody does who runs the mock.
@Suite(.timeLimit(.minutes(4))) struct AdminRouteTests {
  private struct State: Decodable {
    struct Row: Decodable {
      var transactionID: String?
      var grantedTo: String?
      var number: String?
    }

    var now: Int64
    var orders: [Row]
    var transactions: [Row]
    var faults: FaultPlanDocument
  }

  @Test func `the state has what happened, and no secrets`() async throws {
    let world = try WorldFixture()
    let order = try await world.order()
    let payment = try await world.pay(token: order.accountToken)
    let reply = try await world.send("GET", "/admin/state")
    let state = try reply.decode(State.self)
    #expect(state.orders.map(\.number) == [order.number])
    #expect(state.transactions.map(\.transactionID) == [payment.transactionID])
    #expect(state.transactions.first?.grantedTo == nil)
    let text = String(decoding: reply.body, as: UTF8.self)
    #expect(!text.contains(payment.signedTransaction))
    #expect(!text.contains(order.accountToken.uuidString))
  }

  @Test func `faults are switched on and off while it runs`() async throws {
    let world = try WorldFixture()
    let plan =
      #"{"rules":[{"path":"/v1/entitlements","fault":"respond","status":429,"retryAfter":7,"count":null}]}"#
    let planned = try await world.send("PUT", "/admin/faults", json: plan)
    #expect(planned.status == 200)
    let struck = try await world.send("GET", "/v1/entitlements", WorldFixture.bearer("alice"))
    #expect(struck.status == 429)
    #expect(struck.headers["retry-after"] == "7")
    let state = try await world.send("GET", "/admin/state").decode(State.self)
    #expect(state.faults.rules.map(\.fault) == ["respond"])
    #expect(state.faults.rules.first?.count == nil)
    _ = try await world.send("DELETE", "/admin/faults")
    let healthy = try await world.send("GET", "/v1/entitlements", WorldFixture.bearer("alice"))
    #expect(healthy.status == 200)
  }

  @Test(arguments: [
    "{}", #"{"rules":[{"path":"/","fault":"nope"}]}"#, #"{"rules":[{"fault":"reset"}]}"#, "[",
  ])
  func `a plan that is none changes nothing`(plan: String) async throws {
    let world = try WorldFixture(faults: .outage(path: "/v1/entitlements", requests: 1))
    let reply = try await world.send("PUT", "/admin/faults", json: plan)
    #expect(reply.status == 400)
    let struck = try await world.send("GET", "/v1/entitlements", WorldFixture.bearer("alice"))
    #expect(struck.status == 503)
  }

  @Test func `the clock is moved for store and backend`() async throws {
    let world = try WorldFixture()
    let before = try await world.send("GET", "/admin/state").decode(State.self).now
    let reply = try await world.send("POST", "/admin/clock", json: #"{"milliseconds":86400000}"#)
    #expect(reply.status == 200)
    let after = try await world.send("GET", "/admin/state").decode(State.self).now
    #expect(after == before + 86_400_000)
    let order = try await world.order()
    #expect(order.createdAt.milliseconds == after)
  }

  @Test(arguments: ["9223372036854775807", "-9223372036854775808", "4000000000000", "1.5", "\"x\"", "null"])
  func `a clock that would leave the century stays`(step: String) async throws {
    let world = try WorldFixture()
    let before = try await world.send("GET", "/admin/state").decode(State.self).now
    let reply = try await world.send("POST", "/admin/clock", json: #"{"milliseconds":"# + step + "}")
    #expect((400..<500).contains(reply.status))
    #expect(try await world.send("GET", "/admin/state").decode(State.self).now == before)
  }

  @Test func `every word of the table makes a fault, and comes back as it was`() throws {
    for word in [
      "dropBeforeCommit", "dropAfterCommit", "reset", "truncate", "stall", "delay", "dribble",
      "garbage", "wrongLength", "deliverTwice", "respond",
    ] {
      let text = #"{"rules":[{"path":"/v1","fault":""# + word + #"","count":null,"from":2}]}"#
      let document = try JSONDecoder().decode(FaultPlanDocument.self, from: Data(text.utf8))
      var plan = FaultPlan(document)
      #expect(plan.next(method: "GET", path: "/v1/x") == nil)
      #expect(plan.next(method: "GET", path: "/v1/x") != nil)
      let again = try JSONDecoder().decode(FaultPlanDocument.self, from: JSONEncoder().encode(document))
      #expect(again == document)
    }
  }
}
