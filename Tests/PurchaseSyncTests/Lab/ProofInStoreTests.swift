import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The proof of a purchase is too long for the queue: it is read from the store for each upload.
@Suite struct ProofInStoreTests {
  /// What is wrong with the next lists.
  private enum Fault {
    /// They are out of date.
    case areStale
    /// The next one fails.
    case nextFails
  }

  private struct FaultyStore: SellingStore {
    let inner: MockStoreClient
    let fault: Locked<Fault?>

    var updates: AsyncStream<StoreTransaction> { AsyncStream { _ in } }
    func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
    func unfinished() async throws -> StoreListing {
      switch fault.value {
      case .areStale: return StoreListing(account: "apple-id", transactions: [])
      case .nextFails:
        fault.withLock { $0 = nil }
        throw StoreError.productUnreachable(reason: "no connection")
      case nil: return try await inner.unfinished()
      }
    }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }

  private func withShop(
    _ fault: Locked<Fault?>,
    _ body: @escaping @Sendable (AppLab, LabApp, Shop, Locked<Int>) async throws -> Void
  ) async throws {
    try await ShopLab.launch { lab, app in
      let credits = Locked(0)
      var configuration = app.configuration
      configuration.limits = QueueLimits(payloadBytes: 4)
      let shop = app.shop(
        store: FaultyStore(inner: app.store, fault: fault), waiting: .zero, configuration: configuration
      ) { _ in credits.withLock { $0 += 1 } }
      try await body(lab, app, shop, credits)
      await shop.close()
    }
  }

  @Test func `a purchase that the store's list lacked is sent as soon as the store delivers it`() async throws
  {
    let fault = Locked<Fault?>(.areStale)
    try await withShop(fault) { lab, app, shop, credits in
      _ = try await shop.purchase(ShopLab.gems, for: "alice")
      try await lab.pass(.seconds(30))
      #expect(credits.value == 0)
      fault.withLock { $0 = nil }
      let engine = try await shop.syncEngine()
      for transaction in try await app.store.unfinished().transactions {
        try await engine.receive(transaction)
      }
      try await lab.pass(.seconds(60))
      #expect(credits.value == 1)
    }
  }

  @Test func `a purchase whose proof the store could not give once is credited within a minute`() async throws
  {
    let fault = Locked<Fault?>(nil)
    try await withShop(fault) { lab, app, shop, credits in
      let engine = try await shop.syncEngine()
      try await lab.pass(.seconds(30))
      let order = try await engine.begin(product: ShopLab.gems, account: "alice")
      let result = try await app.store.purchase(order)
      fault.withLock { $0 = .nextFails }
      try await engine.receive(result, for: order)
      try await lab.pass(.seconds(60))
      #expect(fault.value == nil, "the proof was asked for")
      #expect(credits.value == 1)
    }
  }
}
