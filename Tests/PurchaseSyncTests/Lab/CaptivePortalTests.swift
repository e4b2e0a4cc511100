import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A network that answers in the backend's place: nothing is granted, and nothing is forgotten.
@Suite struct CaptivePortalTests {
  /// Answers each request below the paths by itself while it is there.
  private struct Portal: BackendTransport {
    var inner: (any BackendTransport)?
    let isThere: Locked<Bool>
    let answer: BackendResponse
    let answered = Locked(0)

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      if let inner, !isThere.value { return try await inner.send(request) }
      answered.withLock { $0 += 1 }
      return answer
    }
  }

  private static let pages = ["{}", "[]", "", "null", "<html>Sign in</html>", #"{"success":true}"#]

  @Test(arguments: pages, [nil, "application/json", "text/html"])
  func `a portal's answer to an upload grants nothing`(page: String, type: String?) async throws {
    try await EngineFixture.with { fixture in
      let isThere = Locked(false)
      let portal = Portal(
        inner: fixture.transport, isThere: isThere,
        answer: BackendResponse(status: 200, contentType: type, body: Data(page.utf8)))
      let engine = try await fixture.open(transport: portal)
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      isThere.withLock { $0 = true }
      try await engine.receive(try await fixture.pay(token: order.accountToken))
      try await until { portal.answered.value > 1 }
      let state = try await engine.snapshot()
      #expect(state.purchases.map(\.orderNumber) == [order.number])
      #expect(state.outcomes.isEmpty)
      #expect(try fixture.server.snapshot().charges.allSatisfy { !$0.isFinished })
      isThere.withLock { $0 = false }
      try await fixture.finishAll(engine)
      try fixture.expectAllDelivered()
      await engine.shutdown()
    }
  }

  @Test(arguments: pages, [nil, "application/json", "text/html"])
  func `a portal's answer to an upload has no verdict`(page: String, type: String?) async {
    let upload = UploadRequest(
      device: UUID(), proof: nil,
      claims: [
        Claim(
          transactionID: "1", environment: "Production", productID: "p", quantity: 1,
          purchasedAt: Timestamp(milliseconds: 1), match: .none)
      ])
    let portal = Portal(
      isThere: Locked(true),
      answer: BackendResponse(status: 200, contentType: type, body: Data(page.utf8)))
    let result = await HTTPBackend(portal, now: { Timestamp(milliseconds: 1) }).upload(
      upload, in: .account("alice"),
      from: .account(AccountCredential(account: "alice", token: "t"), on: .simulated))
    if case .failure(.retry) = result {} else { Issue.record("\(result)") }
  }

  @Test(arguments: pages, [nil, "application/json", "text/html"])
  func `a portal's answer ends no adoption and registers no order`(page: String, type: String?) throws {
    for status in [200, 201, 204] {
      let response = BackendResponse(status: status, contentType: type, body: Data(page.utf8))
      #expect(!ReplyReading.isTaken(response, UUID()))
      #expect(throws: SyncError.self) {
        let answer: OrderAnswer<OrderDocument> = HTTPBackend.orderAnswer(.success(response))
        do throws(OrderFailure) {
          _ = try answer.get()
        } catch {
          throw SyncError(error, account: "alice")
        }
      }
    }
  }

  @Test func `the answer to an adoption names its device, in either case of letters`() throws {
    let device = UUID()
    for name in [device.uuidString, device.uuidString.lowercased()] {
      let response = BackendResponse(status: 200, body: Data(#"{"device":"\#(name)"}"#.utf8))
      #expect(ReplyReading.isTaken(response, device))
      #expect(!ReplyReading.isTaken(response, UUID()), "another device's")
    }
  }

  @Test func `an adoption is repeated until the backend itself has answered, also after a kill`() async throws
  {
    try await EngineFixture.with { fixture in
      let isThere = Locked(true)
      let portal = Portal(
        inner: fixture.transport, isThere: isThere,
        answer: BackendResponse(status: 200, contentType: "application/json", body: Data("{}".utf8)))
      var engine = try await fixture.open()
      try await engine.receive(try await fixture.pay())
      try await fixture.finishAll(engine)
      await engine.shutdown()
      engine = try await fixture.open(transport: portal)
      try await engine.adoptDevicePurchases(for: "alice")
      try await until { portal.answered.value > 1 }
      #expect(try await engine.snapshot().pendingAdoptions == 1)
      await engine.shutdown()
      engine = try await fixture.open(transport: portal)
      #expect(try await engine.snapshot().pendingAdoptions == 1)
      isThere.withLock { $0 = false }
      try await fixture.finishAll(engine)
      #expect(try fixture.server.snapshot().creditOwners == [.account("alice")])
      await engine.shutdown()
    }
  }
}
