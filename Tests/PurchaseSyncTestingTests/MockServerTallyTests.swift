import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The counts by which a run is judged.
struct MockServerTallyTests {
  private func tally(_ fixture: MockServerFixture, kept: Set<String> = []) throws -> MockTally {
    MockTally(try fixture.server.snapshot(), kept: kept)
  }

  private func finish(_ payment: MockServerFixture.Payment, _ fixture: MockServerFixture) throws {
    try fixture.server.withStore { store throws(StoreModelError) in
      try store.finish(transactionID: payment.transactionID)
    }
  }

  @Test func `a payment is pending, then kept, then lost, then granted`() async throws {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    #expect(try tally(fixture).pending == 1)
    #expect(try tally(fixture).lost == 0)
    #expect(try tally(fixture).unfinished == 1)
    try finish(payment, fixture)
    #expect(try tally(fixture, kept: [payment.transactionID]).pending == 1)
    #expect(try tally(fixture).lost == 1)
    #expect(try !tally(fixture).isClean)
    #expect(try await fixture.upload(payment)?.verdict == .granted)
    #expect(try tally(fixture).isClean)
    #expect(try tally(fixture).paid == 1 && tally(fixture).granted == 1)
    #expect(try tally(fixture).mostUploads == 1)
  }

  @Test func `a transaction refunded before its grant does not count as paid`() async throws {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    _ = try fixture.server.withStore { store throws(StoreModelError) in
      try store.refund(transactionID: payment.transactionID, now: Sample.now)
    }
    #expect(try await fixture.upload(payment)?.verdict == .refunded)
    #expect(try tally(fixture).paid == 0)
  }

  /// A backend that does not ask the store for the token of what only a receipt proves.
  private static let unasked = BrokenHooks(hears: { answer, _, _, _, _ in
    guard var report = answer.report else { return }
    for index in report.transactions.indices { report.transactions[index].appAccountToken = nil }
    answer.outcome = .genuine(report)
  })

  @Test func `a credit of a wrong account is counted, also if the token was never seen`()
    async throws
  {
    let fixture = try MockServerFixture(broken: Self.unasked)
    fixture.server.withStore { $0.delivery = .tokenForgotten }
    let order = try await fixture.order("alice")
    let store = MockStoreClient(base: fixture.server.baseURL, storeAccount: "apple")
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: order.accountToken)
    // A naive client grants the whole receipt to the signed-in account.
    let proof = ProofDocument(
      kind: .appReceipt, data: Data(paid.proof.bytes).base64EncodedString())
    let claim = Claim(
      transactionID: paid.transactionID, environment: "Production", productID: "coins", quantity: 1,
      purchasedAt: paid.purchasedAt, match: .none)
    let body = try JSONEncoder().encode(UploadRequest(device: UUID(), proof: proof, claims: [claim]))
    let reply = try await fixture.send("POST", "/v1/receipts", MockServerFixture.bearer("bob"), body: body)
    #expect(try reply.decode(UploadReply.self).verdicts.map(\.verdict) == [.granted])
    #expect(try tally(fixture).wrongAccount == 1)
    #expect(try !tally(fixture).isClean)
  }

  @Test func `a device's credit is misplaced only after a wrong account adopts it`() async throws {
    let fixture = try MockServerFixture(broken: Self.unasked)
    fixture.server.withStore { $0.delivery = .tokenForgotten }
    let order = try await fixture.order("alice")
    let store = MockStoreClient(base: fixture.server.baseURL, storeAccount: "apple")
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: order.accountToken)
    let device = UUID()
    let proof = ProofDocument(
      kind: .appReceipt, data: Data(paid.proof.bytes).base64EncodedString())
    let claim = Claim(
      transactionID: paid.transactionID, environment: "Production", productID: "coins", quantity: 1,
      purchasedAt: paid.purchasedAt, match: .none)
    let body = try JSONEncoder().encode(UploadRequest(device: device, proof: proof, claims: [claim]))
    let headers = MockServerFixture.device(device)
    #expect(try await fixture.send("POST", "/v1/receipts", headers, body: body).status == 200)
    #expect(try tally(fixture).wrongAccount == 0)
    let json = #"{"device":"\#(device.uuidString)"}"#
    _ = try await fixture.send(
      "POST", "/v1/adoptions", MockServerFixture.device(device, of: "bob"), json: json)
    #expect(try tally(fixture).wrongAccount == 1)
    #expect(try fixture.server.snapshot().deviceAdoptions.map(\.account) == ["bob"])
  }

  @Test func `requests are counted by method and path, uploads that are lost too`() async throws {
    let fixture = try MockServerFixture(faults: .requestLost(path: "/v1/receipts", occurrence: 1))
    let payment = try await fixture.pay()
    await #expect(throws: (any Error).self) { try await fixture.upload(payment) }
    _ = try await fixture.upload(payment)
    let snapshot = try fixture.server.snapshot()
    #expect(snapshot.requests == ["POST /store/payments": 1, "POST /v1/receipts": 2])
    #expect(snapshot.uploads == [payment.transactionID: 2])
  }
}
