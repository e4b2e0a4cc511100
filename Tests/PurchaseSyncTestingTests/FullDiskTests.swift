import Dispatch
import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// A mock server whose file cannot grow: what is not kept is not charged, and what is kept can be read.
struct FullDiskTests {
  private let folder: ServerFolder

  init() throws { folder = try ServerFolder() }

  private func open() throws -> MockServer { try folder.server(products: Shop.products) }

  private func fill(_ server: MockServer, _ isFull: Bool = true) throws {
    try server.mock.withLock { try $0.backend.limitFile(isFull) }
  }

  private struct Payment: Decodable { var transactionID: String }

  /// The id of the transaction; nil if it was answered 500.
  private func pay(_ server: MockServer, as account: String = "apple") throws -> String? {
    let body = #"{"productID":"coins","storeAccount":"\#(account)"}"#
    let answer = server.handler(
      HTTPRequest(
        method: "POST", path: "/store/payments", headers: ["Content-Type": "application/json"],
        body: Array(body.utf8)))
    if answer.status == 500 { return nil }
    return try JSONDecoder().decode(Payment.self, from: Data(answer.body)).transactionID
  }

  private func unfinished(_ server: MockServer, of account: String = "apple") throws -> Set<String> {
    struct Listing: Decodable { var transactions: [Payment] }
    let answer = server.handler(
      HTTPRequest(method: "GET", path: "/store/unfinished", query: ["storeAccount": account]))
    #expect(answer.status == 200)
    let listing = try JSONDecoder().decode(Listing.self, from: Data(answer.body))
    return Set(listing.transactions.map(\.transactionID))
  }

  @Test func `a payment that cannot be kept is not charged, and what was kept is listed`() throws {
    let server = try open()
    var paid: Set<String> = [try #require(try pay(server))]
    try fill(server)
    // The last page of the file may have space for a few.
    for _ in 0..<500 {
      guard let id = try pay(server) else { break }
      paid.insert(id)
    }
    #expect(try pay(server) == nil, "the file is not full")
    #expect(try unfinished(server) == paid)
    for path in ["/store/products", "/admin/state", "/admin/tables", "/"] {
      #expect(server.handler(HTTPRequest(method: "GET", path: path)).status == 200, "\(path)")
    }
    #expect(Set(server.withStore { $0.charges.map(\.transactionID) }) == paid)
    try fill(server, false)
    paid.insert(try #require(try pay(server)))
    server.stop()
    let next = try open()
    #expect(try unfinished(next) == paid)
    next.stop()
  }

  @Test func `on a disk that is full from the beginning, a new store stays empty`() throws {
    let server = try open()
    try fill(server)
    #expect(try pay(server) == nil)
    #expect(try unfinished(server) == [])
    try fill(server, false)
    let id = try #require(try pay(server))
    #expect(try unfinished(server) == [id])
    server.stop()
  }

  @Test func `of payments at the same time, those that were answered 500 are not charged`() throws {
    let server = try open()
    let paid = Locked<Set<String>>([])
    let failed = Locked(0)
    let errors = Locked<[String]>([])
    // No payment fits into the file of a new store, so the first ones fail.
    try fill(server)
    DispatchQueue.concurrentPerform(iterations: 8) { worker in
      do {
        for number in 0..<20 {
          if worker == 0 { try fill(server, number % 4 < 2) }
          if let id = try pay(server) {
            paid.withLock { _ = $0.insert(id) }
          } else {
            failed.withLock { $0 += 1 }
          }
        }
      } catch {
        errors.withLock { $0.append("\(error)") }
      }
    }
    #expect(errors.value == [])
    try fill(server, false)
    #expect(try unfinished(server) == paid.value)
    #expect(paid.value.count + failed.value == 160 && !paid.value.isEmpty && failed.value > 0)
    server.stop()
    let next = try open()
    #expect(try unfinished(next) == paid.value)
    next.stop()
  }

  @Test func `a renewal that cannot be kept is told to no backend, and comes when it can be`() async throws {
    let server = try open()
    server.withStore { $0.notifications.versions = [.two] }
    _ = try server.withStore { try $0.buy("gold") }
    #expect(await server.goOn { _ in 200 } == 1)
    let before = server.withStore { $0.transactions.map(\.transactionID) }
    server.moveClock(by: .seconds(31 * 86_400))
    try fill(server)
    // What little space the file has left goes first.
    for _ in 0..<500 where try pay(server) == nil { break }
    let charged = server.withStore { $0.transactions.map(\.transactionID) }
    let posted = Locked(0)
    let count: @Sendable (Data) async -> Int? = { _ in
      posted.withLock { $0 += 1 }
      return 200
    }
    await server.goOn(post: count)
    #expect(posted.value == 0)
    #expect(server.mock.withLock { $0.store.transactions.map(\.transactionID) } == charged)
    try fill(server, false)
    await server.goOn(post: count)
    #expect(posted.value > 0)
    #expect(server.withStore { $0.transactions.count } > before.count)
    server.stop()
  }
}
