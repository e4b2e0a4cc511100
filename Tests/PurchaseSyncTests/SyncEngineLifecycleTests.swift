import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Background, foreground and the end, with a real file and over HTTP, while something hangs.
@Suite(.timeLimit(.minutes(4))) struct SyncEngineLifecycleTests {
  /// What an app brings along that may hang.
  enum Hanging: CaseIterable, Sendable {
    case request, requestThatIgnoresItsCancellation, credentials
  }

  private let alice = Lane.account("alice")

  /// An engine with an upload that hangs.
  private func openHanging(
    _ world: EngineWorld, _ what: Hanging, _ gate: Gate
  ) async throws -> SyncEngine {
    let engine: SyncEngine
    switch what {
    case .request, .requestThatIgnoresItsCancellation:
      engine = try await world.open(
        transport: GatedTransport(
          inner: world.transport, gate: gate, ignoresCancellation: what == .requestThatIgnoresItsCancellation)
      )
    case .credentials:
      engine = try await world.open(credentials: { account in
        await gate.pass()
        return "token-" + account
      })
    }
    let order = try await engine.begin(product: EngineWorld.product, account: "alice")
    gate.close()
    try await engine.receive(try await world.pay(token: order.accountToken))
    try await until { gate.arrivals == 1 }
    return engine
  }

  // MARK: Background

  @Test(arguments: Hanging.allCases)
  func `an engine that is parked lets go of its lanes, and goes on in the foreground`(
    what: Hanging
  ) async throws {
    try await EngineWorld.with { world in
      let gate = Gate()
      let engine = try await openHanging(world, what, gate)
      #expect(try !world.isFree(alice))
      #expect(try await engine.snapshot().lanes.map(\.state) == [.uploading])
      await engine.park(within: 0)
      #expect(try world.isFree(alice))
      #expect(try await engine.snapshot().lanes == [LaneStatus(lane: alice, entries: 1, state: .parked)])
      gate.open()
      try await engine.wake(.foreground)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }

  @Test(arguments: [Double.nan, -1, 0, 1e-9])
  func `whatever number of seconds it is, parking ends`(seconds: Double) async throws {
    try await EngineWorld.with { world in
      let gate = Gate()
      let engine = try await openHanging(world, .request, gate)
      await engine.park(within: seconds)
      #expect(try world.isFree(alice))
      await engine.shutdown()
      gate.open()
    }
  }

  @Test func `what is answered in time is not cancelled`() async throws {
    try await EngineWorld.with { world in
      let gate = Gate()
      let engine = try await openHanging(world, .request, gate)
      async let parked: Void = engine.park(within: .infinity)
      try await until { await engine.isParked }
      gate.open()
      await parked
      #expect(try await engine.snapshot().unsettled == 0)
      #expect(gate.arrivals == 1)
      await engine.shutdown()
      #expect(try world.uploads() == 1)
    }
  }

  @Test func `a purchase in the background is durable, and goes up in the foreground`() async throws {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      await engine.park()
      try await world.buy(engine)
      // Neither the network nor a sign-in brings an app to the foreground.
      try await engine.wake(.networkBack)
      try await engine.wake(.signedIn(account: "alice"))
      #expect(try await engine.snapshot().lanes.map(\.state) == [.parked])
      #expect(try world.uploads() == 0)
      try await engine.wake(.foreground)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }

  @Test func `a file that is opened anew in the background sends nothing before the foreground`() async throws
  {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      let order = try await engine.begin(product: EngineWorld.product, account: "alice")
      let paid = try await world.pay(token: order.accountToken)
      await engine.park()
      for suffix in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: world.configuration.path + suffix)
      }
      await #expect(throws: SyncError.queue(.replaced(path: world.configuration.path))) {
        try await engine.receive(paid)
      }
      try await engine.receive(paid)
      #expect(try await engine.snapshot().lanes.map(\.state) == [.parked])
      #expect(try world.uploads() == 0)
      try await engine.wake(.foreground)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }

  @Test func `a foreground that comes while the engine parks leaves the upload alone`() async throws {
    try await EngineWorld.with { world in
      let gate = Gate()
      let engine = try await openHanging(world, .request, gate)
      async let parked: Void = engine.park(within: 3_600)
      try await until { await engine.isParked }
      try await engine.wake(.foreground)
      await parked
      #expect(try await engine.snapshot().lanes.map(\.state) == [.uploading])
      gate.open()
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
      #expect(try world.uploads() == 1)
    }
  }

  @Test(arguments: 1...8)
  func `a foreground at the moment of the cancellation sends again`(run: Int) async throws {
    try await EngineWorld.with { world in
      let gate = Gate()
      let engine = try await openHanging(world, .request, gate)
      async let parked: Void = engine.park(within: 0)
      async let woken: Void = engine.wake(.foreground)
      await parked
      try await woken
      gate.open()
      // The foreground may have come first; else nothing else wakes the lane.
      if await engine.isParked { try await engine.wake(.foreground) }
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }

  // MARK: Shutdown

  @Test(arguments: Hanging.allCases)
  func `an engine that ends in the middle of an upload leaves the lane to the next one`(
    what: Hanging
  ) async throws {
    try await EngineWorld.with { world in
      let gate = Gate()
      let engine = try await openHanging(world, what, gate)
      await engine.shutdown()
      #expect(try world.isFree(alice))
      let next = try await world.open()
      let told = try await events(next) { $0.outcome != nil }
      #expect(
        !told.contains { if case .waiting = $0 { true } else { false } }, "nobody holds the lane any more")
      gate.open()
      try await world.finishAll(next)
      await next.shutdown()
      try world.expectAllDelivered()
    }
  }

  @Test func `after a shutdown the store is not asked again`() async throws {
    try await EngineWorld.with { world in
      let store = GatedStore(inner: world.store)
      store.listing.close()
      let engine = try await world.open(store: store)
      try await until { store.listing.arrivals == 1 }
      try await engine.wake()
      await engine.shutdown()
      #expect(store.listing.arrivals == 1)
      await #expect(throws: SyncError.queue(.closed(path: world.configuration.path))) {
        try await engine.wake()
      }
      await engine.shutdown()
      await engine.park()
      store.listing.open()
    }
  }

  @Test func `sequences of events end with the engine`() async throws {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      let stream = try await engine.eventStream()
      let listener = Task { for await _ in stream {} }
      await engine.shutdown()
      await listener.value
    }
  }

  // MARK: Start

  @Test(arguments: ["a directory", "another file"])
  func `nothing goes over the network before the queue is open`(what: String) async throws {
    try await EngineWorld.with { world in
      let path = world.configuration.path
      if what == "a directory" {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      } else {
        try Data("not a database of anybody's, but long enough to be one of them".utf8)
          .write(to: URL(filePath: path))
      }
      let store = GatedStore(inner: world.store)
      store.listing.close()
      await #expect(throws: SyncError.self) { try await world.open(store: store) }
      #expect(store.listing.arrivals == 0)
      #expect(try world.server.snapshot().requestCount == 0)
    }
  }

  @Test func `whatever page of the file is lost, the engine starts at the first call`() async throws {
    try await EngineWorld.with(.outage(path: "/v1/receipts", requests: 1_000)) { world in
      let engine = try await world.open()
      try await world.buy(engine)
      await engine.shutdown()
      let path = world.configuration.path
      do {
        // What is still in the log goes to the file.
        let queue = try QueueFile(path: path, now: .wallClock())
        try queue.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
      }
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      for start in stride(from: 0, to: whole.count, by: 1_024) {
        var world = world
        world.configuration.path = path + "-\(start)"
        var damaged = whole
        damaged.replaceSubrange(start..<start + 1_024, with: Data(repeating: 0xA5, count: 1_024))
        try damaged.write(to: URL(fileURLWithPath: world.configuration.path))
        let opened = try await world.open()
        await opened.shutdown()
      }
    }
  }

  @Test(arguments: [true, false])
  func `a launch with 1,000 redelivered transactions that are settled sends nothing`(
    isFinishOwed: Bool
  ) async throws {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.limits = QueueLimits(entries: 2_000)
      let moment = Timestamp.wallClock()
      try world.server.withStore { (store) throws(StoreModelError) in
        for _ in 0..<1_000 {
          _ = try store.pay(
            product: EngineWorld.product, quantity: 1, accountToken: nil, storeAccount: "apple-id",
            now: moment)
        }
      }
      try settle(try await world.store.unfinished(), isFinishOwed: isFinishOwed, world.configuration)
      let engine = try await world.open()
      let stream = try await engine.eventStream()
      try await until {
        world.server.withStore { $0.unfinished(storeAccount: "apple-id").isEmpty }
      }
      try await world.finishAll(engine)
      await engine.shutdown()
      var told: [SyncEvent] = []
      for await event in stream { told.append(event) }
      #expect(told == [])
      let requests = try world.server.snapshot().requests.keys.filter { $0.contains("/v1/") }
      #expect(requests == [])
    }
  }

  /// As a former run left them: settled, seen, and perhaps not finished.
  private func settle(
    _ listing: StoreListing, isFinishOwed: Bool, _ configuration: SyncConfiguration
  ) throws {
    let file = try SyncFile(
      queue: QueueFile(path: configuration.path, limits: configuration.limits, now: Timestamp.wallClock()))
    try file.queue.transaction { () throws(QueueError) in
      for transaction in listing.transactions {
        let now = transaction.purchasedAt
        let match = try OrderMatcher.match(transaction, from: file)
        _ = try file.enqueue(transaction, match, storeAccount: listing.account, now: now)
        _ = try file.acknowledge([SettledClaim(key: transaction.key, verdict: .granted)], now: now)
        try file.markSeen(transaction.key)
        if !isFinishOwed { try file.markFinished(transaction.key) }
      }
    }
  }
}
