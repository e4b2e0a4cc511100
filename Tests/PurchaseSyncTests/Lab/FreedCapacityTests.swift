import MemoryModels
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The store keeps what the queue has no capacity for. Whatever frees some, the store is asked soon, without a wake.
@Suite struct FreedCapacityTests {
  /// Its updates never come, and while it is closed it finishes nothing.
  private struct StubbornStore: SellingStore {
    let inner: MockStoreClient
    let finishes = Locked(false)

    var updates: AsyncStream<StoreTransaction> { AsyncStream { _ in } }
    func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
    func unfinished() async throws -> StoreListing { try await inner.unfinished() }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      guard finishes.value else { throw SyncError.store(reason: "a test") }
      return try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  @Test func `a finish that the store takes late frees what it took`() async throws {
    try await ShopLab.launch { lab, app in
      let (store, book) = (StubbornStore(inner: app.store), OutcomeBook())
      var configuration = app.configuration
      // One settled purchase that the store does not finish takes all of it.
      configuration.limits.tombstoneBytes = 1
      let shop = app.shop(store: store, configuration: configuration) { book.take($0) }
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      _ = try await app.store.pay(product: ShopLab.coins, quantity: 1, accountToken: nil)
      try await lab.pass(.seconds(10))
      try await shop.retryNow()
      try await lab.pass(.seconds(10))
      #expect(book.products == [ShopLab.gems])
      store.finishes.withLock { $0 = true }
      try await lab.pass(.seconds(120))
      #expect(book.products == [ShopLab.gems, ShopLab.coins])
      await shop.close()
    }
  }

  /// Alice's purchase is in flight, and the store keeps another one because of the duties of settled ones.
  private func full() throws -> MachineRun {
    var run = try MachineRun()
    _ = try run.purchase("100", token: 1, .granted)
    run.machine.storeOverflows(.tombstoneBytes)
    return run
  }

  @Test func `a duty that ends has the store asked`() throws {
    var finished = try full()
    #expect(try finished.finishEnded(key("100"), .finished).contains(.listStore))
    var confirmed = try full()
    #expect(try confirmed.confirm(key("100")).contains(.listStore))
    var listed = try full()
    _ = try listed.finishEnded(key("100"), .notListed)
    #expect(try listed.listed([]).contains(.listStore))
    #expect(try !listed.listed([]).contains(.listStore), "nothing more was freed")
  }

  @Test func `a duty that ends frees nothing of a queue that is full of entries`() throws {
    var run = try full()
    run.machine.storeOverflows(.entries)
    #expect(try run.finishEnded(key("100"), .finished) == [])
    #expect(try run.confirm(key("100")) == [])
  }

  @Test func `an upload that hangs in another lane holds nothing up`() throws {
    var run = try MachineRun(limits: QueueLimits(entries: 2))
    run.storage.book.add(9, account: "bob", product: "coins")
    _ = try run.arrive(bought("100", token: 1))
    _ = try run.arrive(payment("200", token: orderToken(9), product: "coins"))
    #expect(throws: QueueError.self) { try run.arrive(bought("102", token: 2)) }
    #expect(run.reply(["100": .granted]).contains(.listStore))
  }
}
