import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The older form of an upload: a bare receipt (R3.2).
struct ReceiptUploadTests {
  private func body(_ receipt: String, uuid: UUID, uid: String? = nil) -> String {
    let user = uid.map { #","uid":"\#($0)""# } ?? ""
    return #"{"receipt-data":"\#(receipt)","uuid":"\#(uuid.uuidString)"\#(user)}"#
  }

  private func receipt(_ fixture: MockServerFixture) async throws -> String {
    struct Reply: Decodable { var receipt: String? }
    let reply = try await fixture.send("GET", "/store/receipt?storeAccount=apple")
    return try #require(try reply.decode(Reply.self).receipt)
  }

  @Test func `transactions with an order's token are granted, the others recorded without an owner`()
    async throws
  {
    let fixture = try MockServerFixture()
    let order = try await fixture.order("alice")
    let named = try await fixture.pay(token: order.accountToken)
    _ = try await fixture.pay()
    let json = body(try await receipt(fixture), uuid: UUID(), uid: "alice")
    for verdict in [Verdict.granted, .duplicate] {
      let reply = try await fixture.send(
        "POST", "/v1/receipts", MockServerFixture.bearer("alice"), json: json
      )
      .decode(UploadReply.self)
      #expect(reply.verdicts.map(\.transactionID) == [named.transactionID])
      #expect(reply.verdicts.map(\.verdict) == [verdict])
      #expect(reply.verdicts.map(\.orderNumber) == [order.number])
    }
    #expect(try fixture.server.snapshot().credits.count == 1)
  }

  @Test func `before sign-in, the order's owner gets the grant nevertheless`() async throws {
    let fixture = try MockServerFixture()
    let order = try await fixture.order("alice")
    _ = try await fixture.pay(token: order.accountToken)
    let device = UUID()
    let reply = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.device(device),
      json: body(try await receipt(fixture), uuid: device))
    #expect(try reply.decode(UploadReply.self).verdicts.map(\.verdict) == [.otherOwner])
    #expect(try fixture.server.snapshot().creditOwners == [.account("alice")])
  }

  @Test func `a forged receipt is rejected for everything in it`() async throws {
    let fixture = try MockServerFixture()
    let stranger = ReceiptForge(bundleID: Sample.bundleID)
    let bytes = stranger.appReceipt(
      of: [Sample.record("1"), Sample.record("2")], receiptType: "Production", createdAt: Sample.now)
    let reply = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.bearer("alice"),
      json: body(Data(bytes).base64EncodedString(), uuid: UUID()))
    #expect(try reply.decode(UploadReply.self).verdicts.map(\.verdict) == [.rejected, .rejected])
    #expect(try fixture.server.snapshot().credits.isEmpty)
  }

  @Test(arguments: [
    (#"{"receipt-data":"MIAA"}"#, 400), (#"{"receipt-data":null,"uuid":"x"}"#, 400),
    (#"{"receipt-data":7,"uuid":"7468F08D-C6B0-4B8F-A025-80C5F35EF943"}"#, 400),
    (#"{"receipt-data":"MIAA","uuid":"7468F08D-C6B0-4B8F-A025-80C5F35EF943"}"#, 400),
    (#"{"receipt-data":"","uuid":"7468F08D-C6B0-4B8F-A025-80C5F35EF943"}"#, 400),
    (#"{"uuid":"7468F08D-C6B0-4B8F-A025-80C5F35EF943"}"#, 400),
  ])
  func `an unreadable receipt and a missing field are refused`(json: String, status: Int) async throws {
    let fixture = try MockServerFixture()
    let reply = try await fixture.send("POST", "/v1/receipts", MockServerFixture.bearer("alice"), json: json)
    #expect(reply.status == status)
    #expect(!String(decoding: reply.body, as: UTF8.self).contains("MIAA"))
  }

  @Test func `another's name or device is refused`() async throws {
    let fixture = try MockServerFixture()
    _ = try await fixture.pay()
    let data = try await receipt(fixture)
    let device = UUID()
    let bob = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.bearer("alice"), json: body(data, uuid: device, uid: "bob"))
    #expect(bob.status == 422)
    let credential = MockServerFixture.device(UUID())
    let other = try await fixture.send("POST", "/v1/receipts", credential, json: body(data, uuid: device))
    #expect(other.status == 422)
  }
}
