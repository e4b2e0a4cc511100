import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The store's side, with everything that is normal there: finishes that fail and hang, deliveries twice, receipts that
/// lack what was paid; over HTTP.
@Suite(.timeLimit(.minutes(4))) struct SyncEngineStoreTests {
  // MARK: Finishing

  private static let troubles: [(name: String, plan: FaultPlan)] = [
    ("it fails", .finishFails(times: 3)), ("its answer is lost", .finishAnswerLost(occurrence: 1)),
    ("it hangs and then works", .finishHangs(times: 1, milliseconds: 50)),
    ("it is lost", .requestLost(path: "/store/finish", occurrence: 1)),
  ]

  @Test(arguments: 0..<4, [false, true])
  func `the store is told until it knows, also one that forgets what is finished`(
    trouble: Int, forgetsFinished: Bool
  ) async throws {
    try await EngineWorld.with(Self.troubles[trouble].plan) { world in
      world.server.withStore { $0.faults.forgetsFinished = forgetsFinished }
      let engine = try await world.open()
      try await world.buy(engine)
      try await until { world.server.withStore { $0.unfinished(storeAccount: "apple-id").isEmpty } }
      // Not listed: it stays owed until a listing that begins afterwards shows that it is done.
      try await until {
        try await engine.wake(.foreground)
        return try await engine.snapshot().finishesOwed == 0
      }
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
      #expect(try world.uploads() == 1, "\(Self.troubles[trouble].name)")
    }
  }

  @Test func `a finish that never comes back is tried again, and the app is told meanwhile`() async throws {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.storeMilliseconds = 300
      let store = GatedStore(inner: world.store)
      store.finishing.close()
      let engine = try await world.open(store: store)
      try await world.buy(engine)
      let told = try await events(engine) { $0.outcome != nil }
      try await engine.confirm(try #require(told.last?.outcome))
      try await until { store.finishing.arrivals >= 2 }
      #expect(try await engine.snapshot().finishesOwed == 1)
      #expect(try world.server.snapshot().charges.map(\.isFinished) == [false])
      store.finishing.open()
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }

  @Test func `a finish that is owed is done by the next run`() async throws {
    try await EngineWorld.with { world in
      let store = GatedStore(inner: world.store)
      store.finishing.close()
      let engine = try await world.open(store: store)
      try await world.buy(engine)
      try await until { store.finishing.arrivals == 1 }
      await engine.shutdown()
      let next = try await world.open()
      try await world.finishAll(next)
      await next.shutdown()
      try world.expectAllDelivered()
      #expect(try world.uploads() == 1)
      store.finishing.open()
    }
  }

  // MARK: Deliveries

  @Test(arguments: [1, 3])
  func `a transaction that is delivered many times over both interfaces is one purchase`(
    copies: Int
  ) async throws {
    try await EngineWorld.with { world in
      world.server.withStore { $0.faults.listingCopies = copies }
      let gate = Gate()
      let engine = try await world.open(
        transport: GatedTransport(inner: world.transport, gate: gate))
      let stream = try await engine.eventStream()
      let order = try await engine.begin(product: EngineWorld.product, account: "alice")
      gate.close()
      let paid = try await world.pay(token: order.accountToken, delivery: .twice)
      for _ in 0..<copies { try await engine.receive(paid) }
      try await engine.wake()
      try await until {
        // Both of its proofs are kept.
        try await engine.caseFile(for: paid.key)?.proofs.count == 2
      }
      #expect(try await engine.snapshot().purchases.map(\.orderNumber) == [order.number])
      gate.open()
      try await world.finishAll(engine)
      try await engine.receive(paid)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
      var told: [SyncEvent] = []
      for await event in stream { told.append(event) }
      #expect(told.count { if case .queued = $0 { true } else { false } } == 1)
      #expect(told.compactMap(\.outcome).count == 1)
    }
  }

  @Test func `an unverified transaction goes up flagged, and is not finished before its verdict`()
    async throws
  {
    try await EngineWorld.with { world in
      let gate = Gate()
      let bodies = Recording(inner: GatedTransport(inner: world.transport, gate: gate))
      let engine = try await world.open(transport: bodies)
      let order = try await engine.begin(product: EngineWorld.product, account: "alice")
      gate.close()
      try await engine.receive(try await world.pay(token: order.accountToken, delivery: .unverified))
      try await until { gate.arrivals == 1 }
      try await engine.wake()
      #expect(try world.server.snapshot().requests["POST /store/finish"] == nil)
      #expect(bodies.texts.all.allSatisfy { $0.contains("\"unverified\":true") } && !bodies.texts.all.isEmpty)
      gate.open()
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }

  /// Notes what is uploaded.
  private struct Recording: BackendTransport {
    let inner: any BackendTransport
    let texts = Texts()

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      if request.path == "v1/receipts" { texts.add(String(decoding: request.body, as: UTF8.self)) }
      return try await inner.send(request)
    }
  }

  private final class Texts: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []
    var all: [String] { lock.withLock { texts } }
    func add(_ text: String) { lock.withLock { texts.append(text) } }
  }

  // MARK: The app receipt

  @Test(arguments: [0, 1])
  func `nobody is asked for a password before the user asks, and a refreshed receipt delivers`(
    failing: Int
  ) async throws {
    try await EngineWorld.with { world in
      world.server.withStore {
        $0.faults.lackedPurchases = 1
        $0.faults.lackingReadings = nil
        $0.faults.failingRefreshes = failing
      }
      let engine = try await world.open()
      try await world.buy(engine, delivery: StoreDelivery(proofs: [.appReceipt]))
      // Read silently, time and again, until the entry is parked.
      try await until { try await engine.snapshot().quarantined == 1 }
      #expect(try world.server.snapshot().prompts == 0)
      #expect(try world.server.snapshot().receiptReadings > 2)
      for _ in 0..<failing {
        await #expect(throws: SyncError.store(reason: "the receipt could not be refreshed")) {
          try await engine.refreshReceipt()
        }
      }
      try await engine.refreshReceipt()
      #expect(try world.server.snapshot().prompts == failing + 1)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
      #expect(try world.server.snapshot().prompts == failing + 1)
    }
  }

  @Test func `of a refreshed receipt everything is taken for which there is room`() async throws {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.limits = QueueLimits(entries: 1)
      let engine = try await world.open()
      await engine.park()
      let delivery = StoreDelivery(proofs: [.appReceipt])
      for _ in 1...2 { _ = try await world.pay(delivery: delivery) }
      await #expect(throws: SyncError.queue(.queueFull(.entries, needed: 2, allowed: 1))) {
        try await engine.refreshReceipt()
      }
      let snapshot = try await engine.snapshot()
      #expect(snapshot.unsettled == 1)
      #expect(snapshot.isStoreHoldingMore)
      try await engine.wake(.foreground)
      try await until {
        for outcome in try await engine.snapshot().outcomes { try await engine.confirm(outcome) }
        return try world.server.snapshot().charges.allSatisfy(\.isFinished)
      }
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered(2)
    }
  }

  @Test func `of a thousand that do not fit the app is told once each, and all are delivered in the end`()
    async throws
  {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.limits = QueueLimits(entries: 4)
      for _ in 1...40 { _ = try await world.pay() }
      let engine = try await world.open()
      let told = Told()
      let events = try await engine.eventStream()
      let listener = Task {
        for await event in events {
          if case .queueFull(let key, _) = event { await told.add(key) }
          if case .delivered(let outcome) = event { try await engine.confirm(outcome) }
        }
      }
      try await until { try world.server.snapshot().charges.allSatisfy(\.isFinished) }
      await engine.shutdown()
      listener.cancel()
      try world.expectAllDelivered(40)
      let keys = await told.keys
      #expect(keys.count == Set(keys).count && keys.count <= 36)
      // One listing for each round of four, and those of the first seconds: not one for each purchase.
      let listings = try world.server.snapshot().requests["GET /store/unfinished"] ?? 0
      #expect(listings < 40, "\(listings) listings")
    }
  }

  @Test func `what the file could not take is asked for again, although nobody wakes the engine`()
    async throws
  {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      try await engine.execute("PRAGMA query_only=1")
      let transaction = try await world.pay()
      await #expect(throws: SyncError.self) { try await engine.receive(transaction) }
      try await engine.execute("PRAGMA query_only=0")
      try await until { try world.server.snapshot().charges.allSatisfy(\.isFinished) }
      await engine.shutdown()
      try world.expectAllDelivered(1)
    }
  }

  private actor Told {
    var keys: [EntryKey] = []
    func add(_ key: EntryKey) { keys.append(key) }
  }

  // MARK: The clock

  @Test func `after the clock went ahead, a wait from before it holds up nothing`() async throws {
    // A wait of most of an hour, then a failure that costs milliseconds.
    let plan = FaultPlan.refusal(status: 503, retryAfter: .seconds(3_000), requests: 1).merging(
      .requestLost(path: "/v1/receipts", occurrence: 2))
    try await EngineWorld.with(plan) { world in
      var world = world
      let clock = SettableClock()
      world.configuration.now = { clock.now() }
      world.configuration.retry.horizonMilliseconds = 86_400_000
      let engine = try await world.open()
      try await world.buy(engine)
      try await until { try await engine.snapshot().lanes.contains { $0.isWaiting } }
      clock.jump(by: 36_000_000)
      try await engine.wake(.userAsked)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
      #expect(try world.uploads() == 3)
    }
  }
}

extension LaneStatus {
  var isWaiting: Bool { if case .waiting = state { true } else { false } }
}

/// A clock that somebody sets.
final class SettableClock: @unchecked Sendable {
  private let lock = NSLock()
  private var offset: Int64 = 0

  func now() -> Timestamp { Timestamp.wallClock().adding(milliseconds: lock.withLock { offset }) }
  func jump(by milliseconds: Int64) { lock.withLock { offset += milliseconds } }
}

extension SyncEngine {
  /// Runs SQL on the engine's own connection.
  fileprivate func execute(_ sql: String) throws {
    try withFile { (file) throws(QueueError) in
      try file.queue.read { () throws(SQLiteError) in try file.queue.connection.execute(sql) }
    }
  }
}
