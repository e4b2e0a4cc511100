import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// The counts by which a run is judged.
struct WorldTallyTests {
  private func tally(_ world: WorldFixture, kept: Set<String> = []) throws -> WorldTally {
    WorldTally(try world.server.snapshot(), kept: kept)
  }

  private func finish(_ payment: WorldFixture.Payment, _ world: WorldFixture) throws {
    try world.server.withStore { store throws(StoreModelError) in
      try store.finish(transactionID: payment.transactionID)
    }
  }

  @Test func `a payment is pending, then kept, then lost, then granted`() async throws {
    let world = try WorldFixture()
    let payment = try await world.pay()
    #expect(try tally(world).pending == 1)
    #expect(try tally(world).lost == 0)
    #expect(try tally(world).unfinished == 1)
    try finish(payment, world)
    #expect(try tally(world, kept: [payment.transactionID]).pending == 1)
    #expect(try tally(world).lost == 1)
    #expect(try !tally(world).isClean)
    #expect(try await world.upload(payment)?.verdict == .granted)
    #expect(try tally(world).isClean)
    #expect(try tally(world).paid == 1 && tally(world).granted == 1)
    #expect(try tally(world).mostUploads == 1)
  }

  @Test func `what was refunded before it was granted was not paid`() async throws {
    let world = try WorldFixture()
    let payment = try await world.pay()
    _ = try world.server.withStore { store throws(StoreModelError) in
      try store.refund(transactionID: payment.transactionID, now: Sample.now)
    }
    #expect(try await world.upload(payment)?.verdict == .refunded)
    #expect(try tally(world).paid == 0)
  }

  @Test func `a credit of another account than the order's is counted, also if nobody saw the token`()
    async throws
  {
    let world = try WorldFixture()
    world.server.withStore { $0.delivery = .tokenForgotten }
    let order = try await world.order("alice")
    let store = MockStoreClient(base: world.server.baseURL, storeAccount: "apple")
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: order.accountToken)
    // What the naive client does: whoever is signed in gets what is in the receipt.
    let proof = ProofDocument(
      kind: .appReceipt, data: Data(paid.proof.bytes).base64EncodedString())
    let claim = Claim(
      transactionID: paid.transactionID, environment: "Production", productID: "coins", quantity: 1,
      purchasedAt: paid.purchasedAt, match: .none)
    let body = try JSONEncoder().encode(UploadRequest(device: UUID(), proof: proof, claims: [claim]))
    let reply = try await world.send("POST", "/v1/receipts", WorldFixture.bearer("bob"), body: body)
    #expect(try reply.decode(UploadReply.self).verdicts.map(\.verdict) == [.granted])
    #expect(try tally(world).wrongAccount == 1)
    #expect(try !tally(world).isClean)
  }

  @Test func `what a device holds is nobody's, until another account claims it`() async throws {
    let world = try WorldFixture()
    world.server.withStore { $0.delivery = .tokenForgotten }
    let order = try await world.order("alice")
    let store = MockStoreClient(base: world.server.baseURL, storeAccount: "apple")
    let paid = try await store.pay(product: "coins", quantity: 1, accountToken: order.accountToken)
    let device = UUID()
    let proof = ProofDocument(
      kind: .appReceipt, data: Data(paid.proof.bytes).base64EncodedString())
    let claim = Claim(
      transactionID: paid.transactionID, environment: "Production", productID: "coins", quantity: 1,
      purchasedAt: paid.purchasedAt, match: .none)
    let body = try JSONEncoder().encode(UploadRequest(device: device, proof: proof, claims: [claim]))
    let headers = ["Authorization": "Device \(device.uuidString)"]
    #expect(try await world.send("POST", "/v1/receipts", headers, body: body).status == 200)
    #expect(try tally(world).wrongAccount == 0)
    let json = #"{"device":"\#(device.uuidString)"}"#
    _ = try await world.send("POST", "/v1/claims", WorldFixture.bearer("bob"), json: json)
    #expect(try tally(world).wrongAccount == 1)
    #expect(try world.server.snapshot().deviceClaims.map(\.account) == ["bob"])
  }

  @Test func `requests are counted by method and path, uploads that are lost too`() async throws {
    let world = try WorldFixture(faults: .requestLost(path: "/v1/receipts", occurrence: 1))
    let payment = try await world.pay()
    await #expect(throws: (any Error).self) { try await world.upload(payment) }
    _ = try await world.upload(payment)
    let snapshot = try world.server.snapshot()
    #expect(snapshot.requests == ["POST /store/payments": 1, "POST /v1/receipts": 2])
    #expect(snapshot.uploads == [payment.transactionID: 2])
  }
}
