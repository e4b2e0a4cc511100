import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// Many outcomes, slow readers, kills and other processes: each outcome reaches the app.
@Suite struct OutcomeBacklogTests {
  private static func fill(_ app: LabApp, _ count: Int) async throws {
    for _ in 0..<count { _ = try await app.store.pay(product: ShopLab.gems, quantity: 1, accountToken: nil) }
  }

  /// `fulfil` takes a second each, and the app is killed in between. A long run has 700 of them.
  @Test func `each of many outcomes is given to fulfil at least once, though the app is killed`() async throws
  {
    try await ShopLab.run { lab in
      let (phone, count, keys) = (
        lab.phone(), LongTests.count(short: 150, long: 700), Locked<Set<EntryKey>>([])
      )
      try await phone.launch { app in try await Self.fill(app, count) }
      for launch in 0..<2 {
        try await phone.launch { app in
          let shop = app.shop { outcome in
            try await app.sleep(1_000)
            keys.withLock { _ = $0.insert(outcome.key) }
          }
          let engine = try await shop.syncEngine()
          guard launch > 0 else { return try await lab.pass(.seconds(count / 2)) }
          try await lab.pass(.seconds(3_600))
          let rest = try await engine.snapshot()
          #expect(rest.outcomes.isEmpty)
          #expect(rest.purchases.isEmpty)
          #expect(rest.outcomesForgotten == 0)
        }
      }
      #expect(keys.value.count == count)
    }
  }

  @Test(arguments: LongTests.some([false, true], every: 2))
  func `a reader that fell behind gets what its buffer dropped`(confirms: Bool) async throws {
    try await ShopLab.launch { lab, app in
      let count = EventStreams.capacity + 200
      try await Self.fill(app, count)
      let engine = try await SyncEngine.open(
        app.configuration, store: app.store, transport: app.backend, credentials: { "token-" + $0.account })
      let stream = try await engine.eventStream()
      try await lab.pass(.seconds(120))
      let state = try await engine.snapshot()
      #expect(state.outcomes.count == count)
      #expect(state.droppedEvents > 0)
      var keys: Set<EntryKey> = []
      for await event in stream {
        guard let outcome = event.outcome else { continue }
        keys.insert(outcome.key)
        if confirms { try await engine.confirm(outcome) }
        if keys.count == count { break }
      }
      #expect(keys.count == count)
      await engine.shutdown()
    }
  }

  /// The extension has a network. It queues and sends; the app's `fulfil` is the app's.
  @Test(arguments: [false, true])
  func `the app in front gets what its extension has delivered`(hasQueued: Bool) async throws {
    try await ShopLab.launch { lab, app in
      let (book, isDown) = (OutcomeBook(), Locked(false))
      let backend = RecordingTransport(app.backend) { request in
        isDown.value && request.path == "v1/receipts" ? BackendResponse(status: 503, body: Data()) : nil
      }
      let shop = app.shop(backend: backend) { book.take($0) }
      try await shop.resume()
      if hasQueued {
        isDown.withLock { $0 = true }
        #expect(try await shop.purchase(ShopLab.gems, for: "alice") == .pending(.delivery))
      } else {
        try await lab.pass(.seconds(3_600))
        try await Self.fill(app, 1)
      }
      let other = try await SyncEngine.open(
        app.configuration, store: app.store, transport: app.backend, credentials: { "token-" + $0.account })
      try await lab.until { try lab.server.snapshot().credits.count == 1 }
      try await lab.pass(.seconds(10))
      await other.shutdown()
      isDown.withLock { $0 = false }
      try await lab.pass(.seconds(hasQueued ? 120 : 7_200))
      #expect(book.products == [ShopLab.gems])
      await shop.close()
    }
  }

  // MARK: Lists that never end

  /// Yields its numbers, and then nothing and no end.
  private struct Endless: AsyncSequence, Sendable {
    var count: Int
    var hangs = true
    func makeAsyncIterator() -> Iterator { Iterator(left: count, hangs: hangs) }
    struct Iterator: AsyncIteratorProtocol {
      var left: Int
      let hangs: Bool
      mutating func next() async -> Int? {
        guard left == 0 else {
          left -= 1
          return left
        }
        // As a call that ignores its cancellation.
        if hangs { await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
        return nil
      }
    }
  }

  @Test func `outcomes that the installation let go are counted in the status`() async throws {
    try await ShopLab.launch { lab, app in
      var configuration = app.configuration
      configuration.limits = QueueLimits(unconfirmedOutcomes: 2)
      let shop = app.shop(waiting: .zero, configuration: configuration) { _ in throw Wallet.Failure() }
      for _ in 0..<5 { _ = try await shop.purchase(ShopLab.gems, for: "alice", isAnother: true) }
      try await lab.until { try lab.server.snapshot().charges.allSatisfy(\.isFinished) }
      #expect(await shop.status().outcomesForgotten == 3)
      await shop.close()
    }
  }

  @Test(arguments: [0, 1, 100], [false, true])
  func `of a list that yields and never ends, what came counts`(count: Int, hangs: Bool) async {
    let (begun, quiet) = (Locked(0), Gate())
    quiet.close()
    let (elements, isComplete) = await EndlessSequence.elements(
      of: Endless(count: count, hangs: hangs), quietMilliseconds: 50,
      patience: { _ in
        // Each element has its own limit, and so has what comes after the last one. The limits of the elements are
        // cancelled before that one begins. A list that ends has no quiet time.
        let limits = begun.withLock { limits in
          limits += 1
          return limits
        }
        if hangs, limits > count { quiet.open() }
        await quiet.pass(ignoringCancellation: false)
        try Task.checkCancellation()
      })
    #expect(elements.count == count)
    #expect(isComplete == !hangs)
  }

  /// Its list never comes, and a call that finds nothing to finish never returns.
  private struct EndlessStore: SellingStore {
    let inner: MockStoreClient
    let hang: @Sendable () async throws -> Void
    var updates: AsyncStream<StoreTransaction> { inner.updates }
    func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
    func unfinished() async throws -> StoreListing {
      try await hang()
      return try await inner.unfinished()
    }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      let results = try await inner.finish(transactionIDs: transactionIDs)
      if results.values.contains(.notListed) { try await hang() }
      return results
    }
  }

  @Test func `what was paid before a kill is delivered, though the store's list never comes`() async throws {
    try await ShopLab.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      try await phone.payAndDie()
      try await phone.launch { app in
        let store = EndlessStore(inner: app.store, hang: { try await app.sleep(300 * 86_400_000) })
        let shop = app.shop(store: store) { book.take($0) }
        try await shop.signedIn(as: "alice")
        for _ in 0..<5 {
          try await lab.pass(.seconds(86_400))
          try await shop.retryNow()
        }
        #expect(book.products == [ShopLab.gems])
        #expect(await shop.status().lateCalls.map(\.subject).contains("unfinished"))
        await shop.close()
      }
    }
  }

  /// Its list has what was paid, and is not complete.
  private struct PartialStore: SellingStore {
    let inner: MockStoreClient
    var updates: AsyncStream<StoreTransaction> { inner.updates }
    func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
    func unfinished() async throws -> StoreListing {
      var listing = try await inner.unfinished()
      listing.isComplete = false
      return listing
    }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  @Test func `what an incomplete list has is delivered, and what it lacks is not called done`() async throws {
    try await ShopLab.run { lab in
      let (phone, book) = (lab.phone(), OutcomeBook())
      try await phone.payAndDie()
      try await phone.launch { app in
        let shop = app.shop(store: PartialStore(inner: app.store)) { book.take($0) }
        try await shop.signedIn(as: "alice")
        try await lab.pass(.seconds(60))
        #expect(book.products == [ShopLab.gems])
        #expect(try lab.server.snapshot().charges.allSatisfy(\.isFinished))
        await shop.close()
      }
    }
  }
}
