import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// The older form of an upload: a bare receipt (R3.2).
struct ReceiptUploadTests {
  private func body(_ receipt: String, uuid: UUID, uid: String? = nil) -> String {
    let user = uid.map { #","uid":"\#($0)""# } ?? ""
    return #"{"receipt-data":"\#(receipt)","uuid":"\#(uuid.uuidString)"\#(user)}"#
  }

  private func receipt(_ world: WorldFixture) async throws -> String {
    struct Reply: Decodable { var receipt: String? }
    let reply = try await world.send("GET", "/store/receipt?storeAccount=apple")
    return try #require(try reply.decode(Reply.self).receipt)
  }

  @Test func `what an order's token names is granted, the rest is recorded and nobody's`() async throws {
    let world = try WorldFixture()
    let order = try await world.order("alice")
    let named = try await world.pay(token: order.accountToken)
    _ = try await world.pay()
    let json = body(try await receipt(world), uuid: UUID(), uid: "alice")
    for verdict in [Verdict.granted, .duplicate] {
      let reply = try await world.send("POST", "/v1/receipts", WorldFixture.bearer("alice"), json: json)
        .decode(UploadReply.self)
      #expect(reply.verdicts.map(\.transactionID) == [named.transactionID])
      #expect(reply.verdicts.map(\.verdict) == [verdict])
      #expect(reply.verdicts.map(\.orderNumber) == [order.number])
    }
    #expect(try world.server.snapshot().credits.count == 1)
  }

  @Test func `before sign-in the order's owner gets it all the same`() async throws {
    let world = try WorldFixture()
    let order = try await world.order("alice")
    _ = try await world.pay(token: order.accountToken)
    let device = UUID()
    let reply = try await world.send(
      "POST", "/v1/receipts", ["Authorization": "Device \(device.uuidString)"],
      json: body(try await receipt(world), uuid: device))
    #expect(try reply.decode(UploadReply.self).verdicts.map(\.verdict) == [.otherOwner])
    #expect(try world.server.snapshot().creditOwners == [.account("alice")])
  }

  @Test func `a forged receipt is rejected for everything in it`() async throws {
    let world = try WorldFixture()
    let stranger = ReceiptForge(bundleID: Sample.bundleID)
    let bytes = stranger.appReceipt(
      of: [Sample.record("1"), Sample.record("2")], receiptType: "Production", createdAt: Sample.now)
    let reply = try await world.send(
      "POST", "/v1/receipts", WorldFixture.bearer("alice"),
      json: body(Data(bytes).base64EncodedString(), uuid: UUID()))
    #expect(try reply.decode(UploadReply.self).verdicts.map(\.verdict) == [.rejected, .rejected])
    #expect(try world.server.snapshot().credits.isEmpty)
  }

  @Test(arguments: [
    (#"{"receipt-data":"MIAA"}"#, 400), (#"{"receipt-data":null,"uuid":"x"}"#, 400),
    (#"{"receipt-data":7,"uuid":"7468F08D-C6B0-4B8F-A025-80C5F35EF943"}"#, 400),
    (#"{"receipt-data":"MIAA","uuid":"7468F08D-C6B0-4B8F-A025-80C5F35EF943"}"#, 400),
    (#"{"receipt-data":"","uuid":"7468F08D-C6B0-4B8F-A025-80C5F35EF943"}"#, 400),
    (#"{"uuid":"7468F08D-C6B0-4B8F-A025-80C5F35EF943"}"#, 400),
  ])
  func `what is no receipt, or lacks a field, is refused`(json: String, status: Int) async throws {
    let world = try WorldFixture()
    let reply = try await world.send("POST", "/v1/receipts", WorldFixture.bearer("alice"), json: json)
    #expect(reply.status == status)
    #expect(!String(decoding: reply.body, as: UTF8.self).contains("MIAA"))
  }

  @Test func `another's name or device is refused`() async throws {
    let world = try WorldFixture()
    _ = try await world.pay()
    let data = try await receipt(world)
    let device = UUID()
    let bob = try await world.send(
      "POST", "/v1/receipts", WorldFixture.bearer("alice"), json: body(data, uuid: device, uid: "bob"))
    #expect(bob.status == 422)
    let credential = ["Authorization": "Device \(UUID().uuidString)"]
    let other = try await world.send("POST", "/v1/receipts", credential, json: body(data, uuid: device))
    #expect(other.status == 422)
  }
}
