import AppStoreReceipts
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// Requests that a mock server refuses because of their sender, their length or their form.
struct ServerDefenceTests {
  private static let json: HTTPHeaders = ["Content-Type": "application/json"]
  private static let alice: HTTPHeaders = [
    "Authorization": "Bearer token-alice", "Content-Type": "application/json",
  ]

  private func ask(
    _ fixture: MockServerFixture, _ method: String, _ path: String, _ headers: HTTPHeaders = json,
    _ body: String = "{}"
  ) throws -> (status: Int, problem: ProblemDocument?) {
    let response = fixture.server.handler(
      HTTPRequest(method: method, path: path, headers: headers, body: Array(body.utf8)))
    guard response.headers["Content-Type"] == "application/problem+json" else {
      return (response.status, nil)
    }
    return (
      response.status, try JSONDecoder().decode(ProblemDocument.self, from: Data(response.body))
    )
  }

  // MARK: Pages of other sites

  private static let step = #"{"milliseconds":1000}"#

  @Test(arguments: [
    ("/v1/orders", "evil.example", true), ("/v1/receipts", "evil.example:8080", true),
    ("/v1/orders", "127.0.0.1:8080", false), ("/v1/orders", "localhost", false),
    // A server may come by another name.
    ("/v1/notifications/appstore", "host.docker.internal:8080", false),
    ("/verifyReceipt", "mock:8080", false),
  ])
  func `a name that a page points to this machine reaches no account`(
    path: String, host: String, isRefused: Bool
  )
    throws
  {
    let fixture = try MockServerFixture()
    var headers = Self.alice
    headers["Host"] = host
    #expect((try ask(fixture, "POST", path, headers).status == 403) == isRefused)
  }

  @Test func `two Origin headers are refused`() throws {
    let fixture = try MockServerFixture()
    var headers: HTTPHeaders = ["Host": "127.0.0.1:8080", "Content-Type": "application/json"]
    headers.fields += [("Origin", "http://127.0.0.1:8080"), ("Origin", "https://evil.example")]
    let before = fixture.server.moment
    #expect(try ask(fixture, "POST", "/admin/clock", headers, Self.step).status == 400)
    #expect(fixture.server.moment == before)
  }

  @Test(
    arguments: [
      (["Origin": "https://evil.example"], 403), (["Origin": "null"], 403),
      (["Origin": "http://127.0.0.1:9999"], 403), (["Host": "evil.example:8080"], 403),
      (["Host": "127.0.0.1.evil.example"], 403), (["Content-Type": "text/plain"], 415),
      (["Content-Type": nil], 415),
      (["Content-Type": "application/x-www-form-urlencoded"], 415),
      (["Origin": "http://127.0.0.1:8080"], 200), (["Host": "localhost:8080"], 200),
      (["Host": "[::1]:8080"], 200),
      (["Content-Type": "application/json; charset=utf-8"], 200),
    ] as [([String: String?], Int)])
  func `a page of another site moves no clock and charges no account`(change: [String: String?], status: Int)
    throws
  {
    let fixture = try MockServerFixture()
    var headers: HTTPHeaders = ["Host": "127.0.0.1:8080", "Content-Type": "application/json"]
    for (name, value) in change { headers[name] = value }
    let before = fixture.server.moment
    #expect(try ask(fixture, "POST", "/admin/clock", headers, Self.step).status == status)
    #expect((fixture.server.moment != before) == (status == 200))
    let payment = #"{"productID":"coins","storeAccount":"apple"}"#
    #expect(try ask(fixture, "POST", "/store/payments", headers, payment).status == status)
    #expect(try fixture.server.snapshot().charges.isEmpty == (status != 200))
  }

  @Test func `two Authorization headers are 400, and so are two of an account or a key`() throws {
    let fixture = try MockServerFixture()
    for name in ["Authorization", "Idempotency-Key"] {
      var headers = Self.alice
      headers["Idempotency-Key"] = "k"
      headers.fields.append((name: name, value: "Bearer token-bob"))
      let reply = try ask(fixture, "POST", "/v1/orders", headers, #"{"productID":"coins","quantity":1}"#)
      #expect(reply.status == 400 && reply.problem?.detail?.contains(name) == true)
    }
    #expect(try fixture.server.snapshot().orders.isEmpty)
  }

  @Test(arguments: ["/v1%2Forders", "/v1/orders%2fnone", "/store%2Fproducts"])
  func `an encoded slash divides no path`(path: String) async throws {
    let fixture = try MockServerFixture()
    let reply = try await fixture.send("GET", path, MockServerFixture.bearer("alice"))
    #expect(reply.status == 404)
    #expect(try reply.decode(ProblemDocument.self).detail?.contains("nothing at this path") == true)
  }

  // MARK: Lengths

  @Test func `long bodies are read from known callers only, and only where they make sense`() throws {
    let fixture = try MockServerFixture()
    func most(_ method: String, _ path: String, _ headers: HTTPHeaders) -> (bytes: Int, status: Int?) {
      let head = HTTPRequest(method: method, path: path, headers: headers)
      switch fixture.server.mock.withLock({ $0.admission(of: head) }) {
      case .read(let bytes): return (bytes, nil)
      case .readOrRefuse(let bytes, let response): return (bytes, response.status)
      }
    }
    #expect(most("POST", "/v1/receipts", Self.alice) == (16 << 20, nil))
    #expect(most("POST", "/v1/receipts", Self.json) == (64 << 10, 401))
    #expect(most("POST", "/v1/receipts", ["Authorization": "Bearer other"]) == (64 << 10, 401))
    #expect(most("POST", "/v1/orders", Self.json) == (64 << 10, 401))
    #expect(most("POST", "/v1/none", Self.alice) == (64 << 10, 404))
    #expect(most("DELETE", "/v1/receipts", Self.alice) == (64 << 10, 405))
    #expect(most("POST", "/v1/notifications/appstore", Self.json) == (4 << 20, nil))
    #expect(most("POST", "/store/payments", Self.json) == (1 << 20, nil))
    #expect(most("POST", "/store/payments", [:]) == (64 << 10, 415))
  }

  /// Foundation's decoder takes 20 times the bytes of tiny values: 333 MB for a body of 15 MB.
  @Test(arguments: ["/v1/receipts", "/v1/notifications/appstore", "/store/finish"])
  func `a body of more values than a right one has is 413, and the limit itself is read`(path: String) throws
  {
    let fixture = try MockServerFixture()
    // The list, its object and its last item are values too.
    func body(values: Int, of value: String) -> String {
      let name = path == "/store/finish" ? "transactionIDs" : "claims"
      return "{\"\(name)\":[" + String(repeating: value + ",", count: values - 3) + value + "]}"
    }
    for value in ["{}", "1", "[]", "null", "\"\""] {
      let most = try ask(fixture, "POST", path, Self.alice, body(values: JSONBody.mostValues, of: value))
      #expect(most.status != 413, "\(value): \(most.status)")
      let more = try ask(fixture, "POST", path, Self.alice, body(values: JSONBody.mostValues + 1, of: value))
      #expect(more.status == 413 && more.problem?.detail?.contains("\(JSONBody.mostValues) values") == true)
    }
  }

  /// Foundation's decoder reads UTF-16 as well, in which a count of bytes finds no values.
  @Test func `a body that is not UTF-8 is 400`() throws {
    let fixture = try MockServerFixture()
    let body = Data("{\"claims\":[{},{}]}".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
    let request = HTTPRequest(method: "POST", path: "/v1/receipts", headers: Self.alice, body: Array(body))
    #expect(fixture.server.handler(request).status == 400)
  }

  private static let long = String(repeating: "ü", count: 200)

  @Test(arguments: [
    ("POST", "/v1/orders", #"{"productID":"LONG","quantity":1}"#, "productID"),
    ("POST", "/store/payments", #"{"productID":"coins","storeAccount":"LONG"}"#, "storeAccount"),
    ("POST", "/store/payments", #"{"productID":"coins","device":"LONG"}"#, "device"),
    ("POST", "/store/sign-in", #"{"device":"LONG","storeAccount":"a"}"#, "device"),
    ("POST", "/store/finish", #"{"transactionIDs":["1","LONG"]}"#, "transactionIDs.1"),
    (
      "POST", "/v1/receipts",
      #"{"device":"DEVICE","claims":[{"transactionID":"LONG","environment":"Production","productID":"coins","quantity":1,"purchasedAt":0,"match":"none"}]}"#,
      "claims.0.transactionID"
    ),
    (
      "POST", "/v1/receipts",
      #"{"device":"DEVICE","claims":[{"transactionID":"1","environment":"Production","productID":"coins","quantity":1,"purchasedAt":0,"match":"proposed","candidates":["LONG"]}]}"#,
      "claims.0.candidates"
    ),
  ])
  func `an id of more bytes than an id has is 400 with its place`(
    method: String, path: String, body: String, place: String
  ) throws {
    let fixture = try MockServerFixture()
    var headers = Self.alice
    headers["Idempotency-Key"] = "k"
    let json = body.replacing("LONG", with: Self.long).replacing("DEVICE", with: UUID().uuidString)
    let reply = try ask(fixture, method, path, headers, json)
    #expect(reply.status == 400 && reply.problem?.detail?.contains("\(place): 400 bytes") == true)
  }

  @Test func `a key of more than 255 bytes is 400, and no account has such a name`() throws {
    let fixture = try MockServerFixture()
    var headers = Self.alice
    headers["Idempotency-Key"] = String(repeating: "k", count: 256)
    #expect(
      try ask(fixture, "POST", "/v1/orders", headers, #"{"productID":"coins","quantity":1}"#).status == 400)
    headers["Authorization"] = "Bearer token-" + String(repeating: "a", count: 256)
    #expect(try ask(fixture, "GET", "/v1/orders", headers).status == 401)
  }

  // MARK: Bodies

  @Test(arguments: [
    ("/store/payments", #"{"productID":"coins","storeAccount":"a","amuont":2}"#, "amuont"),
    (
      "/store/payments",
      #"{"productID":"coins","storeAccount":"a","delivery":{"proofs":[],"forgetsToken":true,"isUnverified":false,"now":1}}"#,
      "now"
    ),
    ("/store/finish", #"{"transactionIDs":[],"all":true}"#, "all"),
    ("/store/accounts", #"{"storeAccount":"a","askToBuy":true}"#, "askToBuy"),
    ("/store/sign-in", #"{"device":"d","account":"a"}"#, "account"),
    ("/store/receipt/refresh", #"{"storeAccount":"a","force":true}"#, "force"),
    ("/admin/clock", #"{"milliseconds":1,"days":1}"#, "days"),
    ("PUT /admin/faults", #"{"rules":[],"rule":[]}"#, "rule"),
    ("PUT /admin/faults", #"{"rules":[{"path":"/","fualt":"reset"}]}"#, "fualt"),
    ("PUT /admin/api-limit", #"{"requests":1,"seconds":1}"#, "seconds"),
    ("PUT /store/verify-receipt-answers", #"{"answers":[],"count":1}"#, "count"),
    (
      "PUT /store/verify-receipt-answers", #"{"answers":[{"status":21005,"isRetriable":true}]}"#,
      "isRetriable"
    ),
    ("/admin/job", #"{"now":true}"#, "now"),
    ("/store/promotions", #"{"productID":"coins","storeAccount":"a","quantity":2}"#, "quantity"),
  ])
  func `a member that a body does not have is refused with its name`(path: String, body: String, name: String)
    throws
  {
    let fixture = try MockServerFixture()
    let method = path.hasPrefix("PUT ") ? "PUT" : "POST"
    let reply = try ask(fixture, method, String(path.trimmingPrefix("PUT ")), Self.json, body)
    #expect(
      reply.status == 400 && reply.problem?.detail?.contains("no member \"\(name)\"; there are ") == true)
    #expect(try fixture.server.snapshot().charges.isEmpty)
  }

  @Test(arguments: [
    "/store/transactions/1/signed", "/store/transactions/1/notification", "/store/app-transaction",
    "/store/receipt", "/store/unfinished", "/store/requests",
  ])
  func `a misspelt name in a query is refused`(path: String) throws {
    let fixture = try MockServerFixture()
    let answer = fixture.server.handler(
      HTTPRequest(
        method: "GET", path: path,
        query: path.contains("transactions/")
          ? ["brokn": "wrongRoot"] : ["storeAccount": "a", "brokn": "wrongRoot"]))
    #expect(answer.status == 400)
    #expect(String(decoding: answer.body, as: UTF8.self).contains("brokn"))
  }

  @Test(
    arguments: [
      ("2100-01-01", 4_102_444_800_000), ("2099-12-31", 4_102_358_400_000), ("2016-01-02", 1_451_692_800_000),
      ("2015-12-31", 1_451_520_000_000),
    ] as [(String, Int64)])
  func `the clock stays within the years of the store's certificates`(day: String, moment: Int64) throws {
    let fixture = try MockServerFixture()
    let step = moment - fixture.server.moment.milliseconds
    let reply = try ask(fixture, "POST", "/admin/clock", Self.json, "{\"milliseconds\":\(step)}")
    let isValid = ("2016-01-01"..."2099-12-31").contains(day)
    #expect((reply.status == 200) == isValid)
    #expect(isValid || reply.problem?.detail?.contains("certificates are valid from 2016") == true)
    #expect((fixture.server.moment.milliseconds == moment) == isValid)
  }

  @Test(arguments: ["1.5", "1e400", "99999999999999999999", "-0.1"])
  func `a quantity that is no whole number is named, and not called 'not JSON'`(quantity: String) throws {
    let fixture = try MockServerFixture()
    var headers = Self.alice
    headers["Idempotency-Key"] = "k"
    let reply = try ask(
      fixture, "POST", "/v1/orders", headers, #"{"productID":"coins","quantity":\#(quantity)}"#)
    let detail = try #require(reply.problem?.detail)
    #expect(reply.status == 400)
    #expect(detail.contains("quantity") && !detail.contains("not JSON") && !detail.contains(quantity))
  }

  @Test func `the log of verdicts is bounded, in memory and in the file`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path("backend.sqlite")
    let store = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1)
    let most = BackendModel.keptVerdicts
    try store.change { model in
      (0..<(most + most / 4)).map { number in
        let write = BackendWrite.verdict(
          RecordedVerdict(
            environment: "Production", transactionID: "\(number)", verdict: .granted,
            uploader: .account("a"), at: Sample.now))
        model.apply(write)
        return write
      }
    }
    #expect(try store.model().verdicts.count < most + most / 4)
    let read = try BackendStore(path: path, bundleID: Sample.bundleID, seed: 1).model().verdicts
    #expect(read.count == most && read.last?.transactionID == "\(most + most / 4 - 1)")
  }
}
