import AppStoreReceipts
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What it costs if the store delivers many purchases at once: listings, requests and commits, never seconds.
@Suite struct RedeliveryTests {
  /// More than three times the 64 entries of the queue.
  private static let many = 200
  private static let rounds = 4

  private final class Passed: Sendable {
    private let all = Locked<[Checkpoint]>([])
    var checkpoints: [Checkpoint] { all.value }
    func add(_ checkpoint: Checkpoint) { all.withLock { $0.append(checkpoint) } }

    /// How many times `second` came directly after `first`, if nothing else is looked at.
    func changes(from first: Checkpoint, to second: Checkpoint) -> Int {
      let both = checkpoints.filter { $0 == first || $0 == second }
      return zip(both, both.dropFirst()).count { $0 == first && $1 == second }
    }
  }

  private func pay(_ count: Int, in fixture: EngineFixture) throws {
    try fixture.server.withStore { (store) throws(StoreModelError) in
      for _ in 0..<count {
        _ = try store.pay(
          product: EngineFixture.product, quantity: 1, accountToken: nil, storeAccount: "apple-id",
          now: Timestamp.wallClock())
      }
    }
  }

  /// The app shows outcomes and confirms them in groups, until the store keeps nothing.
  private func confirmAll(_ engine: SyncEngine, in fixture: EngineFixture) async throws {
    try await until {
      try await engine.confirm(all: try await engine.snapshot().outcomes)
      let isKept = fixture.server.withStore { !$0.unfinished(storeAccount: "apple-id").isEmpty }
      let state = try await engine.snapshot()
      return !isKept && state == SyncSnapshot()
    }
  }

  @Test func `many redelivered purchases cost no listing, upload or commit each`() async throws {
    try await EngineFixture.with { fixture in
      let passed = Passed()
      var fixture = fixture
      fixture.configuration.checkpoint = { passed.add($0) }
      try pay(Self.many, in: fixture)
      let engine = try await fixture.open()
      try await confirmAll(engine, in: fixture)
      await engine.shutdown()
      try fixture.expectAllDelivered(Self.many)
      let requests = try fixture.server.snapshot().requests
      #expect(requests["POST /v1/receipts"] == Self.rounds)
      #expect(try #require(requests["GET /store/unfinished"]) <= 3)
      // Finishes wait for a free call, so some may be divided.
      #expect(try #require(requests["POST /store/finish"]) <= 2 * Self.rounds)
      // Each commit of a group comes after all of its beginnings.
      #expect(passed.checkpoints.count { $0 == .enqueueCommitted } == Self.many)
      #expect(passed.changes(from: .enqueueBegin, to: .enqueueCommitted) == Self.rounds)
      #expect(passed.checkpoints.count { $0 == .finishCommitted } == Self.many)
      #expect(passed.changes(from: .finishCalled, to: .finishCommitted) <= 2 * Self.rounds)
    }
  }

  @Test func `a refund that arrives by itself wins over an older copy that waits`() async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      gate.close()
      try pay(100, in: fixture)
      let engine = try await fixture.open(transport: GatedTransport(inner: fixture.transport, gate: gate))
      try await until { gate.arrivals == 1 }
      // One of those that wait is refunded, and the store says so at once. It does not fit either.
      let last = try #require(fixture.server.snapshot().charges.last?.transactionID)
      try fixture.server.withStore { (store) throws(StoreModelError) in
        _ = try store.refund(transactionID: last, now: Timestamp.wallClock())
      }
      let told = try #require(
        try await fixture.store.unfinished().transactions.first { $0.transactionID == last })
      await #expect(throws: SyncError.self) { try await engine.receive(told) }
      gate.open()
      try await confirmAll(engine, in: fixture)
      await engine.shutdown()
      let log = try fixture.server.snapshot()
      #expect(log.verdicts.filter { $0.transactionID == last }.map(\.verdict) == [.refunded])
      #expect(log.credits.count == 99 && !log.charges.contains { !$0.isFinished })
    }
  }

  @Test func `the app is warned of each purchase of a listing that the vault does not hold`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.vault = DirectoryVault(directory: fixture.directory + "/full", totalBytes: 10)
      try pay(3, in: fixture)
      let engine = try await fixture.open()
      var warned: Set<EntryKey> = []
      for event in try await events(engine, until: { $0.outcome != nil }) {
        if case .unprotected(let key) = event { warned.insert(key) }
      }
      #expect(warned.count == 3)
      try await confirmAll(engine, in: fixture)
      await engine.shutdown()
      try fixture.expectAllDelivered(3)
    }
  }

  @Test func `one purchase that cannot be stored takes no other one along`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open(
        store: LongNames(inner: fixture.store, unfit: try await longNamed(in: fixture)))
      try await until { try fixture.server.snapshot().charges.count { !$0.isFinished } == 1 }
      try await confirmed(engine)
      await engine.shutdown()
      #expect(try fixture.server.snapshot().credits.count == 4)
    }
  }

  private func longNamed(in fixture: EngineFixture) async throws -> String {
    try pay(5, in: fixture)
    return try #require(try fixture.server.snapshot().charges.dropFirst(2).first?.transactionID)
  }

  private func confirmed(_ engine: SyncEngine) async throws {
    try await until {
      try await engine.confirm(all: try await engine.snapshot().outcomes)
      let state = try await engine.snapshot()
      return state.outcomes.isEmpty && state.purchases.isEmpty
    }
  }

  /// One transaction has a product's name that is too long for the queue.
  private struct LongNames: StoreClient {
    let inner: MockStoreClient
    let unfit: String

    func unfinished() async throws -> StoreListing {
      var listing = try await inner.unfinished()
      for index in listing.transactions.indices where listing.transactions[index].transactionID == unfit {
        listing.transactions[index].productID = String(repeating: "x", count: 20_000)
      }
      return listing
    }

    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  @Test func `outcomes that are confirmed together are not told again`() async throws {
    try await EngineFixture.with { fixture in
      try pay(5, in: fixture)
      let engine = try await fixture.open()
      try await until { try await engine.snapshot().outcomes.count == 5 }
      let outcomes = try await engine.snapshot().outcomes
      try await engine.confirm(all: Array(outcomes.dropLast()))
      // The others are known no more, and are ignored.
      try await engine.confirm(all: outcomes + outcomes)
      #expect(try await engine.snapshot().outcomes == [])
      await engine.shutdown()
      await #expect(throws: SyncError.self) { try await engine.confirm(all: outcomes) }
      let next = try await fixture.open()
      #expect(try await next.snapshot().outcomes == [])
      await next.shutdown()
    }
  }

  // MARK: The machine

  @Test func `transactions that come together go in one upload`() throws {
    var run = try MachineRun()
    run.machine.holdSends()
    for (index, id) in ["100", "101", "102"].enumerated() {
      #expect(try run.arrive(bought(id, token: UInt8(index + 1))).sent.isEmpty)
    }
    #expect(run.machine.sendHeld(now: run.now).sent == [["100", "101", "102"]])
    #expect(run.machine.sendHeld(now: run.now).isEmpty)
  }

  @Test func `after the copies of an old list, the store is asked for the rest`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 1))
    _ = try run.arrive(bought("100", token: 1))
    #expect(throws: QueueError.self) { try run.arrive(bought("101", token: 2)) }
    _ = try run.listed([key("100"), key("101")])
    #expect(run.reply(["100": .granted]).contains(.listStore))
    // The driver hands in a copy of the second one. It is in flight when the copies are used up.
    #expect(try run.arrive(bought("101", token: 2)).sent == [["101"]])
    #expect(!run.machine.heldArrived(now: run.now).contains(.listStore))
    #expect(run.machine.isStoreHoldingMore)
    #expect(run.reply(["101": .granted]).contains(.listStore))
    _ = try run.listed([])
    #expect(!run.machine.isStoreHoldingMore)
  }
}
