import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// The backend's job of a mock server, and the proofs that it and uploads leave in the tables.
struct ServerJobTests {
  private let directory: TemporaryDirectory
  private let path: String
  private let clock = Locked(Sample.now)

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path("mock.sqlite")
  }

  private func server() throws -> MockServer {
    let clock = clock
    return try MockServer(
      databasePath: path, products: Sample.products, bundleID: Sample.bundleID, now: { clock.value })
  }

  /// Buys and uploads by the app receipt, which holds two purchases.
  private func subscribe(_ server: MockServer) throws -> StoreTransactionRecord {
    let records = try server.withStore { store in
      [try store.buy("pro"), try store.buy("monthly")]
    }
    let receipt = try #require(
      server.withStore { $0.receipt(storeAccount: records[1].storeAccount, now: Sample.now) })
    let request = UploadRequest(
      device: UUID(), proof: ProofDocument(kind: .appReceipt, data: Data(receipt).base64EncodedString()),
      claims: [Sample.claim(for: records[1])])
    let response = server.handler(
      HTTPRequest(
        method: "POST", path: "/v1/receipts",
        headers: ["Authorization": "Bearer token-alice", "Content-Type": "application/json"],
        body: Array(try JSONEncoder().encode(request))))
    #expect(response.status == 200)
    return records[1]
  }

  private func lastJob(_ server: MockServer) throws -> JobRun? {
    try server.mock.withLock { try $0.backend.model().lastJob }
  }

  @Test func `an outage of the store over HTTP strikes the job, and the next run learns the renewal`()
    async throws
  {
    let server = try server()
    try server.start()
    defer { server.stop() }
    server.verifyOverHTTP()
    _ = try subscribe(server)
    await server.goOn { _ in 200 }
    clock.withLock { $0 = $0.adding(milliseconds: 30 * Sample.day + 1) }
    server.setFaults(
      FaultPlan([.init(path: "/verifyReceipt", count: nil, fault: .respond(HTTPResponse(status: 503)))]))
    await server.goOn { _ in 200 }
    #expect(try lastJob(server)?.unanswered == 1)
    #expect(try server.snapshot().credits.count == 1)
    server.setFaults(.none)
    clock.withLock { $0 = $0.adding(milliseconds: 13 * 3_600_000) }
    await server.goOn { _ in 200 }
    #expect(try lastJob(server)?.unanswered == 0)
    #expect(try server.snapshot().credits.count == 2)
  }

  @Test func `a row of the job in table A names the subscription that it asked for`() async throws {
    let server = try server()
    let bought = try subscribe(server)
    clock.withLock { $0 = $0.adding(milliseconds: 30 * Sample.day - 1_000) }
    await server.goOn { _ in 200 }
    let rows = try Connection(path: path)
      .prepare("SELECT transaction_id, original_transaction_id FROM table_a WHERE create_type = 2").all([]) {
        [$0.text(0), $0.text(1)]
      }
    #expect(rows == [[bought.transactionID, bought.transactionID]])
  }

  @Test func `the job runs when a person asks for it`() async throws {
    let server = try server()
    await server.goOn { _ in 200 }
    let before = try lastJob(server)
    clock.withLock { $0 = $0.adding(milliseconds: 5) }
    let asked = server.handler(
      HTTPRequest(method: "POST", path: "/admin/job", headers: ["Content-Type": "application/json"]))
    #expect(asked.status == 202)
    await server.goOn { _ in 200 }
    #expect(try lastJob(server) != before)
    let after = try lastJob(server)
    await server.goOn { _ in 200 }
    #expect(try lastJob(server) == after)
  }

  @Test func `a receipt that the store takes in no request is no claim that waits for ever`() throws {
    let long = ProofDocument(kind: .appReceipt, data: String(repeating: "A", count: 3_145_728))
    let record = Sample.record()
    let request = UploadRequest(device: UUID(), proof: long, claims: [Sample.claim(for: record)])
    #expect(
      BackendModel.queries(of: request) == [.transaction(environment: "Production", id: record.transactionID)]
    )
    var model = BackendModel(bundleID: Sample.bundleID, seed: 1)
    var store = Sample.store()
    let order = try model.createOrder(
      OrderRequest(productID: "coins", quantity: 1), account: "alice", idempotencyKey: "k", now: Sample.now
    ).order
    // It is as good as none: only the store's record counts.
    for (token, verdict) in [(order.accountToken, Verdict.granted), (nil, .unknownTransaction)] {
      let paid = try store.buy(token: token)
      let upload = UploadRequest(device: UUID(), proof: long, claims: [Sample.claim(for: paid)])
      let judged = model.judge(
        upload, from: .account("alice"), now: Sample.now, answers: { store.answer(to: $0, now: Sample.now) })
      #expect(judged.verdicts.map(\.verdict) == [verdict])
    }
    // Without an id there is nothing else to ask for: an answer that never changes is final.
    struct Unused: ReceiptVerifier {
      func answer(to query: VerificationQuery, now: Timestamp) -> StoreAnswer { StoreAnswer(.notFound) }
    }
    let nowhere = try #require(URL(string: "http://127.0.0.1:9/"))
    let verifier = HTTPReceiptVerifier(
      production: nowhere, sandbox: nowhere, password: nil, others: Unused())
    #expect(verifier.answer(to: .proof(long), now: Sample.now).outcome == .refused)
  }

  @Test func `table C has the user of a receipt without orders, until an owner is known`() async throws {
    let fixture = try MockServerFixture()
    _ = try await fixture.pay()
    struct Reply: Decodable { var receipt: String? }
    let data = try #require(
      try await fixture.send("GET", "/store/receipt?storeAccount=apple").decode(Reply.self).receipt)
    let device = UUID()
    let reply = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.bearer("alice"),
      json: #"{"receipt-data":"\#(data)","uuid":"\#(device.uuidString)","uid":"alice"}"#)
    #expect(try reply.decode(UploadReply.self).verdicts.isEmpty)
    func rows() throws -> [Purchase] { try fixture.server.mock.withLock { try $0.backend.model().purchases } }
    #expect(try rows().map(\.account) == ["alice"] && rows().map(\.device) == [device])
    let record = try #require(fixture.server.withStore { $0.transactions.first })
    let claim = UploadRequest(
      device: UUID(), proof: ProofDocument(kind: .appReceipt, data: data), claims: [Sample.claim(for: record)]
    )
    _ = try await fixture.send(
      "POST", "/v1/receipts", MockServerFixture.bearer("bob"), body: JSONEncoder().encode(claim))
    #expect(try rows().map(\.account) == ["bob"])
  }

  @Test func `an account that lists another's order learns nothing of it`() throws {
    var backend = BackendFixture()
    let order = try backend.order("alice")
    let record = Sample.record("1", token: order.accountToken)
    _ = try backend.upload(
      Sample.claim(for: record, match: .bound, order: order.number), holding: [record])
    for claim in [
      Sample.claim(for: record, match: .proposed, candidates: [order.number]),
      Sample.claim(for: record, match: .bound, order: order.number),
    ] {
      let told = try backend.upload(claim, holding: [record], as: .account("bob"))
      #expect(told.verdict == .otherOwner && told.orderNumber == nil && told.reason == nil)
    }
  }
}
