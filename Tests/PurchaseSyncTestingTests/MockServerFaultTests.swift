import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Faults over HTTP: which requests are committed, and that a repetition succeeds.
struct MockServerFaultTests {
  @Test func `an outage answers 503 and commits nothing`() async throws {
    let fixture = try MockServerFixture(faults: .outage(path: "/store/payments", requests: 1))
    let json = #"{"storeAccount":"apple","productID":"coins","quantity":1}"#
    let reply = try await fixture.send("POST", "/store/payments", json: json)
    #expect(reply.status == 503)
    #expect(reply.headers["content-type"] == "application/problem+json")
    #expect(try fixture.server.snapshot().charges.isEmpty)
    #expect(try await fixture.send("POST", "/store/payments", json: json).status == 200)
  }

  @Test(arguments: [Fault.dropAfterCommit, .reset, .truncate(bytes: 3), .stall(milliseconds: 1)])
  func `a lost reply has granted, and the same upload again is a duplicate`(fault: Fault) async throws {
    let fixture = try MockServerFixture(faults: FaultPlan([.init(path: "/v1/receipts", fault: fault)]))
    let payment = try await fixture.pay()
    await #expect(throws: URLError.self) { try await fixture.upload(payment) }
    #expect(try fixture.server.snapshot().credits.count == 1)
    #expect(try await fixture.upload(payment)?.verdict == .duplicate)
    #expect(try fixture.server.snapshot().credits.count == 1)
  }

  @Test(arguments: [Fault.dropBeforeCommit, .garbage(Array("portal".utf8))])
  func `a lost request has granted nothing, and the same upload again is granted`(fault: Fault) async throws {
    let fixture = try MockServerFixture(faults: FaultPlan([.init(path: "/v1/receipts", fault: fault)]))
    let payment = try await fixture.pay()
    await #expect(throws: URLError.self) { try await fixture.upload(payment) }
    #expect(try fixture.server.snapshot().credits.isEmpty)
    #expect(try await fixture.upload(payment)?.verdict == .granted)
  }

  @Test func `a store that does not answer the backend makes a claim pending`() async throws {
    let fixture = try MockServerFixture(faults: .outage(path: "/store/verify", requests: 1))
    let payment = try await fixture.pay()
    let verdict = try #require(try await fixture.upload(payment))
    #expect(verdict.verdict == .pending)
    #expect(verdict.retryAfter != nil)
    #expect(try await fixture.upload(payment)?.verdict == .granted)
  }

  @Test func `many uploads at once of one transaction leave one credit`() async throws {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    let verdicts = try await withThrowingTaskGroup(of: Verdict?.self) { group in
      for _ in 0..<20 { group.addTask { try await fixture.upload(payment)?.verdict } }
      return try await group.reduce(into: [Verdict?]()) { $0.append($1) }
    }
    #expect(verdicts.filter { $0 == .granted }.count == 1)
    #expect(verdicts.filter { $0 == .duplicate }.count == 19)
    #expect(try fixture.server.snapshot().doubledCredits == 0)
  }

  @Test func `onRequest is called before and after the commit of a request`() async throws {
    let (moments, continuation) = AsyncStream.makeStream(of: RequestMoment.self)
    let fixture = try MockServerFixture(
      faults: .requestLost(path: "/v1", occurrence: 1), onRequest: { continuation.yield($0) })
    _ = try await fixture.pay()
    await #expect(throws: (any Error).self) {
      try await fixture.send("GET", "/v1/orders", MockServerFixture.bearer("alice"))
    }
    fixture.server.stop()
    continuation.finish()
    let seen = await moments.reduce(into: [RequestMoment]()) { $0.append($1) }
    #expect(Array(seen.map(\.phase).prefix(3)) == [.beforeHandling, .afterHandling, .beforeHandling])
    #expect(Array(seen.map(\.path).prefix(3)) == ["/store/payments", "/store/payments", "/v1/orders"])
    #expect(Array(seen.map(\.status).prefix(2)) == [nil, 200])
  }

  @Test func `a mock server on the file of an earlier one continues its ledger`() async throws {
    let directory = try TemporaryDirectory()
    func fixture() throws -> MockServer {
      try MockServer(
        databasePath: directory.path("backend.sqlite"), products: Sample.products, bundleID: Sample.bundleID,
        now: { Sample.now })
    }
    let first = try fixture()
    try first.start()
    let url = first.baseURL.appending(path: "/v1/orders")
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.httpBody = Data(#"{"productID":"coins","quantity":1}"#.utf8)
    request.setValue("Bearer token-alice", forHTTPHeaderField: "Authorization")
    request.setValue("k", forHTTPHeaderField: "Idempotency-Key")
    _ = try await URLSession.shared.data(for: request)
    first.stop()
    #expect(try first.snapshot().orders.count == 1)
    #expect(try fixture().snapshot().orders == first.snapshot().orders)
  }
}
