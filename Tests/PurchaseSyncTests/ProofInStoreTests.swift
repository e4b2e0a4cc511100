import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The proof of a purchase is too long for the queue: it is read from the store for each upload.
@Suite struct ProofInStoreTests {
  /// Its list is out of date.
  private struct StaleStore: SellingStore {
    let inner: MockStoreClient
    let isStale: Locked<Bool>

    var updates: AsyncStream<StoreTransaction> { AsyncStream { _ in } }
    func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
    func unfinished() async throws -> StoreListing {
      isStale.value ? StoreListing(account: "apple-id", transactions: []) : try await inner.unfinished()
    }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  @Test func `a purchase that the store's list lacked is sent as soon as the store delivers it`() async throws
  {
    try await ShopLab.launch { lab, app in
      let (isStale, credits) = (Locked(true), Locked(0))
      var configuration = app.configuration
      configuration.limits = QueueLimits(payloadBytes: 4)
      let shop = app.shop(
        store: StaleStore(inner: app.store, isStale: isStale), waiting: .zero, configuration: configuration
      ) { _ in credits.withLock { $0 += 1 } }
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      try await lab.pass(.seconds(30))
      #expect(credits.value == 0)
      isStale.withLock { $0 = false }
      let engine = try await shop.syncEngine()
      for transaction in try await app.store.unfinished().transactions {
        try await engine.receive(transaction)
      }
      try await lab.pass(.seconds(60))
      #expect(credits.value == 1)
      await shop.close()
    }
  }
}
