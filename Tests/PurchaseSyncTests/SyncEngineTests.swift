import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import TestSupport
import Testing

/// The engine against the real backend and store models, over HTTP, in one process.
@Suite struct SyncEngineTests {
  private let product = "gems"

  private func withFixture(
    faults: FaultPlan = .none, _ body: (MockServer, SyncConfiguration, MockStoreClient) async throws -> Void
  ) async throws {
    try await EngineFixture.with(faults) { try await body($0.server, $0.configuration, $0.store) }
  }

  private func open(
    _ configuration: SyncConfiguration, _ fixture: MockServer, _ store: MockStoreClient
  ) async throws -> SyncEngine {
    try await SyncEngine.open(
      configuration, store: store, transport: URLSessionTransport(base: fixture.baseURL),
      credentials: { "token-" + $0.account })
  }

  /// The first outcome that the engine reports.
  private func outcome(_ engine: SyncEngine) async throws -> Outcome? {
    for await event in try await engine.eventStream() {
      if let outcome = event.outcome { return outcome }
    }
    return nil
  }

  /// `uploads`: how many requests it takes at least until there is a verdict. The first one has the fault.
  private static let faults: [(name: String, plan: FaultPlan, uploads: Int)] = [
    ("no fault", .none, 1), ("an outage", .outage(path: "/v1/receipts", requests: 3), 4),
    ("a lost answer", .replyLost(path: "/v1/receipts", occurrence: 1), 2),
    ("a lost request", .requestLost(path: "/v1/receipts", occurrence: 1), 2),
    ("a captive portal", .captivePortal(status: 200, requests: 2, path: "/v1/receipts"), 3),
    ("a captive portal that forbids", .captivePortal(status: 403, requests: 2, path: "/v1/receipts"), 3),
    ("an endless redirect", .endlessRedirect(requests: 2), 3),
    ("a huge body", .hugeBody(bytes: 3 << 20, requests: 1), 2),
    ("Retry-After: -1", .refusal(status: 503, retryAfter: .seconds(-1), requests: 2), 3),
    ("Retry-After: soon", .refusal(status: 429, retryAfter: .text("soon"), requests: 2), 3),
    ("a status of its own", .refusal(status: 418, retryAfter: nil, requests: 1), 2),
    ("wrong transactions", .oddReply(.wrongTransactions), 2),
    ("a verdict that was not asked for", .oddReply(.unclaimed(.granted, transactionID: "7")), 1),
    ("contradicting verdicts", .oddReply(.contradicting(.rejected, isFirst: false)), 1),
    ("no verdict at all", .oddReply(.partial(0)), 2),
    ("an unknown verdict", .oddReply(.word(Verdict(rawValue: "perhaps"))), 2),
    ("not yet", .oddReply(.pending(retryAfter: -5)), 2),
    ("an unknown order", .oddReply(.order("no such order")), 1),
    ("another ledger", .oddReply(.ledgerEpoch("another")), 1),
    ("more blanks than an answer has", .oddReply(.padded(bytes: 3 << 20)), 2),
  ]

  @Test(arguments: LongTests.some(Array(0..<20), every: 4))
  func `a purchase is credited once, and the app gets its outcome`(fault: Int)
    async throws
  {
    try await withFixture(faults: Self.faults[fault].plan) { fixture, configuration, store in
      let engine = try await open(configuration, fixture, store)
      let order = try await engine.begin(product: product, account: "alice")
      let paid = try await store.pay(product: product, quantity: 1, accountToken: order.accountToken)
      try await engine.receive(paid)
      let outcome = try #require(try await outcome(engine))
      #expect(outcome.orderNumber == order.number, "\(Self.faults[fault].name)")
      #expect(outcome.lane == .account("alice"))
      try await engine.confirm(outcome)
      while try await engine.snapshot() != SyncSnapshot() {
        for again in try await engine.snapshot().outcomes { try await engine.confirm(again) }
        await Task.yield()
      }
      let left = try await engine.snapshot()
      #expect(left == SyncSnapshot())
      await engine.shutdown()
      let log = try fixture.snapshot()
      #expect(log.requests["POST /v1/receipts"] ?? 0 >= Self.faults[fault].uploads)
      #expect(log.credits.count == 1)
      #expect(log.creditOwners == [.account("alice")])
      #expect(!log.charges.contains { !$0.isFinished })
    }
  }

  @Test func `an outcome that was not confirmed is delivered again after a restart`() async throws {
    try await withFixture { fixture, configuration, store in
      let engine = try await open(configuration, fixture, store)
      let order = try await engine.begin(product: product, account: "alice")
      try await engine.receive(
        try await store.pay(product: product, quantity: 1, accountToken: order.accountToken))
      let first = try await outcome(engine)
      await engine.shutdown()
      let again = try await open(configuration, fixture, store)
      let second = try #require(try await outcome(again))
      #expect(second == first)
      try await again.confirm(second)
      #expect(try await again.snapshot().unconfirmed == 0)
      await again.shutdown()
    }
  }

  @Test func `an order whose answer was lost is not made twice`() async throws {
    try await withFixture(faults: .replyLost(path: "/v1/orders", occurrence: 1)) {
      fixture, configuration, store in
      let engine = try await open(configuration, fixture, store)
      await #expect(throws: SyncError.self) { try await engine.begin(product: product, account: "alice") }
      _ = try await engine.begin(product: product, account: "alice")
      await engine.shutdown()
      #expect(try fixture.snapshot().orders.count == 1)
    }
  }

  @Test func `an order that failed keeps no capacity`() async throws {
    try await withFixture(faults: .requestLost(path: "/v1/orders", occurrence: 1)) {
      fixture, configuration, store in
      var configuration = configuration
      configuration.limits = QueueLimits(entries: 1)
      let engine = try await open(configuration, fixture, store)
      await #expect(throws: SyncError.self) { try await engine.begin(product: "other", account: "alice") }
      #expect(try QueueFile(path: configuration.path, now: Timestamp.wallClock()).health().reserved == 0)
      _ = try await engine.begin(product: product, account: "alice")
      // Neither does an order that is not paid: only what is queued takes the capacity of the next one.
      let his = try await engine.begin(product: product, account: "bob")
      fixture.setFaults(.outage(path: "/v1/receipts", requests: 10_000))
      try await engine.receive(
        try await store.pay(product: product, quantity: 1, accountToken: his.accountToken), for: his)
      await #expect(throws: SyncError.queue(.queueFull(.entries, needed: 2, allowed: 1))) {
        try await engine.begin(product: product, account: "bob")
      }
      await engine.shutdown()
    }
  }

  @Test func `a proof too long for the queue is taken from the store when it is sent`() async throws {
    try await withFixture { fixture, configuration, store in
      var configuration = configuration
      configuration.limits = QueueLimits(payloadBytes: 10)
      let engine = try await open(configuration, fixture, store)
      let order = try await engine.begin(product: product, account: "alice")
      // Without a token, the backend credits nothing that has no proof.
      try await engine.receive(
        try await store.pay(product: product, quantity: 1, accountToken: nil), for: order)
      #expect(try await outcome(engine)?.orderNumber == order.number)
      await engine.shutdown()
      #expect(try fixture.snapshot().credits.count == 1)
    }
  }

  @Test func `a lane that another process sends is not sent here until that process releases it`()
    async throws
  {
    try await withFixture { fixture, configuration, store in
      let engine = try await open(configuration, fixture, store)
      let order = try await engine.begin(product: product, account: "alice")
      let other = try QueueFile(path: configuration.path, now: Timestamp.wallClock())
      let lease = try #require(try other.lease(.account("alice")))
      try await engine.receive(
        try await store.pay(product: product, quantity: 1, accountToken: order.accountToken))
      _ = try await events(engine) { event in
        if case .waiting(_, let reason, _) = event { reason.contains("another process") } else { false }
      }
      #expect(try fixture.snapshot().requests["POST /v1/receipts"] == nil)
      lease.release()
      try await engine.wake()
      #expect(try await outcome(engine) != nil)
      await engine.shutdown()
    }
  }

  @Test func `two purchases of one thing at once are two orders`() async throws {
    try await withFixture { fixture, configuration, store in
      let engine = try await open(configuration, fixture, store)
      async let first = engine.begin(product: product, account: "alice")
      async let second = engine.begin(product: product, account: "alice")
      let orders = try await [first, second]
      await engine.shutdown()
      #expect(Set(orders.map(\.number)).count == 2)
    }
  }

  @Test func `after a shutdown the engine accepts no transaction, because it could not store it`()
    async throws
  {
    try await withFixture { fixture, configuration, store in
      let engine = try await open(configuration, fixture, store)
      let paid = try await store.pay(product: product, quantity: 1, accountToken: nil)
      await engine.shutdown()
      await #expect(throws: SyncError.queue(.closed(path: configuration.path))) {
        try await engine.receive(paid)
      }
    }
  }

  @Test func `a file that is removed under the engine is created again, and the store delivers again`()
    async throws
  {
    try await withFixture { fixture, configuration, store in
      let engine = try await open(configuration, fixture, store)
      let order = try await engine.begin(product: product, account: "alice")
      for suffix in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: configuration.path + suffix)
      }
      let paid = try await store.pay(product: product, quantity: 1, accountToken: order.accountToken)
      // Who meets it first gets the error. That may be the engine's own work, and then this call finds the new file.
      do throws(SyncError) {
        try await engine.receive(paid)
      } catch {
        #expect(error == .queue(.replaced(path: configuration.path)))
      }
      try await engine.receive(paid)
      #expect(try await outcome(engine)?.orderNumber == order.number)
      await engine.shutdown()
      #expect(try fixture.snapshot().credits.count == 1)
    }
  }

  @Test func `a full queue refuses the order before anything is asked or paid`() async throws {
    try await withFixture { fixture, configuration, store in
      var configuration = configuration
      configuration.limits = QueueLimits(entries: 0)
      let engine = try await open(configuration, fixture, store)
      await #expect(throws: SyncError.queue(.queueFull(.entries, needed: 1, allowed: 0))) {
        try await engine.begin(product: product, account: "alice")
      }
      await engine.shutdown()
      #expect(try fixture.snapshot().orders.isEmpty)
    }
  }

  @Test func `a directory in the place of the queue is a typed error`() async throws {
    try await withFixture { fixture, configuration, store in
      try FileManager.default.createDirectory(atPath: configuration.path, withIntermediateDirectories: false)
      await #expect(throws: SyncError.queue(.foreignFile(path: configuration.path, found: "a directory"))) {
        try await open(configuration, fixture, store)
      }
    }
  }

  // MARK: Changed outcomes

  @Test func `a confirmed grant does not hide the refund that came since`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      let order = try await engine.begin(product: product, account: "alice")
      let paid = try await fixture.pay(token: order.accountToken)
      try await engine.receive(paid)
      let before = try await snapshot(of: engine) { $0.outcomes.count == 1 && $0.pendingFinishes == 0 }
      try fixture.refund(paid)
      try await engine.wake()
      let after = try await snapshot(of: engine) { $0.outcomes.first?.verdict == .refunded }
      // The app was busy with the grant in the meantime.
      try await engine.confirm(try #require(before.outcomes.first))
      await engine.shutdown()
      let next = try await fixture.open()
      #expect(try await next.snapshot().outcomes == after.outcomes)
      try await next.confirm(try #require(after.outcomes.first))
      #expect(try await next.snapshot().outcomes.isEmpty)
      await next.shutdown()
    }
  }

  @Test func `a refund that another process brought is announced although its grant was confirmed`()
    async throws
  {
    try await EngineFixture.with { fixture in
      let app = try await fixture.open(store: QuietStore())
      let other = try await fixture.open()
      let stream = try await app.eventStream()
      let order = try await other.begin(product: product, account: "alice")
      let paid = try await fixture.pay(token: order.accountToken)
      try await other.receive(paid)
      let granted = try await snapshot(of: app) { $0.outcomes.count == 1 }
      try await app.wake(.foreground)
      try await app.confirm(try #require(granted.outcomes.first))
      try fixture.refund(paid)
      try await other.wake()
      _ = try await snapshot(of: app) { $0.outcomes.first?.verdict == .refunded }
      try await app.wake(.foreground)
      await other.shutdown()
      await app.shutdown()
      #expect(try await outcomes(in: stream).map(\.verdict) == [.granted, .refunded])
    }
  }

  @Test func `an outcome is told once to each stream of a run, and again at the next start`() async throws {
    try await EngineFixture.with { fixture in
      let app = try await fixture.open()
      let first = try await app.eventStream()
      try await fixture.buy(app)
      _ = try await snapshot(of: app) { $0.outcomes.count == 1 }
      let second = try await app.eventStream()
      for _ in 0..<3 {
        await app.suspend(within: 1)
        try await app.wake(.foreground)
      }
      await app.shutdown()
      #expect(try await outcomes(in: first).count == 1)
      #expect(try await outcomes(in: second).count == 1)
      let next = try await fixture.open()
      let third = try await next.eventStream()
      await next.shutdown()
      #expect(try await outcomes(in: third).count == 1)
    }
  }

  /// The outcomes in a stream that has ended.
  private func outcomes(in stream: AsyncStream<SyncEvent>) async throws -> [Outcome] {
    var told: [Outcome] = []
    for await event in stream { if let outcome = event.outcome { told.append(outcome) } }
    return told
  }
}

/// A store that lists nothing.
private struct QuietStore: StoreClient {
  func unfinished() async throws -> StoreListing { StoreListing(transactions: []) }
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    Dictionary(transactionIDs.map { ($0, .notListed) }) { first, _ in first }
  }
}

extension EngineFixture {
  /// The store takes a purchase back.
  fileprivate func refund(_ transaction: StoreTransaction) throws {
    try server.withStore { (store) throws(StoreModelError) in
      _ = try store.refund(transactionID: transaction.transactionID, now: Timestamp.wallClock())
    }
  }
}
