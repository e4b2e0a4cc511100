import AppStoreDocuments
import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The store's routes over HTTP: actions of people, `verifyReceipt`, and bad input to both.
struct StoreRouteTests {
  private static let posts = [
    "verifyReceipt", "sandbox/verifyReceipt", "store/payments", "store/finish", "store/refunds",
    "store/refunds/reversals", "store/renewals", "store/receipt/refresh", "store/sign-in",
    "store/requests/approve", "store/requests/decline", "store/promotions", "store/offer-codes",
    "store/restore", "store/accounts", "store/plans", "store/renewal-wishes", "store/prices",
    "store/price-answers", "store/bundles", "store/seats",
  ]

  @Test func `Ask to Buy over HTTP is pending, and comes with the listing once a parent agrees`() async throws
  {
    let fixture = try MockServerFixture()
    let client = MockStoreClient(base: fixture.server.baseURL, storeAccount: "kid")
    #expect(try await fixture.post("store/accounts", #"{"storeAccount":"kid","asksToBuy":true}"#).0 == 200)
    let token = UUID()
    #expect(try await client.purchase(product: "coins", accountToken: token) == .pending)
    #expect(try await client.unfinished().transactions.isEmpty)
    let (_, waiting) = try await fixture.get("store/requests?storeAccount=kid")
    let id = try #require(JSONValue(json: waiting)["requests"]?.array?.first?["requestID"]?.string)
    let approval = JSONValue.object(["requestID": .string(id)]).text
    #expect(try await fixture.post("store/requests/approve", approval).0 == 200)
    #expect(try await client.unfinished().transactions.map(\.accountToken) == [token])
    #expect(
      try await fixture.post(
        "store/accounts", #"{"storeAccount":"kid","asksToBuy":false,"interruptedPurchases":1}"#
      ).0
        == 200)
    #expect(try await client.purchase(product: "coins", accountToken: nil) == .cancelled)
    await #expect(throws: TransportError.self) {
      _ = try await fixture.post("store/accounts", #"{"storeAccount":"kid","asksToBuy":true}"#)
      _ = try await client.pay(product: "coins", quantity: 1, accountToken: nil)
    }
  }

  @Test func `verifyReceipt over HTTP answers 200 with a status, and 413 to a large body`() async throws {
    let fixture = try MockServerFixture()
    let client = MockStoreClient(base: fixture.server.baseURL, storeAccount: "a")
    _ = try await client.pay(product: "monthly", quantity: 1, accountToken: nil)
    let receipt = try #require(try await client.receipt())
    let request = VerifyReceiptRequest(receipt: Data(receipt))
    let body = String(decoding: request.json, as: UTF8.self)
    let (status, answer) = try await fixture.post("verifyReceipt", body)
    let response = try VerifyReceiptResponse(json: answer)
    #expect(status == 200 && response.status == .ok && response.pendingRenewals.count == 1)
    let (_, sandbox) = try await fixture.post("sandbox/verifyReceipt", body)
    #expect(try VerifyReceiptResponse(json: sandbox).status == .productionReceipt)
    let (getStatus, get) = try await fixture.get("verifyReceipt")
    #expect(getStatus == 200 && String(decoding: get, as: UTF8.self) == #"{"status":21000}"#)
    let large = String(repeating: "x", count: (3 << 20) + 1)
    #expect(try await fixture.post("verifyReceipt", large).0 == 413)
  }

  @Test(arguments: posts)
  func `bad input to a route of the store has a clear answer, and the server stays up`(path: String)
    async throws
  {
    let fixture = try MockServerFixture()
    let bodies = [
      "", "{", "[]", "7", "null", "\"x\"", "{}", #"{"transactionID":7}"#, #"{"transactionID":null}"#,
      #"{"transactionID":"x","productID":"y","willRenew":true,"consents":true,"requestID":"z"}"#,
      #"{"storeAccount":"","device":"","productID":"coins","offerCode":"o","price":9223372036854775807}"#,
      #"{"productID":"coins","price":-9223372036854775808,"needsConsent":true,"storeAccount":"a","quantity":-1}"#,
      #"{"storeAccount":"a","productID":"coins","quantity":9223372036854775807,"interruptedPurchases":-5}"#,
      #"{"storeAccount":"a","family":["a","b"],"billingWorks":false}"#,
      String(repeating: "[", count: 100_000),
    ]
    for body in bodies {
      let (status, answer) = try await fixture.post(path, body)
      let isVerification = path.hasSuffix("verifyReceipt")
      #expect(
        (200..<300).contains(status) || (!isVerification && (400..<500).contains(status)),
        "\(body.prefix(99))")
      if isVerification {
        let read = try VerifyReceiptResponse(json: answer)
        #expect(read.status == .badRequest || read.status == .malformed)
      }
    }
    #expect(try await fixture.get("store/products").0 == 200)
    #expect(try await fixture.post("store/products", "{}").0 == 405)
  }
}

extension MockServerFixture {
  fileprivate func post(_ path: String, _ body: String) async throws -> (Int, Data) {
    let reply = try await send("POST", "/" + path, json: body)
    return (reply.status, reply.body)
  }

  fileprivate func get(_ path: String) async throws -> (Int, Data) {
    let reply = try await send("GET", "/" + path)
    return (reply.status, reply.body)
  }
}
