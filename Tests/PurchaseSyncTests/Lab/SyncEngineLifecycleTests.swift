import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// Background, foreground and shutdown with a real file and over HTTP, while one part of the app hangs.
@Suite struct SyncEngineLifecycleTests {
  /// The parts of an app that may hang.
  enum Hanging: CaseIterable, Sendable {
    case request, requestThatIgnoresItsCancellation, credentials
  }

  private let alice = Lane.account("alice")

  /// An engine with an upload that hangs.
  private func openHanging(
    _ fixture: EngineFixture, _ what: Hanging, _ gate: Gate
  ) async throws -> SyncEngine {
    let engine: SyncEngine
    switch what {
    case .request, .requestThatIgnoresItsCancellation:
      engine = try await fixture.open(
        transport: GatedTransport(
          inner: fixture.transport, gate: gate,
          ignoresCancellation: what == .requestThatIgnoresItsCancellation)
      )
    case .credentials:
      engine = try await fixture.open(credentials: { request in
        await gate.pass()
        return "token-" + request.account
      })
    }
    let order = try await engine.begin(product: EngineFixture.product, account: "alice")
    gate.close()
    try await engine.receive(try await fixture.pay(token: order.accountToken))
    try await until { gate.arrivals == 1 }
    return engine
  }

  // MARK: Background

  @Test(arguments: Hanging.allCases)
  func `a suspended engine releases its lanes, and resumes in the foreground`(
    what: Hanging
  ) async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      let engine = try await openHanging(fixture, what, gate)
      // The lease is taken once the request is prepared, and preparing it needs the credentials.
      #expect(try fixture.isFree(alice) == (what == .credentials))
      #expect(try await engine.snapshot().lanes.map(\.state) == [.uploading])
      await engine.suspend(within: 0)
      #expect(try fixture.isFree(alice))
      #expect(try await engine.snapshot().lanes == [LaneStatus(lane: alice, entries: 1, state: .suspended)])
      gate.open()
      try await engine.wake(.foreground)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  @Test(arguments: [Double.nan, -1, 0, 1e-9])
  func `suspending ends for any number of seconds`(seconds: Double) async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      let engine = try await openHanging(fixture, .request, gate)
      await engine.suspend(within: seconds)
      #expect(try fixture.isFree(alice))
      await engine.shutdown()
      gate.open()
    }
  }

  #if os(Linux)
    @Test func `a suspended engine has no lock on its file`() async throws {
      try await EngineFixture.with { fixture in
        let engine = try await fixture.open()
        try await fixture.buy(engine)
        let path = fixture.configuration.path
        try await until { try !FileLocks.lines(of: path).isEmpty }
        await engine.suspend(within: 0)
        // A child of another test has the locks of this process between fork and exec.
        try await until { try FileLocks.lines(of: path) == [] }
        await engine.shutdown()
      }
    }
  #endif

  @Test func `suspending does not copy a long log into the file`() async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      let engine = try await openHanging(fixture, .request, gate)
      func log() throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.configuration.path + "-wal")
        return attributes[.size] as? Int ?? 0
      }
      for number in 0..<30 {
        let proof = Payload(
          kind: "signedTransaction", bytes: Array(repeating: UInt8(number), count: 30_000))
        try await engine.receive(
          StoreTransaction(
            environment: .production, transactionID: "9\(number)", originalTransactionID: "9\(number)",
            productID: EngineFixture.product, quantity: 1, purchasedAt: Timestamp(milliseconds: 1),
            accountToken: nil, proof: proof))
      }
      let before = try log()
      #expect(before > 512 << 10)
      await engine.suspend(within: 0)
      #expect(try log() >= before, "the log is copied in a pause of the foreground")
      gate.open()
      await engine.shutdown()
    }
  }

  @Test func `a request that is answered in time is not cancelled`() async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      let engine = try await openHanging(fixture, .request, gate)
      async let suspended: Void = engine.suspend(within: .infinity)
      try await until { await engine.isSuspended }
      gate.open()
      await suspended
      #expect(try await engine.snapshot().unsettled == 0)
      #expect(gate.arrivals == 1)
      await engine.shutdown()
      #expect(try fixture.uploads() == 1)
    }
  }

  @Test func `a purchase in the background is durable, and goes up in the foreground`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      await engine.suspend()
      try await fixture.buy(engine)
      // Neither the network nor a sign-in brings an app to the foreground.
      try await engine.wake(.networkBack)
      try await engine.wake(.signedIn(account: "alice"))
      #expect(try await engine.snapshot().lanes.map(\.state) == [.suspended])
      #expect(try fixture.uploads() == 0)
      try await engine.wake(.foreground)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  @Test func `an engine whose file is opened again in the background sends nothing before the foreground`()
    async throws
  {
    try await EngineFixture.with { fixture in
      let store = GatedStore(inner: fixture.store)
      store.listing.close()
      let engine = try await fixture.open(store: store)
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      let paid = try await fixture.pay(token: order.accountToken)
      // The file is open as long as the store does not answer.
      async let suspended: Void = engine.suspend(within: .infinity)
      try await until { await engine.isSuspended }
      #expect(try await engine.snapshot().unsettled == 0)
      for suffix in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: fixture.configuration.path + suffix)
      }
      await #expect(throws: SyncError.queue(.replaced(path: fixture.configuration.path))) {
        try await engine.receive(paid)
      }
      try await engine.receive(paid)
      store.listing.open()
      await suspended
      #expect(try await engine.snapshot().lanes.map(\.state) == [.suspended])
      #expect(try fixture.uploads() == 0)
      try await engine.wake(.foreground)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  @Test func `a foreground wake-up while the engine suspends does not cancel the upload`() async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      let engine = try await openHanging(fixture, .request, gate)
      async let suspended: Void = engine.suspend(within: 3_600)
      try await until { await engine.isSuspended }
      try await engine.wake(.foreground)
      await suspended
      #expect(try await engine.snapshot().lanes.map(\.state) == [.uploading])
      gate.open()
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
      #expect(try fixture.uploads() == 1)
    }
  }

  @Test(arguments: 1...8)
  func `a foreground wake-up at the moment of the cancellation sends again`(run: Int) async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      let engine = try await openHanging(fixture, .request, gate)
      async let suspended: Void = engine.suspend(within: 0)
      async let woken: Void = engine.wake(.foreground)
      await suspended
      try await woken
      gate.open()
      // The foreground may have come before the suspension. Otherwise no other event wakes the lane.
      if await engine.isSuspended { try await engine.wake(.foreground) }
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  // MARK: Shutdown

  @Test(arguments: Hanging.allCases)
  func `an engine that ends in the middle of an upload leaves the lane to the next one`(
    what: Hanging
  ) async throws {
    try await EngineFixture.with { fixture in
      let gate = Gate()
      let engine = try await openHanging(fixture, what, gate)
      await engine.shutdown()
      #expect(try fixture.isFree(alice))
      let next = try await fixture.open()
      let told = try await events(next) { $0.outcome != nil }
      #expect(
        !told.contains { if case .waiting = $0 { true } else { false } }, "the lane is free")
      gate.open()
      try await fixture.finishAll(next)
      await next.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  @Test func `after a shutdown the store is not asked again`() async throws {
    try await EngineFixture.with { fixture in
      let store = GatedStore(inner: fixture.store)
      store.listing.close()
      let engine = try await fixture.open(store: store)
      try await until { store.listing.arrivals == 1 }
      try await engine.wake()
      await engine.shutdown()
      #expect(store.listing.arrivals == 1)
      await #expect(throws: SyncError.queue(.closed(path: fixture.configuration.path))) {
        try await engine.wake()
      }
      await engine.shutdown()
      await engine.suspend()
      store.listing.open()
    }
  }

  @Test func `sequences of events end with the engine`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      let stream = try await engine.eventStream()
      let listener = Task { for await _ in stream {} }
      await engine.shutdown()
      await listener.value
    }
  }

  // MARK: Start

  @Test(arguments: ["a directory", "another file"])
  func `nothing is sent over the network before the queue is open`(what: String) async throws {
    try await EngineFixture.with { fixture in
      let path = fixture.configuration.path
      if what == "a directory" {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      } else {
        try Data("no SQLite database, but long enough to hold the header of one".utf8)
          .write(to: URL(filePath: path))
      }
      let store = GatedStore(inner: fixture.store)
      store.listing.close()
      await #expect(throws: SyncError.self) { try await fixture.open(store: store) }
      #expect(store.listing.arrivals == 0)
      #expect(try fixture.server.snapshot().requestCount == 0)
    }
  }

  @Test func `whatever page of the file is lost, the engine starts and takes a purchase`() async throws {
    try await EngineFixture.with(.outage(path: "/v1/receipts", requests: 1_000)) { fixture in
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      await engine.shutdown()
      let path = fixture.configuration.path
      do {
        // The log is copied to the file.
        let queue = try QueueFile(path: path, now: .wallClock())
        try queue.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      }
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      for start in stride(from: 0, to: whole.count, by: 1_024) {
        var fixture = fixture
        fixture.configuration.path = path + "-\(start)"
        var damaged = whole
        damaged.replaceSubrange(start..<start + 1_024, with: Data(repeating: 0xA5, count: 1_024))
        try damaged.write(to: URL(fileURLWithPath: fixture.configuration.path))
        let opened = try await fixture.open()
        // The first commit: it waits for the check of the whole file.
        try await fixture.buy(opened)
        await opened.shutdown()
      }
    }
  }

  @Test(arguments: [true, false])
  func `a launch with many redelivered transactions that are settled sends nothing`(
    isFinishPending: Bool
  ) async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.limits = QueueLimits(entries: 2_000)
      let moment = Timestamp.wallClock()
      try fixture.server.withStore { (store) throws(StoreModelError) in
        for _ in 0..<LongTests.count(short: 100, long: 1_000) {
          _ = try store.pay(
            product: EngineFixture.product, quantity: 1, accountToken: nil, storeAccount: "apple-id",
            now: moment)
        }
      }
      try settle(
        try await fixture.store.unfinished(), isFinishPending: isFinishPending, fixture.configuration)
      let engine = try await fixture.open()
      let stream = try await engine.eventStream()
      try await until {
        fixture.server.withStore { $0.unfinished(storeAccount: "apple-id").isEmpty }
      }
      try await fixture.finishAll(engine)
      await engine.shutdown()
      var told: [SyncEvent] = []
      for await event in stream { told.append(event) }
      #expect(told == [])
      let requests = try fixture.server.snapshot().requests.keys.filter { $0.contains("/v1/") }
      #expect(requests == [])
    }
  }

  /// Transactions as an earlier run left them: settled, seen, and perhaps not finished.
  private func settle(
    _ listing: StoreListing, isFinishPending: Bool, _ configuration: SyncConfiguration
  ) throws {
    let file = try SyncFile(
      queue: QueueFile(path: configuration.path, limits: configuration.limits, now: Timestamp.wallClock()))
    try file.queue.transaction { () throws(QueueError) in
      for transaction in listing.transactions {
        let now = transaction.purchasedAt
        let match = try OrderMatcher.match(transaction, from: file)
        _ = try file.enqueue(transaction, match, storeAccount: listing.account, now: now)
        _ = try file.acknowledge([SettledClaim(key: transaction.key, verdict: .granted)], now: now)
        try file.markConfirmed(transaction.key)
        if !isFinishPending { try file.markFinished(transaction.key) }
      }
    }
  }
}
