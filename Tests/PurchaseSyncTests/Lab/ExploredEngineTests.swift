import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Failures in the engine's tasks that `explore --engine` found, in their smallest form.
@Suite struct ExploredEngineTests {
  private let alice = Lane.account("alice")

  // MARK: Orders

  /// An engine with capacity for one entry, whose request for an order is in flight and delayed.
  private func withHeldRequest(
    isDeaf: Bool = false,
    _ body: (EngineFixture, Gate, SyncEngine, Task<PurchaseOrder, any Error>) async throws -> Void
  ) async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.limits = QueueLimits(entries: 1)
      let gate = Gate()
      gate.close()
      let engine = try await fixture.open(
        transport: GatedTransport(
          inner: fixture.transport, gate: gate, path: "v1/orders", ignoresCancellation: isDeaf))
      let request = Task { try await engine.begin(product: EngineFixture.product, account: "alice") }
      try await until { gate.arrivals == 1 }
      try await body(fixture, gate, engine, request)
    }
  }

  @Test func `two processes that ask for an order at the same time get two orders`() async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      gate.close()
      let transport = GatedTransport(inner: fixture.transport, gate: gate, path: "v1/orders")
      let app = try await fixture.open(transport: transport)
      let other = try await fixture.open(transport: transport)
      async let first = app.begin(product: EngineFixture.product, account: "alice")
      try await until { gate.arrivals == 1 }
      async let second = other.begin(product: EngineFixture.product, account: "alice")
      try await until { gate.arrivals == 2 }
      gate.open()
      let (one, two) = (try await first, try await second)
      #expect(one.number != two.number)
      await app.shutdown()
      await other.shutdown()
    }
  }

  @Test func `capacity that a failed order request frees goes to transactions that the store keeps`()
    async throws
  {
    try await withHeldRequest() { fixture, gate, engine, request in
      let paid = try await fixture.pay()
      await #expect(throws: SyncError.queue(.queueFull(.entries, needed: 2, allowed: 1))) {
        try await engine.receive(paid)
      }
      request.cancel()
      _ = await request.result
      // There is no wake-up: the engine asks the store because there is capacity again.
      try await until { try await engine.snapshot().outcomes.count == 1 }
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  @Test(arguments: [true, false])
  func `an order request ends with its engine, and its capacity is free`(isDeaf: Bool) async throws {
    try await withHeldRequest(isDeaf: isDeaf) { fixture, gate, engine, request in
      await engine.shutdown()
      let result = await request.result
      #expect(throws: SyncError.self) { try result.get() }
      let next = try await fixture.open()
      _ = try await next.begin(product: EngineFixture.product, account: "bob")
      await next.shutdown()
      gate.open()
    }
  }

  @Test func `a request that waits for credentials sends nothing after the shutdown`() async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      gate.close()
      let engine = try await fixture.open(credentials: { request in
        await gate.pass()
        return "token-" + request.account
      })
      let request = Task { try await engine.begin(product: EngineFixture.product, account: "alice") }
      try await until { gate.arrivals == 1 }
      await engine.shutdown()
      gate.open()
      let result = await request.result
      #expect(throws: SyncError.self) { try result.get() }
      await #expect(throws: SyncError.queue(.closed(path: fixture.configuration.path))) {
        try await engine.fetchOrders(of: "alice")
      }
      #expect(try fixture.server.snapshot().orders.isEmpty)
    }
  }

  // MARK: Background and shutdown

  @Test func `a shutdown that finds another file sets no timer`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      for suffix in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: fixture.configuration.path + suffix)
      }
      await engine.shutdown()
      #expect(await engine.tasks[.timer] == nil)
    }
  }

  /// A clock that the test sets.
  private final class Uptime: Sendable {
    private let moment = Locked(ContinuousClock.now)

    var now: ContinuousClock.Instant { moment.value }
    func pass(_ duration: Duration) { moment.withLock { $0 = $0.advanced(by: duration) } }
  }

  @Test func `after a foreground, the second time in the background has its own time limit`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      let (uptime, polling, gate) = (Uptime(), Gate(), Gate())
      polling.close()
      fixture.configuration.system.uptime = { uptime.now }
      fixture.configuration.system.sleep = { _ in
        await polling.pass()
        await Task.yield()
      }
      let engine = try await fixture.open(
        transport: GatedTransport(inner: fixture.transport, gate: gate, ignoresCancellation: false))
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      gate.close()
      try await engine.receive(try await fixture.pay(token: order.accountToken))
      try await until { gate.arrivals == 1 }
      async let first: Void = engine.suspend(within: 1)
      try await until { await engine.isSuspended }
      try await engine.wake(.foreground)
      async let second: Void = engine.suspend(within: 100)
      try await until { await engine.isSuspended }
      // The time of the first suspension is over, and it checks the clock only now.
      uptime.pass(.seconds(2))
      polling.open()
      await first
      #expect(try await engine.snapshot().lanes.map(\.state) == [.uploading])
      gate.open()
      await second
      #expect(try await engine.snapshot().unsettled == 0)
      await engine.shutdown()
      #expect(try fixture.uploads() == 1)
    }
  }

  // MARK: Proofs by reference

  /// A store that forgets. After it is asked to fade, the first listing is still complete. Each later listing is empty,
  /// or fails if `isSilent` is set.
  private struct FadingStore: StoreClient {
    let inner: MockStoreClient
    let isSilent: Bool
    let fading = Gate()
    let listings = Gate()
    let answers = Gate()

    func unfinished() async throws -> StoreListing {
      let hasFaded = fading.arrivals > 0 && !listings.isFirst()
      let listing = try await inner.unfinished()
      _ = answers.isFirst()
      guard hasFaded else { return listing }
      if isSilent { throw URLError(.timedOut) }
      return StoreListing(account: listing.account, transactions: [])
    }

    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  /// A purchase whose proof is too long is delivered or discarded, and then refunded. The store fades after it has
  /// listed the refund.
  private func withLongRefund(
    isSilent: Bool, givenUp: Bool = false, _ body: (EngineFixture, SyncEngine) async throws -> Void
  ) async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.limits = QueueLimits(payloadBytes: 10)
      let store = FadingStore(inner: fixture.store, isSilent: isSilent)
      let engine = try await fixture.open(store: store)
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      // Wait for the listing of the opening. If it came later, the transaction would be finished once more, perhaps
      // after the refund, and the store does not list finished transactions.
      try await until { store.answers.arrivals > 0 }
      let paid = try await fixture.pay(token: order.accountToken)
      if givenUp { await engine.suspend() }
      try await engine.receive(paid)
      if givenUp {
        try await engine.discard(paid.key, by: "kim", reason: "not worth it")
        // In the background no transaction is finished.
        try await engine.wake(.foreground)
      }
      try await fixture.finishAll(engine)
      try await until { try fixture.server.snapshot().charges.allSatisfy { $0.isFinished } }
      _ = try fixture.server.withStore { (model) throws(StoreModelError) in
        try model.refund(transactionID: paid.transactionID, now: Timestamp.wallClock())
      }
      _ = store.fading.isFirst()
      try await engine.wake(.foreground)
      try await body(fixture, engine)
      await engine.shutdown()
    }
  }

  @Test(arguments: [false, true])
  func `a refund whose proof is too long is uploaded, even if the store does not list it any more`(
    givenUp: Bool
  ) async throws {
    try await withLongRefund(isSilent: false, givenUp: givenUp) { fixture, engine in
      try await until { try await engine.snapshot().outcomes.map(\.verdict) == [.refunded] }
      try await fixture.finishAll(engine)
    }
  }

  @Test func `if the store does not answer, no claim is uploaded without its proof`()
    async throws
  {
    try await withLongRefund(isSilent: true) { fixture, engine in
      try await until {
        try await engine.snapshot().lanes.contains { if case .waiting = $0.state { true } else { false } }
      }
      #expect(try fixture.uploads() == 1, "only the purchase's upload")
    }
  }

  @Test func `purchases whose proofs are too long are uploaded one by one, each with its proof`() async throws
  {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.limits = QueueLimits(payloadBytes: 10)
      let engine = try await fixture.open()
      await engine.suspend()
      for _ in 1...3 { try await fixture.buy(engine) }
      try await engine.wake(.foreground)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered(3)
      #expect(try fixture.uploads() == 3)
    }
  }

  // MARK: Unreadable entries

  @Test func `an entry that cannot be read does not stop the others`() async throws {
    try await EngineFixture.with { fixture in
      let unreadable = EntryKey(rawValue: "Production/1")
      do {
        let queue = try QueueFile(path: fixture.configuration.path, now: Timestamp.wallClock())
        _ = try queue.enqueue(
          NewEntry(
            key: unreadable, lane: alice, details: "{}",
            payloads: [Payload(kind: "signedTransaction", bytes: Array("a.b.c".utf8))]),
          now: Timestamp.wallClock())
      }
      let engine = try await fixture.open()
      try await fixture.buy(engine, account: "bob")
      try await until { try fixture.server.snapshot().charges.map(\.isFinished) == [true] }
      #expect(try await engine.caseFile(for: unreadable)?.state == "quarantined")
      await engine.shutdown()
    }
  }
}
