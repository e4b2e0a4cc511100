import PurchaseQueue
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import Testing

@Suite struct RestoringTests {
  /// What alice bought on a phone, delivered and finished.
  private static func bought(_ products: [String], _ fixture: BuyingFixture) async throws
    -> [StoreTransaction]
  {
    let phone = try await fixture.open()
    var transactions: [StoreTransaction] = []
    for product in products { transactions.append(try await fixture.buy(product, phone).transaction) }
    try await fixture.deliverAll(phone)
    await phone.shutdown()
    return transactions
  }

  private static func open(
    _ store: OwningStore, _ fixture: BuyingFixture, limits: QueueLimits = QueueLimits()
  ) async throws -> SyncEngine {
    let accounts = fixture.accounts
    var configuration = try fixture.configuration("pad")
    configuration.currentAccount = { "alice" }
    configuration.limits = limits
    return try await SyncEngine.open(
      configuration, store: store, transport: fixture.transport,
      credentials: { accounts.token(of: $0.account) })
  }

  @Test func `a restore takes over what the store account owns, and reads no receipt`() async throws {
    try await BuyingFixture.with { fixture in
      let owned = try await Self.bought(["pro", "plan"], fixture)
      let store = OwningStore(fixture.store, owning: owned)
      let pad = try await Self.open(store, fixture)
      try await pad.restorePurchases()
      let state = try await snapshot(of: pad) { $0.outcomes.count == 2 && $0.purchases.isEmpty }
      #expect(Set(state.outcomes.compactMap { $0.purchase?.productID }) == ["pro", "plan"])
      #expect(state.outcomes.allSatisfy { $0.owner == .yours })
      #expect(store.syncs == 1)
      #expect(try fixture.server.snapshot().prompts == 0)
      #expect(try fixture.server.snapshot().doubledCredits == 0)
      await pad.shutdown()
    }
  }

  @Test func `a store that fetches nothing still restores what the device knows, and the user is told`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let store = OwningStore(fixture.store, owning: try await Self.bought(["pro"], fixture), isOffline: true)
      let pad = try await Self.open(store, fixture)
      await #expect(throws: SyncError.store(reason: "it did not fetch what other devices bought")) {
        try await pad.restorePurchases()
      }
      _ = try await snapshot(of: pad) { $0.outcomes.map(\.owner) == [.yours] }
      await pad.shutdown()
    }
  }

  @Test func `a store without a list of what it sold restores by its receipt`() async throws {
    try await BuyingFixture.with { fixture in
      _ = try await Self.bought(["pro"], fixture)
      let pad = try await Self.open(OwningStore(fixture.store, owning: nil), fixture)
      try await pad.restorePurchases()
      _ = try await snapshot(of: pad) { $0.outcomes.map(\.owner) == [.yours] }
      #expect(try fixture.server.snapshot().prompts == 1)
      await pad.shutdown()
    }
  }

  @Test func `no start, no listing and no wake asks for a password`() async throws {
    try await BuyingFixture.with { fixture in
      let store = OwningStore(fixture.store, owning: try await Self.bought(["pro"], fixture))
      let pad = try await Self.open(store, fixture)
      for reason in [WakeReason.foreground, .networkBack, .userAsked, .signedIn(account: "alice")] {
        try await pad.wake(reason)
      }
      await pad.suspend(within: 0)
      try await pad.work(forSeconds: 1)
      await pad.shutdown()
      #expect(store.syncs == 0)
      #expect(try fixture.server.snapshot().prompts == 0)
    }
  }

  @Test func `a restore that a restart interrupts goes on without another password`() async throws {
    try await BuyingFixture.with { fixture in
      let owned = try await Self.bought(["pro", "plan"], fixture)
      let store = OwningStore(fixture.store, owning: owned)
      let pad = try await Self.open(store, fixture, limits: QueueLimits(entries: 1))
      await pad.suspend(within: 0)
      try await pad.restorePurchases()
      #expect(try await pad.snapshot().isStoreHoldingMore)
      await pad.shutdown()
      let next = try await Self.open(store, fixture, limits: QueueLimits(entries: 1))
      _ = try await snapshot(of: next) { $0.outcomes.count == 2 && !$0.isStoreHoldingMore }
      #expect(store.syncs == 1)
      await next.shutdown()
    }
  }
}
