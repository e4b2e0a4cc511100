import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// One call to sell, and what goes wrong on the way.
@Suite struct ShopTests {
  @Test func `one call buys, credits once and leaves nothing to do`() async throws {
    try await BuyingFixture.withShop { fixture, shop, wallet in
      let sale = try await shop.purchase("gems", for: "alice")
      guard case .delivered(let outcome) = sale else { throw Unexpected(sale: sale) }
      #expect(outcome.purchase?.productID == "gems" && outcome.lane == .account("alice"))
      #expect(wallet.products == ["gems"])
      let engine = try await shop.syncEngine()
      try await until {
        let state = try await engine.snapshot()
        return state.outcomes.isEmpty && state.purchases.isEmpty && state.pendingFinishes == 0
      }
    }
  }

  @Test func `an answer that is lost costs neither the purchase nor a second credit`() async throws {
    try await BuyingFixture.withShop(.replyLost(path: "/v1/receipts", occurrence: 1)) {
      fixture, shop, wallet in
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale.isFulfilled)
      #expect(wallet.products == ["gems"])
      let backend = try fixture.server.snapshot()
      #expect(backend.requests["POST /v1/receipts"] == 2, "the first upload's reply is lost")
      #expect(backend.credits.count == 1)
    }
  }

  @Test func `two purchases at once that are both meant are two orders and two credits`() async throws {
    try await BuyingFixture.withShop { fixture, shop, wallet in
      async let first = shop.purchase("gems", for: "alice", isAnother: true)
      async let second = shop.purchase("gems", for: "alice", isAnother: true)
      let sales = try await [first, second]
      #expect(sales.allSatisfy { $0.isFulfilled })
      #expect(Set(sales.map(\.orderNumber)).count == 2)
      #expect(wallet.products == ["gems", "gems"])
    }
  }

  @Test func `a backend that is down before the payment shows no sheet`() async throws {
    try await BuyingFixture.withShop(.outage(path: "/v1/orders", requests: 1_000)) { fixture, shop, wallet in
      let sale = try await shop.purchase("gems", for: "alice")
      guard case .refused(.backendUnreachable) = sale else { throw Unexpected(sale: sale) }
      #expect(sale.message.contains("Nothing was charged."))
      #expect(fixture.server.withStore { $0.transactions.isEmpty })
    }
  }

  @Test func `a backend that is down after the payment is waited for, and its outcome comes later`()
    async throws
  {
    try await BuyingFixture.withShop(.outage(path: "/v1/receipts", requests: 1_000_000), waiting: .zero) {
      fixture, shop, wallet in
      #expect(try await shop.purchase("gems", for: "alice") == .pending(.delivery))
      #expect(wallet.products == [])
      let stages = await firstStatus(of: shop) { !$0.purchases.isEmpty }.stages
      #expect(stages == [.onItsWay])
      fixture.server.setFaults(.none)
      try await until {
        try await shop.retryNow()
        return wallet.products == ["gems"]
      }
    }
  }

  @Test func `what is paid before a kill is credited by the next launch`() async throws {
    try await BuyingFixture.with(.outage(path: "/v1/receipts", requests: 1_000_000)) { fixture in
      let wallet = Wallet()
      let killed = try fixture.shop(wallet, waiting: .zero)
      #expect(try await killed.purchase("gems", for: "alice") == .pending(.delivery))
      await killed.close()
      fixture.server.setFaults(.none)
      // No call of the app: the launch alone delivers.
      let next = try fixture.shop(wallet)
      try await until { wallet.products == ["gems"] }
      await next.close()
    }
  }

  @Test func `a credit that fails is tried again, and the sale is not called delivered before`() async throws
  {
    try await BuyingFixture.withShop(waiting: .milliseconds(300)) { fixture, shop, wallet in
      wallet.breaks(true)
      #expect(try await shop.purchase("gems", for: "alice") == .pending(.delivery))
      let status = await firstStatus(of: shop) { $0.fulfilmentProblem != nil }
      #expect(status.fulfilmentProblem?.hasSuffix("Wallet.Failure 1") == true)
      wallet.breaks(false)
      try await until {
        try await shop.retryNow()
        return wallet.products == ["gems"]
      }
      _ = await firstStatus(of: shop) {
        $0.fulfilmentProblem == nil && $0.stages == [.delivered]
      }
    }
  }

  @Test func `Ask to Buy that is approved while the app is dead is credited by the next launch`() async throws
  {
    try await BuyingFixture.with { fixture in
      let wallet = Wallet()
      let now = Timestamp.wallClock()
      fixture.server.withStore { $0.setAccount("apple-id", asksToBuy: true) }
      let shop = try fixture.shop(wallet)
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale == .pending(.approval) && !sale.isFulfilled)
      let shown = await firstStatus(of: shop) { !$0.purchases.isEmpty }
      #expect(shown.stages == [.waitingForApproval])
      await shop.close()
      try fixture.server.withStore { (store) throws(StoreModelError) in
        _ = try store.approve(requestID: store.requests.first?.id ?? "none", now: now)
      }
      let next = try fixture.shop(wallet)
      try await until { wallet.products == ["gems"] }
      #expect(wallet.outcomes.first?.lane == .account("alice"))
      await next.close()
    }
  }

  @Test func `a closed sheet is not known to be paid, and a late payment is credited all the same`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let (wallet, orders) = (Wallet(), Locked<[PurchaseOrder]>([]))
      let inner = fixture.store
      let store = SheetStore(inner: inner) { order in
        orders.withLock { $0.append(order) }
        return .cancelled
      }
      let shop = try fixture.shop(wallet, store: store)
      #expect(try await shop.purchase("gems", for: "alice") == .cancelled)
      // The bank's app confirms it an hour later.
      let order = try #require(orders.value.first)
      _ = try await inner.pay(product: "gems", quantity: 1, accountToken: order.accountToken)
      try await until {
        try await shop.resume()
        return wallet.products == ["gems"]
      }
      #expect(wallet.outcomes.first?.orderNumber == order.number)
      await shop.close()
    }
  }

  @Test func `an owned product that is bought again ends with its known outcome`() async throws {
    try await BuyingFixture.withShop { fixture, shop, wallet in
      #expect(try await shop.purchase("pro", for: "alice").isFulfilled)
      let again = try await shop.purchase("pro", for: "alice")
      guard case .alreadyOwned = again else { throw Unexpected(sale: again) }
      #expect(again.message.contains("Nothing was charged."))
    }
  }

  @Test func `what another account of the same Apple ID owns is settled, and gives nothing`() async throws {
    try await BuyingFixture.withShop { fixture, shop, wallet in
      #expect(try await shop.purchase("pro", for: "alice").isFulfilled)
      let bobs = try await shop.purchase("pro", for: "bob")
      guard case .settled(let outcome) = bobs else { throw Unexpected(sale: bobs) }
      #expect(outcome.owner == .another && !bobs.isFulfilled)
      #expect(!bobs.message.contains("alice") && !String(reflecting: outcome).contains("alice"))
    }
  }

  @Test func `an account that is signed out after the payment is asked to sign in, and is credited then`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let (wallet, accounts, inner) = (Wallet(), fixture.accounts, fixture.store)
      let store = SheetStore(inner: inner) { order in
        accounts.signOut("alice")
        return try await inner.purchase(order)
      }
      let shop = try fixture.shop(wallet, store: store)
      #expect(try await shop.purchase("gems", for: "alice") == .pending(.signIn))
      let shown = await firstStatus(of: shop) { !$0.purchases.isEmpty }
      #expect(shown.stages == [.needsSignIn])
      accounts.signIn("alice")
      try await shop.signedIn(as: "alice")
      try await until { wallet.products == ["gems"] }
      await shop.close()
    }
  }

  @Test func `a caller that goes away at the sheet loses nothing`() async throws {
    try await BuyingFixture.with { fixture in
      let (wallet, gate, inner) = (Wallet(), Gate(), fixture.store)
      gate.close()
      let store = SheetStore(inner: inner) { order in
        await gate.pass(ignoringCancellation: true)
        return try await inner.purchase(order)
      }
      let shop = try fixture.shop(wallet, store: store)
      let screen = Task { try await shop.purchase("gems", for: "alice") }
      try await until { gate.arrivals == 1 }
      screen.cancel()
      #expect(try await screen.value == .pending(.payment))
      gate.open()
      try await until { wallet.products == ["gems"] }
      await shop.close()
    }
  }

  @Test(arguments: [
    (StoreError.productUnavailable(productID: "gems"), true), (StoreError.unknownAnswer, false),
    (.productUnreachable(reason: "NSURLErrorDomain -1009"), true), (.notAllowed, true), (.ineligible, true),
    (.invalidOffer(reason: "its price"), true), (.invalidPayment(reason: "its quantity"), true),
    (.paymentMethodNeeded, true), (.unsupported(reason: "no seats"), true),
    (.sheetFailed(reason: "NSURLErrorDomain -1009"), false),
  ])
  func `only an error that proves it says that nothing was charged`(error: StoreError, isProof: Bool)
    async throws
  {
    try await BuyingFixture.with { fixture in
      let store = SheetStore(inner: fixture.store) { _ in throw error }
      let shop = try fixture.shop(Wallet(), store: store)
      if isProof {
        let sale = try await shop.purchase("gems", for: "alice")
        guard case .refused = sale else { throw Unexpected(sale: sale) }
      } else {
        await #expect(throws: SyncError.store(reason: "\(error)")) {
          try await shop.purchase("gems", for: "alice")
        }
      }
      let states = try await shop.syncEngine().orders().map(\.state)
      #expect(states == [isProof ? .cancelled : .open])
      await shop.close()
    }
  }

  @Test func `a file that cannot be opened refuses the sale before the sheet, and is tried again`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      try Data("a diary".utf8).write(to: URL(fileURLWithPath: configuration.path))
      let shop = try fixture.shop(Wallet(), configuration: configuration)
      let sale = try await shop.purchase("gems", for: "alice")
      guard case .refused(.queue) = sale else { throw Unexpected(sale: sale) }
      let shown = await firstStatus(of: shop) { $0.problem != nil }
      #expect(shown.problem?.errorDescription != nil)
      try FileManager.default.removeItem(atPath: configuration.path)
      #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
      let status = await firstStatus(of: shop) { $0.stages == [.delivered] }
      #expect(status.problem == nil)
      await shop.close()
    }
  }

  @Test func `a folder that does not exist yet is made`() async throws {
    try await BuyingFixture.with { fixture in
      var configuration = try fixture.configuration()
      configuration.path = fixture.directory + "/a/b/purchases.sqlite"
      let shop = try fixture.shop(Wallet(), configuration: configuration)
      #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
      await shop.close()
    }
  }

  @Test func `a new phone restores what was bought on the old one`() async throws {
    try await BuyingFixture.with { fixture in
      let (old, new) = (Wallet(), Wallet())
      let phone = try fixture.shop(old)
      #expect(try await phone.purchase("pro", for: "alice").isFulfilled)
      await phone.close()
      let pad = try fixture.shop(new, configuration: try fixture.configuration("pad"))
      let restored = try await pad.restore(for: "alice")
      #expect(restored.compactMap { $0.purchase?.productID } == ["pro"])
      #expect(new.products == ["pro"])
      #expect(try await pad.restore(for: "alice").isEmpty)
      await pad.close()
    }
  }

  @Test @MainActor func `a model for views has the newest status, and ends with its release`() async throws {
    guard #available(iOS 17, macOS 14, *) else { return }
    try await BuyingFixture.withShop { _, shop, _ in
      var model: ShopModel? = ShopModel(shop)
      weak let released = model
      _ = try await shop.purchase("gems", for: "alice")
      try await until { model?.status.stages == [.delivered] }
      model = nil
      try await until { released == nil }
    }
  }

  @Test func `one look at the status opens the file, and says why it cannot`() async throws {
    try await BuyingFixture.with { fixture in
      let configuration = try fixture.configuration()
      try Data("a diary".utf8).write(to: URL(fileURLWithPath: configuration.path))
      let shop = try fixture.shop(Wallet(), configuration: configuration)
      #expect(await shop.status().problem != nil)
      try FileManager.default.removeItem(atPath: configuration.path)
      _ = try await shop.purchase("gems", for: "alice")
      let status = await shop.status()
      #expect(status.problem == nil && status.purchases.map(\.productID) == ["gems"])
      await shop.close()
      #expect(await shop.status().problem != nil)
    }
  }

  @Test func `a closed shop refuses, and does not hang`() async throws {
    try await BuyingFixture.with { fixture in
      let shop = try fixture.shop(Wallet())
      await shop.close()
      #expect(
        try await shop.purchase("gems", for: "alice")
          == .refused(.queue(.closed(path: shop.configuration.path))))
      for await _ in await shop.statuses() {}
      await #expect(throws: SyncError.self) { try await shop.retryNow() }
    }
  }
}

/// A sale that ended in another way than it should.
struct Unexpected: Error { let sale: Sale }

extension Sale {
  fileprivate var orderNumber: String? {
    switch self {
    case .delivered(let outcome), .alreadyOwned(let outcome), .settled(let outcome): outcome.orderNumber
    default: nil
    }
  }
}

extension ShopStatus {
  fileprivate var stages: [Stage] { purchases.map { $0.stage } }
}

/// The first status that matches.
func firstStatus(of shop: Shop, _ isSo: (ShopStatus) -> Bool) async -> ShopStatus {
  for await status in await shop.statuses() where isSo(status) { return status }
  return ShopStatus()
}
