import AppStoreReceipts
import Foundation
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// The examples of the OpenAPI document are requests that the mock server accepts.
@Suite struct OpenAPIExampleTests {
  private static let plans = [("basic.monthly", 2), ("premium.monthly", 1)].map { id, level in
    StoreProduct(
      subscription: id, groupID: "plans", level: level, period: .milliseconds(30 * Sample.day), price: 4_990)
  }
  private static let products =
    [StoreProduct(id: "gems.100", kind: .consumable), StoreProduct(id: "unlock", kind: .nonConsumable)]
    + plans

  /// "POST /store/refunds" and the example's JSON.
  private static let examples: [(String, String)] = {
    let paths = (try? JSONValue(json: OpenAPIDocument.json))?["paths"]?.object ?? [:]
    let found = paths.flatMap { path, item in
      (item.object ?? [:]).compactMap { method, operation -> (String, String)? in
        let content = operation["requestBody"]?["content"]?["application/json"]
        return (content?["example"]).map { ("\(method.uppercased()) \(path)", $0.text) }
      }
    }
    return found.sorted { $0.0 < $1.0 }
  }()

  @Test func `there are examples of most requests`() { #expect(Self.examples.count >= 20) }

  @Test(arguments: examples)
  func `an example is accepted`(operation: String, example: String) async throws {
    let fixture = try MockServerFixture(products: Self.products)
    let (transaction, request) = try await Self.prepare(fixture, for: operation)
    let body = example.replacing("2000000000000001", with: transaction)
      .replacing("request-1", with: request)
    let words = operation.split(separator: " ").map(String.init)
    let reply = try await fixture.send(words[0], words[1], Self.headers, json: body)
    #expect(200...299 ~= reply.status, "\(String(decoding: reply.body, as: UTF8.self))")
  }

  private static let headers = ["Content-Type": "application/json"]

  /// A subscription of alice@example.com, and a purchase that waits; where an operation needs it, more.
  private static func prepare(
    _ fixture: MockServerFixture, for operation: String
  ) async throws -> (transaction: String, request: String) {
    func post(_ path: String, _ json: String) async throws -> Data {
      let reply = try await fixture.send("POST", path, headers, json: json)
      #expect(200...299 ~= reply.status, "\(path)")
      return reply.body
    }
    struct Paid: Decodable { var transactionID: String }
    struct Waiting: Decodable { var requestID: String }
    let paid = try await post(
      "/store/payments", #"{"storeAccount":"alice@example.com","productID":"basic.monthly"}"#)
    let transaction = try JSONDecoder().decode(Paid.self, from: paid).transactionID
    _ = try await post("/store/accounts", #"{"storeAccount":"child","asksToBuy":true}"#)
    let waiting = try await post("/store/payments", #"{"storeAccount":"child","productID":"gems.100"}"#)
    let request = try JSONDecoder().decode(Waiting.self, from: waiting).requestID
    switch operation {
    case "POST /store/refunds/reversals":
      _ = try await post("/store/refunds", #"{"transactionID":"\#(transaction)"}"#)
    case "POST /store/refunds/declines":
      _ = try await post("/store/refund-requests", #"{"transactionID":"\#(transaction)"}"#)
    case "POST /store/price-answers":
      _ = try await post("/store/prices", #"{"productID":"basic.monthly","price":9990,"needsConsent":true}"#)
    default: break
    }
    return (transaction, request)
  }
}
