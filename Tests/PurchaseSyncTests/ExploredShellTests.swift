import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What `explore --shell` found in the engine's tasks, each made small.
@Suite(.timeLimit(.minutes(4))) struct ExploredShellTests {
  private let alice = Lane.account("alice")

  // MARK: Orders

  /// An engine with room for one entry, whose request for an order is on its way and held there.
  private func withHeldRequest(
    isDeaf: Bool = false,
    _ body: (EngineWorld, Gate, SyncEngine, Task<Order, any Error>) async throws -> Void
  ) async throws {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.limits = QueueLimits(entries: 1)
      let gate = Gate()
      gate.close()
      let engine = try await world.open(
        transport: GatedTransport(
          inner: world.transport, gate: gate, path: "v1/orders", ignoresCancellation: isDeaf))
      let request = Task { try await engine.begin(product: EngineWorld.product, account: "alice") }
      try await until { gate.arrivals == 1 }
      try await body(world, gate, engine, request)
    }
  }

  @Test func `two processes that ask for an order at the same time get two`() async throws {
    try await EngineWorld.with { world in
      let gate = Gate()
      gate.close()
      let transport = GatedTransport(inner: world.transport, gate: gate, path: "v1/orders")
      let app = try await world.open(transport: transport)
      let other = try await world.open(transport: transport)
      async let first = app.begin(product: EngineWorld.product, account: "alice")
      try await until { gate.arrivals == 1 }
      async let second = other.begin(product: EngineWorld.product, account: "alice")
      try await until { gate.arrivals == 2 }
      gate.open()
      let (one, two) = (try await first, try await second)
      #expect(one.number != two.number)
      await app.shutdown()
      await other.shutdown()
    }
  }

  @Test func `the room of a request that failed goes to what the store keeps`() async throws {
    try await withHeldRequest() { world, gate, engine, request in
      let paid = try await world.pay()
      await #expect(throws: SyncError.queue(.queueFull(.entries, needed: 2, allowed: 1))) {
        try await engine.receive(paid)
      }
      request.cancel()
      _ = await request.result
      // Nobody wakes it: the store is asked because there is room again.
      try await until { try await engine.snapshot().outcomes.count == 1 }
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }

  @Test(arguments: [true, false])
  func `a request for an order ends with its engine, and its room is free`(isDeaf: Bool) async throws {
    try await withHeldRequest(isDeaf: isDeaf) { world, gate, engine, request in
      await engine.shutdown()
      let result = await request.result
      #expect(throws: SyncError.self) { try result.get() }
      let next = try await world.open()
      _ = try await next.begin(product: EngineWorld.product, account: "bob")
      await next.shutdown()
      gate.open()
    }
  }

  @Test func `a request that waits for credentials sends nothing after the end`() async throws {
    try await EngineWorld.with { world in
      let gate = Gate()
      gate.close()
      let engine = try await world.open(credentials: { account in
        await gate.pass()
        return "token-" + account
      })
      let request = Task { try await engine.begin(product: EngineWorld.product, account: "alice") }
      try await until { gate.arrivals == 1 }
      await engine.shutdown()
      gate.open()
      let result = await request.result
      #expect(throws: SyncError.self) { try result.get() }
      await #expect(throws: SyncError.queue(.closed(path: world.configuration.path))) {
        try await engine.fetchOrders(of: "alice")
      }
      #expect(try world.server.snapshot().orders.isEmpty)
    }
  }

  // MARK: Background and the end

  @Test func `an end that finds another file sets no timer`() async throws {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      for suffix in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: world.configuration.path + suffix)
      }
      await engine.shutdown()
      #expect(await engine.timer == nil)
    }
  }

  /// A clock that the test sets.
  private final class Uptime: @unchecked Sendable {
    private let lock = NSLock()
    private var moment = ContinuousClock.now

    var now: ContinuousClock.Instant { lock.withLock { moment } }
    func pass(_ duration: Duration) { lock.withLock { moment = moment.advanced(by: duration) } }
  }

  @Test func `after a foreground, a second background has time of its own`() async throws {
    try await EngineWorld.with { world in
      var world = world
      let (uptime, polling, gate) = (Uptime(), Gate(), Gate())
      polling.close()
      world.configuration.surroundings.uptime = { uptime.now }
      world.configuration.surroundings.sleep = { _ in
        await polling.pass()
        await Task.yield()
      }
      let engine = try await world.open(
        transport: GatedTransport(inner: world.transport, gate: gate, ignoresCancellation: false))
      let order = try await engine.begin(product: EngineWorld.product, account: "alice")
      gate.close()
      try await engine.receive(try await world.pay(token: order.accountToken))
      try await until { gate.arrivals == 1 }
      async let first: Void = engine.park(within: 1)
      try await until { await engine.isParked }
      try await engine.wake(.foreground)
      async let second: Void = engine.park(within: 100)
      try await until { await engine.isParked }
      // The first one's time is over, and it looks only now.
      uptime.pass(.seconds(2))
      polling.open()
      await first
      #expect(try await engine.snapshot().lanes.map(\.state) == [.uploading])
      gate.open()
      await second
      #expect(try await engine.snapshot().unsettled == 0)
      await engine.shutdown()
      #expect(try world.uploads() == 1)
    }
  }

  // MARK: Proofs by reference

  /// Lists the truth once after it is told to fade, and from then on nothing, as one that has let go of a transaction,
  /// or fails.
  private struct FadingStore: AppStore {
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

    func finish(transactionID: String) async throws -> FinishResult {
      try await inner.finish(transactionID: transactionID)
    }
  }

  /// A purchase whose proof is too long is delivered, or given up, and refunded, and the store fades once it has told
  /// of that.
  private func withLongRefund(
    isSilent: Bool, givenUp: Bool = false, _ body: (EngineWorld, SyncEngine) async throws -> Void
  ) async throws {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.limits = QueueLimits(proofBytes: 10)
      let store = FadingStore(inner: world.store, isSilent: isSilent)
      let engine = try await world.open(store: store)
      let order = try await engine.begin(product: EngineWorld.product, account: "alice")
      // A listing of the opening that came later would have it finished once more, perhaps after the refund, and a store
      // has nothing more to tell of what is finished.
      try await until { store.answers.arrivals > 0 }
      let paid = try await world.pay(token: order.accountToken)
      if givenUp { await engine.park() }
      try await engine.receive(paid)
      if givenUp { try await engine.discard(paid.key, by: "kim", reason: "not worth it") }
      try await world.finishAll(engine)
      try await until { try world.server.snapshot().charges.allSatisfy { $0.isFinished } }
      _ = try world.server.withStore { (model) throws(StoreModelError) in
        try model.refund(transactionID: paid.transactionID, now: Timestamp.wallClock())
      }
      _ = store.fading.isFirst()
      try await engine.wake(.foreground)
      try await body(world, engine)
      await engine.shutdown()
    }
  }

  @Test(arguments: [false, true])
  func `a refund whose proof is too long goes up, though the store has let go of it`(
    givenUp: Bool
  ) async throws {
    try await withLongRefund(isSilent: false, givenUp: givenUp) { world, engine in
      try await until { try await engine.snapshot().outcomes.map(\.verdict) == [.refunded] }
      try await world.finishAll(engine)
    }
  }

  @Test func `a store that does not answer has let go of nothing: no claim goes up without its proof`()
    async throws
  {
    try await withLongRefund(isSilent: true) { world, engine in
      try await until {
        try await engine.snapshot().lanes.contains { if case .waiting = $0.state { true } else { false } }
      }
      #expect(try world.uploads() == 1, "that of the purchase")
    }
  }

  @Test func `purchases whose proofs are too long go up one by one, each with its own`() async throws {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.limits = QueueLimits(proofBytes: 10)
      let engine = try await world.open()
      await engine.park()
      for _ in 1...3 { try await world.buy(engine) }
      try await engine.wake(.foreground)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered(3)
      #expect(try world.uploads() == 3)
    }
  }

  // MARK: What cannot be read

  @Test func `one entry of which nothing can be read does not stop the others`() async throws {
    try await EngineWorld.with { world in
      let unreadable = EntryKey(rawValue: "Production/1")
      do {
        let queue = try QueueFile(path: world.configuration.path, now: Timestamp.wallClock())
        _ = try queue.enqueue(
          NewEntry(
            key: unreadable, lane: alice, details: "{}",
            proofs: [Proof(kind: "signedTransaction", bytes: Array("a.b.c".utf8))]),
          now: Timestamp.wallClock())
      }
      let engine = try await world.open()
      try await world.buy(engine, account: "bob")
      try await until { try world.server.snapshot().charges.map(\.isFinished) == [true] }
      #expect(try await engine.caseFile(for: unreadable)?.state == "quarantined")
      await engine.shutdown()
    }
  }
}
