import AppStoreDocuments
import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// The App Store Server API over HTTP: tokens, errors, limits, and what Apple's clients expect of the answers.
/// `Tests/Apple/client_checks.py` calls it with Apple's own library.
struct ServerAPIRouteTests {
  private static let key = ServerAPIKey(bundleID: Sample.bundleID)

  private func bearer() -> [String: String] {
    ["Authorization": "Bearer " + Self.key.token(now: .wallClock())]
  }

  @Test func `without a valid token each endpoint is 401, and nothing changes`() async throws {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    for route in MockState.serverAPIRoutes {
      let path = route.path.replacing("*", with: payment.transactionID)
      for headers in [[:], ["Authorization": "Bearer token-alice"]] {
        let reply = try await fixture.send(
          route.method, path, headers, body: route.method == "GET" ? nil : Data("{}".utf8))
        #expect(reply.status == 401)
        #expect(String(decoding: reply.body, as: UTF8.self).hasPrefix("Unauthenticated"))
        #expect(reply.headers["www-authenticate"]?.contains("invalid_token") == true)
      }
    }
    #expect(try fixture.server.snapshot().charges.map(\.isFinished) == [false])
  }

  @Test func `a valid token is checked by the real clock, although the store's is moved`() async throws {
    let fixture = try MockServerFixture()
    let payment = try await fixture.pay()
    let (headers, path) = (bearer(), "/inApps/v1/transactions/" + payment.transactionID)
    #expect(try await fixture.send("GET", path, headers).status == 200)
    fixture.server.moveClock(by: .seconds(40 * 86_400))
    #expect(try await fixture.send("GET", path, headers).status == 200)
  }

  @Test func `the key for the tokens is at its route`() async throws {
    let fixture = try MockServerFixture()
    let document = try await fixture.send("GET", "/store/api-key").decode(APIKeyDocument.self)
    #expect(document.bundleID == Sample.bundleID && document.keyID == Self.key.keyID)
    #expect(document.privateKey == Self.key.privateKeyPEM)
  }

  private static let errors: [(String, String, String?, Int)] = [
    ("GET", "v1/transactions/404", nil, 4_040_010), ("GET", "v1/transactions/x", nil, 4_000_006),
    ("GET", "v1/history/404", nil, 4_040_010), ("GET", "v2/history/404", nil, 4_040_010),
    ("GET", "v2/history/ID?sort=UP", nil, 4_000_021), ("GET", "v1/subscriptions/404", nil, 4_040_010),
    ("GET", "v1/subscriptions/ID?status=9", nil, 4_000_031), ("GET", "v2/refund/lookup/404", nil, 4_040_010),
    ("GET", "v1/transactions/appTransactions/404", nil, 4_040_010),
    ("POST", "v1/transactions/404/finish", nil, 4_040_010),
    ("PUT", "v1/transactions/ID/appAccountToken", #"{"appAccountToken":"x"}"#, 4_000_183),
    ("PUT", "v1/transactions/ID/appAccountToken", "[]", 4_000_000),
    ("PUT", "v1/transactions/ID/appAccountToken", "", 4_000_000),
    ("PUT", "v1/subscriptions/extend/ID", "{}", 4_000_009),
    ("POST", "v1/subscriptions/extend/mass", "{}", 4_000_009),
    ("GET", "v1/subscriptions/extend/mass/p/r", nil, 4_040_009),
    ("POST", "v1/notifications/test", nil, 4_040_007), ("GET", "v1/notifications/test/x", nil, 4_000_020),
    ("POST", "v1/notifications/history", "{}", 4_000_015),
    ("PUT", "v1/transactions/consumption/ID", "{}", 4_000_035),
    ("PUT", "v2/transactions/consumption/ID", "{}", 4_000_035),
  ]

  @Test(arguments: errors)
  func `an error has Apple's number, its status and JSON`(
    method: String, path: String, body: String?, code: Int
  ) async throws {
    let fixture = try MockServerFixture()
    let id = try await fixture.pay().transactionID
    let reply = try await fixture.send(
      method, "/inApps/" + path.replacing("ID", with: id), bearer(), body: body.map { Data($0.utf8) })
    #expect(reply.status == code / 10_000)
    // Apple's library reads the number only with exactly this type.
    #expect(reply.headers["content-type"] == "application/json")
    let json = try JSONValue(json: reply.body)
    #expect(json["errorCode"] == .integer(Int64(code)))
    #expect(json["errorMessage"]?.string?.isEmpty == false)
  }

  @Test func `answers have the members of Apple's models`() async throws {
    let fixture = try MockServerFixture()
    let id = try await fixture.pay(product: "monthly").transactionID
    func get(_ path: String) async throws -> JSONValue {
      try JSONValue(json: try await fixture.send("GET", "/inApps/" + path, bearer()).body)
    }
    let history = try await get("v2/history/\(id)?productType=AUTO_RENEWABLE&productType=CONSUMABLE")
    #expect(
      Set(history.object.map(\.keys) ?? [:].keys) == [
        "revision", "hasMore", "bundleId", "appAppleId", "environment", "signedTransactions",
      ])
    #expect(history["signedTransactions"]?.array?.count == 1)
    let item = try await get("v1/subscriptions/\(id)?status=1")["data"]?.array?.first
    let last = item?["lastTransactions"]?.array?.first
    #expect(last?["status"] == 1 && last?["originalTransactionId"]?.string == id)
    let renewal = try SignedRenewalInfo(jws: try #require(last?["signedRenewalInfo"]?.string))
    #expect(renewal.originalTransactionID == id)
    let app = try await get("v1/transactions/appTransactions/\(id)")["signedAppTransactionInfo"]?.string
    #expect(try SignedAppTransaction(jws: try #require(app)).bundleID == Sample.bundleID)
  }

  @Test func `a limit is set, met and removed by its routes`() async throws {
    let fixture = try MockServerFixture()
    let path = "/inApps/v1/transactions/" + (try await fixture.pay().transactionID)
    let limited = try await fixture.send(
      "PUT", "/admin/api-limit", json: #"{"requests":1,"milliseconds":3600000}"#)
    #expect(limited.status == 200)
    #expect(try await fixture.send("GET", path, bearer()).status == 200)
    let before = Timestamp.wallClock()
    let refused = try await fixture.send("GET", path, bearer())
    #expect(refused.status == 429)
    #expect(try JSONValue(json: refused.body)["errorCode"] == 4_290_000)
    let retryAt = try #require(refused.headers["retry-after"].flatMap { Int64($0) })
    #expect(retryAt > before.milliseconds && retryAt <= before.milliseconds + 3_600_000)
    #expect(try await fixture.send("DELETE", "/admin/api-limit").status == 200)
    #expect(try await fixture.send("GET", path, bearer()).status == 200)
    for wrong in ["{}", #"{"requests":-1}"#, #"{"requests":1,"milliseconds":0}"#] {
      #expect(400...422 ~= (try await fixture.send("PUT", "/admin/api-limit", json: wrong).status))
    }
  }

  @Test func `the answers of verifyReceipt are scripted by a route, retry flag included`() async throws {
    let fixture = try MockServerFixture()
    let script =
      #"{"answers":[{"status":21005},{"status":21100,"isRetryable":false},{"status":21010,"isRetryable":true,"#
      + #""isHyphenated":true}]}"#
    #expect(try await fixture.send("PUT", "/store/verify-receipt-answers", json: script).status == 200)
    var answers: [String] = []
    for _ in 0..<4 {
      let reply = try await fixture.send("POST", "/verifyReceipt", json: #"{"receipt-data":"AAAA"}"#)
      answers.append(String(decoding: reply.body, as: UTF8.self))
    }
    #expect(
      answers.dropLast() == [
        #"{"status":21005}"#, #"{"is_retryable":false,"status":21100}"#,
        #"{"is-retryable":true,"status":21010}"#,
      ])
    #expect(try JSONValue(json: answers[3])["status"] == 21_002)
  }

  @Test func `a subscription of many periods is read page by page`() throws {
    let directory = try TemporaryDirectory()
    let server = try MockServer(
      databasePath: directory.path("pages.sqlite"), products: Sample.products, bundleID: Sample.bundleID)
    try server.start()
    defer { server.stop() }
    let now = Timestamp.wallClock()
    let original = try server.withStore { (store) throws(StoreModelError) in
      let first = try store.pay(
        product: "monthly", quantity: 1, accountToken: nil, storeAccount: "a", now: now)
      for _ in 0..<44 { try store.renew(transactionID: first.transactionID, now: now) }
      _ = try store.pay(product: "coins", quantity: 1, accountToken: nil, storeAccount: "a", now: now)
      return first.transactionID
    }
    let verifier = ServerAPIVerifier(store: server.baseURL, forge: Sample.forge, timeout: 60)
    let answer = verifier.answer(
      to: .subscription(environment: "Production", originalTransactionID: original), now: now)
    #expect(answer.report?.transactions.count == 45)
  }
}
