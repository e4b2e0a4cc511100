import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The store over HTTP, with the faults that are normal there: finishes that fail or hang, repeated deliveries, receipts
/// without the paid transaction.
@Suite struct SyncEngineStoreTests {
  // MARK: Finishing

  private static let troubles: [(name: String, plan: FaultPlan)] = [
    ("it fails", .finishFails(times: 3)), ("its answer is lost", .finishAnswerLost(occurrence: 1)),
    ("it hangs and then works", .finishHangs(times: 1, for: .milliseconds(50))),
    ("it is lost", .requestLost(path: "/store/finish", occurrence: 1)),
  ]

  @Test(arguments: 0..<4, [false, true])
  func `a finish is repeated until it works, even if the store forgets finished transactions`(
    trouble: Int, forgetsFinished: Bool
  ) async throws {
    try await EngineFixture.with(Self.troubles[trouble].plan) { fixture in
      fixture.server.withStore { $0.faults.forgetsFinished = forgetsFinished }
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      try await until { fixture.server.withStore { $0.unfinished(storeAccount: "apple-id").isEmpty } }
      // The store does not list the transaction. The finish stays pending until a listing that begins later lacks it too.
      try await until {
        try await engine.wake(.foreground)
        return try await engine.snapshot().pendingFinishes == 0
      }
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
      #expect(try fixture.uploads() == 1, "\(Self.troubles[trouble].name)")
    }
  }

  @Test func `a finish that never returns is tried again, and the app gets the outcome meanwhile`()
    async throws
  {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.storeTimeLimit = .milliseconds(300)
      let store = GatedStore(inner: fixture.store)
      store.finishing.close()
      let engine = try await fixture.open(store: store)
      try await fixture.buy(engine)
      let told = try await events(engine) { $0.outcome != nil }
      try await engine.confirm(try #require(told.last?.outcome))
      try await until { store.finishing.arrivals >= 2 }
      #expect(try await engine.snapshot().pendingFinishes == 1)
      #expect(try fixture.server.snapshot().charges.map(\.isFinished) == [false])
      store.finishing.open()
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  @Test func `the next run does an pending finish`() async throws {
    try await EngineFixture.with { fixture in
      let store = GatedStore(inner: fixture.store)
      store.finishing.close()
      let engine = try await fixture.open(store: store)
      try await fixture.buy(engine)
      try await until { store.finishing.arrivals == 1 }
      await engine.shutdown()
      let next = try await fixture.open()
      try await fixture.finishAll(next)
      await next.shutdown()
      try fixture.expectAllDelivered()
      #expect(try fixture.uploads() == 1)
      store.finishing.open()
    }
  }

  // MARK: Deliveries

  @Test(arguments: [1, 3])
  func `a transaction that is delivered many times over both interfaces is one purchase`(
    copies: Int
  ) async throws {
    try await EngineFixture.with { fixture in
      fixture.server.withStore { $0.faults.listingCopies = copies }
      let gate = Gate()
      let engine = try await fixture.open(
        transport: GatedTransport(inner: fixture.transport, gate: gate))
      let stream = try await engine.eventStream()
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      gate.close()
      let paid = try await fixture.pay(token: order.accountToken, delivery: .twice)
      for _ in 0..<copies { try await engine.receive(paid) }
      try await engine.wake()
      try await until {
        // Both of its proofs are kept.
        try await engine.caseFile(for: paid.key)?.payloads.count == 2
      }
      #expect(try await engine.snapshot().purchases.map(\.orderNumber) == [order.number])
      gate.open()
      try await fixture.finishAll(engine)
      try await engine.receive(paid)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
      var told: [SyncEvent] = []
      for await event in stream { told.append(event) }
      #expect(told.count { if case .queued = $0 { true } else { false } } == 1)
      #expect(told.compactMap(\.outcome).count == 1)
    }
  }

  @Test func `an unverified transaction is uploaded with a mark, and is not finished before its verdict`()
    async throws
  {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      let bodies = Recording(inner: GatedTransport(inner: fixture.transport, gate: gate))
      let engine = try await fixture.open(transport: bodies)
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      gate.close()
      try await engine.receive(try await fixture.pay(token: order.accountToken, delivery: .unverified))
      try await until { gate.arrivals == 1 }
      try await engine.wake()
      #expect(try fixture.server.snapshot().requests["POST /store/finish"] == nil)
      #expect(bodies.texts.all.allSatisfy { $0.contains("\"unverified\":true") } && !bodies.texts.all.isEmpty)
      gate.open()
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  /// Records the uploads.
  private struct Recording: BackendTransport {
    let inner: any BackendTransport
    let texts = Texts()

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      if request.path == "v1/receipts" { texts.add(String(decoding: request.body, as: UTF8.self)) }
      return try await inner.send(request)
    }
  }

  private final class Texts: Sendable {
    private let texts = Locked<[String]>([])
    var all: [String] { texts.value }
    func add(_ text: String) { texts.withLock { $0.append(text) } }
  }

  // MARK: The app receipt

  @Test(arguments: [0, 1])
  func `no password prompt comes before the user asks, and a refreshed receipt delivers`(
    failing: Int
  ) async throws {
    try await EngineFixture.with { fixture in
      fixture.server.withStore {
        $0.faults.lackedPurchases = 1
        $0.faults.lackingReadings = nil
        $0.faults.failingRefreshes = failing
      }
      let engine = try await fixture.open()
      try await fixture.buy(engine, delivery: StoreDelivery(proofs: [.appReceipt]))
      // The receipt is read without a prompt, again and again, until the entry is quarantined.
      try await until { try await engine.snapshot().quarantined == 1 }
      #expect(try fixture.server.snapshot().prompts == 0)
      #expect(try fixture.server.snapshot().receiptReadings > 2)
      for _ in 0..<failing {
        await #expect(throws: SyncError.store(reason: "the receipt could not be refreshed")) {
          try await engine.refreshReceipt()
        }
      }
      try await engine.refreshReceipt()
      #expect(try fixture.server.snapshot().prompts == failing + 1)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
      #expect(try fixture.server.snapshot().prompts == failing + 1)
    }
  }

  @Test func `what fits of a refreshed receipt is queued at once, and the rest when there is capacity`()
    async throws
  {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.limits = QueueLimits(entries: 1)
      let engine = try await fixture.open()
      await engine.suspend()
      let delivery = StoreDelivery(proofs: [.appReceipt])
      for _ in 1...2 { _ = try await fixture.pay(delivery: delivery) }
      try await engine.refreshReceipt()
      let snapshot = try await engine.snapshot()
      #expect(snapshot.unsettled == 1)
      #expect(snapshot.isStoreHoldingMore)
      try await engine.wake(.foreground)
      try await until {
        for outcome in try await engine.snapshot().outcomes { try await engine.confirm(outcome) }
        return try fixture.server.snapshot().charges.allSatisfy(\.isFinished)
      }
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered(2)
    }
  }

  @Test func `of forty transactions, those that do not fit are reported once each, and all are delivered`()
    async throws
  {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.limits = QueueLimits(entries: 4)
      for _ in 1...40 { _ = try await fixture.pay() }
      let store = GatedStore(inner: fixture.store)
      // The list comes when the events are read: of earlier events only the latest are kept.
      store.listing.close()
      let engine = try await fixture.open(store: store)
      let events = try await engine.eventStream()
      let listener = Task { () async -> [EntryKey] in
        var keys: [EntryKey] = []
        for await event in events { if case .queueFull(let key, _) = event { keys.append(key) } }
        return keys
      }
      store.listing.open()
      try await until {
        for outcome in try await engine.snapshot().outcomes { try await engine.confirm(outcome) }
        return try fixture.server.snapshot().charges.allSatisfy(\.isFinished)
      }
      await engine.shutdown()
      try fixture.expectAllDelivered(40)
      // The events end with the engine.
      let keys = await listener.value
      #expect(keys.count == 36 && Set(keys).count == 36, "\(keys)")
      // There is one listing for each round of four, and a few in the first seconds; not one for each purchase.
      let listings = try fixture.server.snapshot().requests["GET /store/unfinished"] ?? 0
      #expect(listings < 40, "\(listings) listings")
    }
  }

  @Test func `a transaction that could not be stored is asked for again without a wake-up`()
    async throws
  {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      try await engine.execute("PRAGMA query_only=1")
      let transaction = try await fixture.pay()
      await #expect(throws: SyncError.self) { try await engine.receive(transaction) }
      try await engine.execute("PRAGMA query_only=0")
      try await until { try fixture.server.snapshot().charges.allSatisfy(\.isFinished) }
      await engine.shutdown()
      try fixture.expectAllDelivered(1)
    }
  }

  // MARK: The clock

  @Test func `after the clock went forward, an earlier wait delays no entry`() async throws {
    // A wait of most of an hour, then a failure that costs milliseconds.
    let plan = FaultPlan.refusal(status: 503, retryAfter: .seconds(3_000), requests: 1).merging(
      .requestLost(path: "/v1/receipts", occurrence: 2))
    try await EngineFixture.with(plan) { fixture in
      var fixture = fixture
      let clock = SettableClock()
      fixture.configuration.now = { clock.now() }
      fixture.configuration.retry.horizonMilliseconds = 86_400_000
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      try await until { try await engine.snapshot().lanes.contains { $0.isWaiting } }
      clock.jump(by: 36_000_000)
      try await engine.wake(.userAsked)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
      #expect(try fixture.uploads() == 3)
    }
  }
}

extension LaneStatus {
  var isWaiting: Bool { if case .waiting = state { true } else { false } }
}

/// A clock that a test sets.
final class SettableClock: Sendable {
  private let offset = Locked<Int64>(0)

  func now() -> Timestamp { Timestamp.wallClock().adding(milliseconds: offset.value) }
  func jump(by milliseconds: Int64) { offset.withLock { $0 += milliseconds } }
}

extension SyncEngine {
  /// Runs SQL on the engine's own connection.
  fileprivate func execute(_ sql: String) throws {
    try withFile { (file) throws(QueueError) in
      try file.queue.read { () throws(SQLiteError) in try file.queue.connection.execute(sql) }
    }
  }
}
