import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Backends and sheets that hang: each is reported, and others go on.
@Suite struct HangingBackendTests {
  /// Its `verify` hangs for one product, until the test says otherwise.
  private struct Hanging: PurchaseBackend {
    let hangs = Locked(true)
    let sleep: @Sendable (Int64) async throws -> Void

    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      if purchase.productID == ShopLab.gems, hangs.value { try await sleep(365 * 86_400_000) }
      return .granted
    }
  }

  /// Together they take longer than one request may.
  @Test(arguments: [1, 3, 14])
  func `a new purchase passes those of its account whose verify hangs`(hanging: Int) async throws {
    try await ShopLab.launch { lab, app in
      let (book, backend) = (OutcomeBook(), Hanging(sleep: app.sleep))
      let shop = Shop(
        store: app.store, backend: backend, configuration: app.configuration, lifecycle: .explicit,
        waiting: .zero, credentials: { "token-" + $0.account }, fulfil: { book.take($0) })
      for _ in 0..<hanging { _ = try await shop.purchase(ShopLab.gems, for: "alice", isAnother: true) }
      _ = try await shop.purchase(ShopLab.coins, for: "alice")
      try await lab.pass(.seconds(70))
      #expect(book.products == [ShopLab.coins])
      #expect(await shop.status().lateCalls.map(\.callback).contains(.backend))
      backend.hangs.withLock { $0 = false }
      try await shop.retryNow()
      try await lab.pass(.seconds(300))
      #expect(book.products.count == hanging + 1)
      await shop.close()
    }
  }

  @Test func `what is paid in a sheet that never answers is delivered, and the sheet is in the status`()
    async throws
  {
    try await ShopLab.launch { lab, app in
      let (book, store) = (OutcomeBook(), app.store)
      let shop = Shop(
        store: store, backend: app.backend, configuration: app.configuration, lifecycle: .explicit,
        credentials: { "token-" + $0.account }, fulfil: { book.take($0) })
      let sale = try await shop.purchase(ShopLab.gems, for: "alice") { order in
        _ = try await store.purchase(order)
        try await app.sleep(365 * 86_400_000)
        return .cancelled
      }
      #expect(sale == .pending(.payment))
      try await lab.pass(.seconds(60))
      #expect(book.products == [ShopLab.gems])
      #expect(await shop.status().lateCalls.map(\.callback) == [.sheet])
      let next = try await shop.purchase(ShopLab.gems, for: "alice")
      #expect(next.isFulfilled)
      await shop.close()
    }
  }

  /// The signed-in account is not known to have bought what was paid outside of the app.
  @Test(arguments: UnclaimedPolicy.allCases)
  func `an account that only the policy names is not called the buyer`(policy: UnclaimedPolicy) async throws {
    struct Asked: PurchaseBackend {
      let callers: Locked<[BackendCaller]>
      func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
        callers.withLock { $0.append(owner) }
        return .granted
      }
    }
    try await ShopLab.launch { lab, app in
      let callers = Locked<[BackendCaller]>([])
      var configuration = app.configuration
      configuration.currentAccount = { "alice" }
      configuration.unclaimed = policy
      let shop = Shop(
        store: app.store, backend: Asked(callers: callers), configuration: configuration,
        lifecycle: .explicit, credentials: { "token-" + $0.account }, fulfil: { _ in })
      _ = try await app.store.pay(product: ShopLab.gems, quantity: 1, accountToken: nil)
      try await shop.resume()
      try await lab.until { callers.value.count == 1 }
      #expect(callers.value.map(\.isBuyer) == [false])
      #expect(callers.value.map(\.account) == ["alice"])
      #expect(try await shop.purchase(ShopLab.gems, for: "alice").isFulfilled)
      #expect(callers.value.last?.isBuyer == true)
      await shop.close()
    }
  }
}
