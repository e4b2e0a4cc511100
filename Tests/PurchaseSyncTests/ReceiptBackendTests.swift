import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A shop whose backend reads the app receipt only.
@Suite struct ReceiptBackendTests {
  private func with(
    receipt: @escaping @Sendable (MockStoreClient) async throws -> [UInt8]? = { try await $0.receipt() },
    waiting: Duration = .seconds(3_000_000_000),
    _ body: (ReceiptServer, Shop, Wallet) async throws -> Void
  ) async throws {
    try await BuyingFixture.with { fixture in
      let (server, wallet, accounts, store) = (ReceiptServer(), Wallet(), fixture.accounts, fixture.store)
      let shop = Shop(
        store: store, backend: server.backend { try await receipt(store) },
        configuration: try fixture.configuration(), lifecycle: .explicit, waiting: waiting,
        credentials: { accounts.token(of: $0.account) }, fulfil: { try wallet.take($0) })
      try await body(server, shop, wallet)
      await shop.close()
    }
  }

  @Test func `two purchases in one receipt are credited once each`() async throws {
    try await with { server, shop, wallet in
      for _ in 1...2 {
        let sale = try await shop.purchase("gems", for: "alice")
        #expect(sale.isFulfilled)
      }
      #expect(wallet.products == ["gems", "gems"])
      #expect(server.credits.value.values.sorted() == ["token-alice", "token-alice"])
    }
  }

  @Test func `a receipt that is behind its purchase is read again`() async throws {
    let reads = Locked(0)
    try await with(receipt: { store in
      reads.withLock { $0 += 1 }
      return reads.value > 2 ? try await store.receipt() : nil
    }) { server, shop, wallet in
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale.isFulfilled && reads.value == 3 && server.calls.value == 1)
      #expect(wallet.products == ["gems"])
    }
  }

  @Test func `what another account of this Apple ID was credited is not granted again`() async throws {
    try await with { server, shop, wallet in
      server.rival.withLock { $0 = "token-alice" }
      let sale = try await shop.purchase("gems", for: "bob")
      guard case .settled(let outcome) = sale else { throw Unexpected(sale: sale) }
      #expect(outcome.owner == .another && wallet.products == [])
    }
  }
}
