import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Orders that were confused, reopened, or refused too late.
@Suite struct OrderFaultTests {
  private func document(
    _ number: String, token: UUID = UUID(), _ state: OrderState = .open, product: String = "gems"
  ) -> OrderDocument {
    OrderDocument(
      number: number, accountToken: token, productID: product, quantity: 1, state: state, createdAt: midday)
  }

  private func with(_ body: (SyncFile) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.path + "/OrderFaults-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { do { try FileManager.default.removeItem(atPath: path) } catch { Issue.record(error) } }
    let queue = try QueueFile(path: path + "/queue.sqlite", now: midday)
    try body(try SyncFile(queue: queue, newIdentity: { DeviceIdentity(from: UUID.init) }))
  }

  // MARK: Two orders, one token or one number

  @Test func `a sheet that returns the payment of an order that is not known here ends its own order`()
    async throws
  {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 10_000)) { shop in
      shop.server.withStore { $0.faults.repeatsTransactions = true }
      let engine = try await shop.open()
      let mine = try await engine.begin(product: "gems", account: "alice")
      // Her tablet makes an order, and pays; the store delivers that to the phone, too.
      let tablet = try await shop.open(try shop.configuration("tablet"))
      let theirs = try await tablet.begin(product: "gems", account: "alice")
      await tablet.shutdown()
      let paid = try await shop.pay(theirs)
      try await engine.receive(paid)
      #expect(try await shop.pay(mine).key == paid.key)
      try await engine.receive(paid, for: mine)
      shop.server.setFaults(.none)
      try await engine.wake(.foreground)
      let outcome = try await shop.confirm(engine, mine)
      #expect(outcome.isAlreadyOwned && outcome.key == paid.key)
      #expect(try await shop.order(mine.number, engine)?.state == .alreadyOwned)
      #expect(try shop.server.snapshot().credits.count == 1)
      await engine.shutdown()
    }
  }

  @Test func `two orders with one token stay two orders`() throws {
    try with { (file) throws in
      let token = UUID()
      try file.take(
        [document("1", token: token), document("2", token: token, product: "coins")], account: "alice")
      #expect(try file.orders().map(\.number) == ["1", "2"])
      try file.take([document("1", token: token, .deferred)], account: "alice")
      #expect(try file.orders().map(\.state) == [.deferred, .open])
    }
  }

  @Test func `a list of orders gives no order and no token to another account`() throws {
    try with { (file) throws in
      let token = UUID()
      try file.take([document("1", token: token)], account: "alice")
      let refused = try file.take(
        [document("1", .expired), document("2", token: token), document("3")], account: "bob")
      #expect(refused.count == 2)
      #expect(
        try file.orders().map { "\($0.number) \($0.account) \($0.state.rawValue)" } == [
          "1 alice open", "3 bob open",
        ])
    }
  }

  @Test(arguments: ["", String(repeating: "n", count: 257)])
  func `an order whose number does not fit in the queue is not taken`(number: String) throws {
    try with { (file) throws in
      #expect(try file.take([document(number)], account: "alice").count == 1)
      #expect(try file.orders().isEmpty)
    }
  }

  // MARK: Stale lists

  @Test(arguments: [
    (OrderState.cancelled, OrderState.open, false), (.cancelled, .deferred, false),
    (.cancelled, .delivered, true),
    (.deferred, .open, false), (.deferred, .expired, true), (.delivered, .open, false),
    (.refunded, .delivered, true),
    (.open, .cancelled, true), (.expired, .open, true), (.paid, .cancelled, false),
  ])
  func `a list that may be older takes no order back to an earlier state`(
    known: OrderState, listed: OrderState, isTaken: Bool
  ) throws {
    try with { (file) throws in
      let token = UUID()
      try file.take([document("1", token: token, known)], account: "alice")
      try file.take([document("1", token: token, listed)], account: "alice")
      #expect(try file.orders().map(\.state) == [isTaken ? listed : known])
    }
  }

  @Test func `the backend's list does not reopen an order that is paid here`() throws {
    try with { (file) throws in
      let token = UUID()
      try file.take([document("1", token: token)], account: "alice")
      let paid = payment(token: token)
      let match = try OrderMatcher.match(paid, from: file)
      _ = try file.enqueue(paid, match, storeAccount: nil, now: midday)
      for state in [OrderState.open, .cancelled, .expired] {
        try file.take([document("1", token: token, state)], account: "alice")
        #expect(try file.orders().map(\.state) == [.paid])
      }
      #expect(try file.orders(TokenQuery(token, limit: 1)).map(\.boundTo) == [paid.key])
    }
  }

  private struct LateList: BackendTransport {
    let inner: any BackendTransport
    let gate: Gate
    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      let response = try await inner.send(request)
      if request.method == "GET", request.path.hasPrefix("v1/orders?") { await gate.pass() }
      return response
    }
  }

  @Test func `O1 a cancelled order stays cancelled, though a list from before says that it is open`()
    async throws
  {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      gate.close()
      let engine = try await fixture.open(transport: LateList(inner: fixture.transport, gate: gate))
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      let fetch = Task { try await engine.fetchOrders(of: "alice") }
      try await until { gate.arrivals == 1 }
      try await engine.cancel(order: order.number)
      try await until { try await engine.pendingNotices() == 0 }
      gate.open()
      try await fetch.value
      #expect(try await engine.orders().map(\.state) == [.cancelled])
      await engine.shutdown()
    }
  }

  // MARK: Reservations

  @Test(arguments: ["cancelled", "deferred", "settled"])
  func `an order that is cancelled, deferred or settled reserves no capacity`(end: String) async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      func reserved() throws -> Int {
        try QueueFile(path: fixture.configuration.path, now: Timestamp.wallClock()).health().reserved
      }
      #expect(try reserved() == 1)
      switch end {
      case "cancelled": try await engine.cancel(order: order.number)
      case "deferred": try await engine.deferPayment(of: order.number)
      default:
        // Without the token: the reservation ends with the verdict, which names the order.
        let paid = try await fixture.pay(token: nil, delivery: .tokenForgotten)
        try await engine.receive(paid)
        try await fixture.finishAll(engine)
      }
      #expect(try reserved() == 0)
      await engine.shutdown()
    }
  }

  // MARK: An old list

  @Test func `I1 two items of an old list do not get one order`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      var old: [EarlierPurchase] = []
      for number in 0..<2 {
        let paid = try await fixture.store.pay(product: "gems", quantity: 1, accountToken: nil)
        old.append(
          EarlierPurchase(
            id: "item-\(number)", document: paid.proof.bytes, account: "alice", orderNumber: "4711"))
      }
      let report = try SyncEngine.importPurchases(old, into: configuration)
      let entries = try QueueFile(path: configuration.path, now: Timestamp.wallClock()).allEntries()
      #expect(entries.filter { $0.orderNumber == "4711" }.count == 1)
      #expect(report.taken == ["item-0"])
      #expect(report.kept.map(\.reason) == [.refused])
    }
  }

  @Test func `I1 two entries of one order are both settled`() throws {
    try with { (file) throws in
      // Queued by an earlier version, which did not look.
      for id in ["100", "101"] {
        let details = try TransactionDetails(payment(id)).text()
        _ = try file.queue.enqueue(
          NewEntry(
            key: payment(id).key, lane: .account("alice"), orderNumber: "4711", details: details,
            payloads: [payment(id).proof]), now: midday)
      }
      try file.take([document("4711")], account: "alice")
      for id in ["100", "101"] {
        let claim = SettledClaim(key: payment(id).key, verdict: .granted)
        #expect(try file.settle([claim], now: midday).tombstones.count == 1)
      }
      #expect(try file.orders().map(\.state) == [.delivered])
    }
  }

  // MARK: Texts that do not fit

  @Test(arguments: [(8_200, 4), (4, 8_200), (5_000, 4_000), (7_000, 4)])
  func `L1 what cannot be queued is refused before the payment`(account: Int, product: Int) async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      await #expect(throws: SyncError.self) {
        try await engine.begin(
          product: String(repeating: "p", count: product), account: String(repeating: "a", count: account))
      }
      #expect(try fixture.server.snapshot().orders.isEmpty)
      await engine.shutdown()
    }
  }

  @Test func `L1 a payment for the longest account for which an order is made is queued`() throws {
    try with { (file) throws in
      func account(_ length: Int) -> String { String(repeating: "a", count: length) }
      func fits(_ length: Int) throws -> Bool {
        try OrderWish(account: account(length), product: "gems", quantity: 1).fits(QueueLimits())
      }
      let longest = try #require(try (1...8_192).last { try fits($0) })
      #expect(longest > 4_096)
      let (number, token) = (String(repeating: "n", count: 256), UUID())
      #expect(try file.take([document(number, token: token)], account: account(longest)).isEmpty)
      let paid = payment(String(repeating: "9", count: 20), token: token) {
        ($0.expiresAt, $0.signedAt) = (midday, midday)
      }
      let match = try OrderMatcher.match(paid, from: file)
      let storeAccount = String(repeating: "s", count: 64)
      _ = try file.enqueue(paid, match, storeAccount: storeAccount, now: midday)
      #expect(try file.queue.entry(paid.key)?.orderNumber == number)
    }
  }

  // MARK: Accounts as bytes

  @Test func `U2 one name in two spellings is two accounts everywhere`() throws {
    let (composed, decomposed) = ("jos\u{e9}", "jose\u{301}")
    #expect(Lane.account(composed) != .account(decomposed))
    #expect(Set([Lane.account(composed), .account(decomposed)]).count == 2)
    // An accent at the beginning belongs to the letter before it.
    #expect(Lane.account("\u{301}x").account == "\u{301}x")
    #expect(Lane.question(of: "\u{301}x").asker == "\u{301}x")
    try with { (file) throws in
      try file.take([document("1")], account: composed)
      #expect(try file.take([document("1")], account: decomposed).count == 1)
      #expect(try file.unlisted(in: [], account: decomposed) == [])
    }
  }

  // MARK: A restore

  @Test func `R1 a restore takes what a receipt holds after the store's own list, also after a restart`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let phone = try await fixture.open()
      _ = try await fixture.buy("gems", phone, account: "bob")
      let order = try await phone.begin(product: "gems", account: "alice")
      await phone.shutdown()
      // Paid, and the answer is lost.
      _ = try await fixture.pay(order)
      var configuration = try fixture.configuration()
      configuration.currentAccount = { "bob" }
      let accounts = fixture.accounts
      let listing = Gate()
      listing.close()
      let engine = try await SyncEngine.open(
        configuration, store: GatedStore(inner: fixture.store, listing: listing),
        transport: fixture.transport,
        credentials: { accounts.token(of: $0.account) })
      try await until { listing.arrivals == 1 }
      let restore = Task { try await engine.refreshReceipt() }
      // From here on, what the receipt holds waits, or was taken too early.
      try await until {
        let snapshot = try await engine.snapshot()
        return snapshot.isStoreHoldingMore || !snapshot.purchases.isEmpty
      }
      for _ in 0..<200 { await Task.yield() }
      #expect(try await engine.snapshot().purchases.isEmpty, "the receipt waits for the list")
      listing.open()
      try await restore.value
      let outcome = try await fixture.confirm(engine, order)
      #expect(outcome.account == "alice" && outcome.isFulfilled)
      #expect(try fixture.server.snapshot().creditOwners == [.account("bob"), .account("alice")])
      await engine.shutdown()
    }
  }
}
