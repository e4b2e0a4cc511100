import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import TestSupport
import Testing

@testable import PurchaseSyncTesting

/// The file of a mock server: who may have it, and what a restart keeps.
struct ServerFileTests {
  private let folder: ServerFolder
  private var directory: TemporaryDirectory { folder.directory }
  private var path: String { folder.path }

  init() throws { folder = try ServerFolder() }

  private func ask<Reply: Decodable>(
    _ server: MockServer, _ method: String, _ path: String, _ json: String = "", _ type: Reply.Type,
    query: [String: String] = [:], headers: HTTPHeaders = ["Content-Type": "application/json"]
  ) throws -> Reply {
    let response = server.handler(
      HTTPRequest(method: method, path: path, query: query, headers: headers, body: Array(json.utf8)))
    #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try JSONDecoder().decode(type, from: Data(response.body))
  }

  private struct Payment: Decodable {
    var transactionID: String
    var signedTransaction: String
  }

  private func pay(_ server: MockServer, as account: String) throws -> Payment {
    try ask(
      server, "POST", "/store/payments", #"{"productID":"coins","storeAccount":"\#(account)"}"#, Payment.self)
  }

  private func unfinished(_ server: MockServer, of account: String) throws -> [String] {
    struct Listing: Decodable {
      struct Item: Decodable { var transactionID: String }
      var transactions: [Item]
    }
    return try ask(
      server, "GET", "/store/unfinished", "", Listing.self, query: ["storeAccount": account]
    ).transactions.map(\.transactionID)
  }

  private func upload(_ payment: Payment, as account: String, to server: MockServer) throws -> Verdict? {
    let claim = Claim(
      transactionID: payment.transactionID, environment: "Production", productID: "coins", quantity: 1,
      purchasedAt: Sample.now, match: .none)
    let request = UploadRequest(
      device: UUID(), proof: ProofDocument(kind: .signedTransaction, data: payment.signedTransaction),
      claims: [claim])
    let json = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
    let headers: HTTPHeaders = [
      "Authorization": "Bearer token-\(account)", "Content-Type": "application/json",
    ]
    return try ask(server, "POST", "/v1/receipts", json, UploadReply.self, headers: headers)
      .verdicts.first?.verdict
  }

  // MARK: Restarts

  @Test func `after a restart the payment is listed, and its payer gets it and not the next one`() throws {
    var payment: Payment
    do {
      let first = try folder.server()
      payment = try pay(first, as: "alice")
      first.stop()
    }
    let second = try folder.server()
    #expect(try unfinished(second, of: "alice") == [payment.transactionID])
    let later = try pay(second, as: "bob")
    #expect(later.transactionID != payment.transactionID)
    #expect(try upload(payment, as: "alice", to: second) == .granted)
    #expect(try upload(later, as: "bob", to: second) == .granted)
    let owners = try second.snapshot().credits.map(\.owner)
    #expect(owners == [.account("alice"), .account("bob")])
  }

  @Test func `without a kept store, the proof of a payment before a restart is no other person's`() throws {
    let first = try folder.server(keepsStore: false)
    let payment = try pay(first, as: "alice")
    first.stop()
    let second = try folder.server(keepsStore: false)
    let later = try pay(second, as: "bob")
    #expect(later.transactionID != payment.transactionID)
    #expect(try upload(payment, as: "alice", to: second) == .unknownTransaction)
    #expect(try upload(later, as: "bob", to: second) == .granted)
  }

  @Test func `clock, devices, tokens and notifications go on`() throws {
    let first = try folder.server()
    first.moveClock(by: .seconds(86_400))
    first.revoke(token: "token-eve")
    first.withStore { store in
      store.notifications.versions = [.two]
      store.signIn(device: "phone", storeAccount: "apple")
    }
    let moment = first.moment
    _ = try pay(first, as: "apple")
    // Being posted when the process ends.
    #expect(first.withStore { $0.takeNotifications(now: moment) }.count == 1)
    first.stop()
    let second = try folder.server()
    #expect(second.moment == moment)
    second.withStore { store in
      #expect(store.signedIn == ["phone": "apple"])
      #expect(store.takeNotifications(now: moment).map(\.kind) == ["ONE_TIME_CHARGE"])
    }
    let refused = second.handler(
      HTTPRequest(method: "GET", path: "/v1/orders", headers: ["Authorization": "Bearer token-eve"]))
    #expect(refused.status == 401)
  }

  @Test func `the mock's time does not go back, although a clock that ran fast starts again`() throws {
    let ahead = Sample.now.adding(milliseconds: 9_000_000)
    let first = try folder.server(at: ahead)
    _ = try pay(first, as: "alice")
    first.stop()
    #expect(try folder.server(at: Sample.now).moment == ahead)
  }

  @Test func `a payment stays although the backend's disk refuses the same request's writes`() throws {
    let first = try folder.server()
    try first.refuseWrites(true)
    let payment = try pay(first, as: "alice")
    let order = first.handler(
      HTTPRequest(
        method: "POST", path: "/v1/orders",
        headers: [
          "Authorization": "Bearer token-alice", "Idempotency-Key": "k", "Content-Type": "application/json",
        ],
        body: Array(#"{"productID":"coins","quantity":1}"#.utf8)))
    #expect(order.status == 500)
    first.stop()
    let second = try folder.server()
    #expect(try unfinished(second, of: "alice") == [payment.transactionID])
    #expect(try second.snapshot().orders.isEmpty)
  }

  // MARK: One file, one server

  @Test func `a second server is refused with the file's name, until the first one stops`() throws {
    let first = try folder.server()
    do throws(MockServerError) {
      _ = try MockServer(
        databasePath: path, products: Sample.products, bundleID: Sample.bundleID, now: { Sample.now })
      Issue.record("two servers have one file")
    } catch {
      #expect(error.description.contains(path) && error.description.contains("another mock server"))
      #expect(error.description.contains("stop the other one"))
    }
    _ = try pay(first, as: "alice")
    first.stop()
    let second = try folder.server()
    #expect(try unfinished(second, of: "alice").count == 1)
    // The first one may not come back either.
    #expect(throws: MockServerError.self) { try first.start() }
  }

  @Test(arguments: ["random bytes", "another program's", "another program's log", "older", "a folder"])
  func `a file that is not ours is refused untouched`(kind: String) throws {
    switch kind {
    case "random bytes": try Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 * 89) }).write(to: url)
    case "a folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    default:
      let made = try Connection(path: path)
      if kind == "another program's log" { try made.enterWAL() }
      try made.execute("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')")
      if kind == "older" { try made.execute("PRAGMA user_version=5") }
      // The log stays, as after a kill.
      made.leaveUntouchedOnClose()
    }
    let before = try files()
    #expect(throws: MockServerError.self) { try folder.server() }
    #expect(try files() == before)
  }

  private var url: URL { URL(filePath: path) }

  /// The content of all files but the index of a log, which SQLite makes again.
  private func files() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    where !name.hasSuffix("-shm") {
      let place = directory.url.appending(path: name)
      contents[name] = try isFolder ? Data() : try Data(contentsOf: place)
    }
    return contents
  }

  private var isFolder: Bool {
    get throws {
      try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType == .typeDirectory
    }
  }

  @Test func `file and log belong to the owner alone, also those of an earlier version`() throws {
    do {
      let first = try folder.server()
      _ = try pay(first, as: "alice")
      #expect(try modes() == [0o600])
      first.stop()
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    let second = try folder.server()
    _ = try pay(second, as: "alice")
    #expect(try modes() == [0o600])
  }

  private func modes() throws -> Set<Int> {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(names.count >= 3)
    return Set(
      try names.compactMap {
        try FileManager.default.attributesOfItem(atPath: directory.path($0))[.posixPermissions] as? Int
      })
  }
}
