import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What a caller of `purchase` learns, before and while the sheet is open.
@Suite struct ShopSheetTests {
  /// A backend of its own that grants all, and makes orders as a test says.
  private struct OrderingBackend: PurchaseBackend {
    var order: @Sendable (OrderRequest, _ key: String) -> OrderDocument
    var makesOrders: Bool { true }

    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      .granted
    }
    func makeOrder(
      _ wish: OrderRequest, idempotencyKey: String, for account: BackendCaller
    ) async throws -> OrderDocument { order(wish, idempotencyKey) }
  }

  @Test(arguments: [PurchaseResult.pending, .cancelled])
  func `a sheet that is closed after the delivery does not deny the payment`(end: PurchaseResult) async throws
  {
    try await BuyingFixture.with { fixture in
      let (wallet, selling, inner) = (Wallet(), Locked<Shop?>(nil), fixture.store)
      let store = SheetStore(inner: inner) { order in
        let paid = try await inner.pay(product: "gems", quantity: 1, accountToken: order.accountToken)
        // It comes with the store's updates while the sheet is still open.
        try await selling.value?.syncEngine().receive(paid)
        try await until { wallet.products == ["gems"] }
        return end
      }
      let shop = try fixture.shop(wallet, store: store)
      selling.withLock { $0 = shop }
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale.isFulfilled)
      selling.withLock { $0 = nil }
      await shop.close()
    }
  }

  @Test func `a payment that is on its way when the sheet says cancelled is waited for`() async throws {
    try await BuyingFixture.with { fixture in
      let (wallet, selling, inner, gate) = (Wallet(), Locked<Shop?>(nil), fixture.store, Gate())
      let listings = Locked(0)
      gate.close()
      let store = SheetStore(inner: inner, listings: listings) { order in
        let paid = try await inner.pay(product: "gems", quantity: 1, accountToken: order.accountToken)
        try await selling.value?.syncEngine().receive(paid)
        try await until { gate.arrivals == 1 }
        listings.withLock { $0 = 0 }
        return .cancelled
      }
      let shop = try fixture.shop(
        wallet, store: store, transport: GatedTransport(inner: fixture.transport, gate: gate))
      selling.withLock { $0 = shop }
      async let sale = shop.purchase("gems", for: "alice")
      // The shop looks at the store when the sheet has ended: the backend answers after that.
      try await until { gate.arrivals == 1 && listings.value > 0 }
      gate.open()
      let ended = try await sale
      #expect(ended.isFulfilled && wallet.products == ["gems"])
      selling.withLock { $0 = nil }
      await shop.close()
    }
  }

  @Test func `a caller that is cancelled while its order is requested is told so, and is not refused`()
    async throws
  {
    try await BuyingFixture.with { fixture in
      let gate = Gate()
      gate.close()
      let shop = try fixture.shop(
        Wallet(),
        transport: GatedTransport(
          inner: fixture.transport, gate: gate, path: "v1/orders", ignoresCancellation: false))
      let call = Task { try await shop.purchase("gems", for: "alice") }
      try await until { gate.arrivals == 1 }
      call.cancel()
      #expect(try await call.value == .cancelled)
      gate.open()
      await shop.close()
    }
  }

  @Test(arguments: [false, true])
  func `a caller at a sheet that hangs gets its answer if it goes away, or if the shop is closed`(
    isClosed: Bool
  ) async throws {
    try await BuyingFixture.with { fixture in
      let gate = Gate()
      gate.close()
      let store = SheetStore(inner: fixture.store) { _ in
        await gate.pass()
        return .cancelled
      }
      let shop = try fixture.shop(Wallet(), store: store)
      let call = Task { try await shop.purchase("gems", for: "alice") }
      try await until { gate.arrivals == 1 }
      if isClosed { await shop.close() } else { call.cancel() }
      let sale = try await call.value
      #expect(sale == .pending(.payment) && !sale.message.contains("safe"))
      gate.open()
      await shop.close()
    }
  }

  @Test func `an order for something else than was asked for shows no sheet`() async throws {
    try await BuyingFixture.with { fixture in
      let (shown, accounts) = (Locked(0), fixture.accounts)
      let store = SheetStore(inner: fixture.store) { _ in
        shown.withLock { $0 += 1 }
        return .cancelled
      }
      let backend = OrderingBackend { _, key in
        OrderDocument(
          number: "n" + key, accountToken: UUID(), productID: "pro", quantity: 10, state: .open,
          createdAt: .wallClock())
      }
      let shop = Shop(
        store: store, backend: backend, configuration: try fixture.configuration(), lifecycle: .explicit,
        credentials: { accounts.token(of: $0.account) }, fulfil: { _ in })
      let sale = try await shop.purchase("gems", for: "alice")
      guard case .refused(.backendUnreachable) = sale else { throw Unexpected(sale: sale) }
      #expect(shown.value == 0)
      await shop.close()
    }
  }

  @Test func `one order for two purchases at once is refused to one, and answers both`() async throws {
    try await BuyingFixture.with { fixture in
      let (gate, token, accounts, inner) = (Gate(), UUID(), fixture.accounts, fixture.store)
      gate.close()
      let store = SheetStore(inner: inner) { order in
        await gate.pass()
        return try await inner.purchase(order)
      }
      let backend = OrderingBackend { wish, _ in
        OrderDocument(
          number: "one", accountToken: token, productID: wish.productID, quantity: 1, state: .open,
          createdAt: .wallClock())
      }
      let shop = Shop(
        store: store, backend: backend, configuration: try fixture.configuration(), lifecycle: .explicit,
        waiting: .seconds(3_000_000_000), credentials: { accounts.token(of: $0.account) }, fulfil: { _ in })
      async let first = shop.purchase("gems", for: "alice")
      try await until { gate.arrivals == 1 }
      let second = try await shop.purchase("gems", for: "alice", isAnother: true)
      guard case .refused = second else { throw Unexpected(sale: second) }
      gate.open()
      let sale = try await first
      #expect(sale.isFulfilled)
      await shop.close()
    }
  }

  @Test(arguments: [0, -1, 11, Int.max]) func `no sheet is shown for a quantity that no store sells`(
    quantity: Int
  )
    async throws
  {
    try await BuyingFixture.with { fixture in
      let shown = Locked(0)
      let store = SheetStore(inner: fixture.store) { _ in
        shown.withLock { $0 += 1 }
        return .cancelled
      }
      let shop = try fixture.shop(Wallet(), store: store)
      let sale = try await shop.purchase("gems", quantity: quantity, for: "alice")
      guard case .refused(.encoding) = sale else { throw Unexpected(sale: sale) }
      #expect(shown.value == 0)
      await shop.close()
    }
  }

  @Test func `a sheet that returns another product is not the delivery of the sale`() async throws {
    try await BuyingFixture.with { fixture in
      let (wallet, inner) = (Wallet(), fixture.store)
      let store = SheetStore(inner: inner) { _ in
        .purchased(try await inner.pay(product: "pro", quantity: 1, accountToken: nil))
      }
      let shop = try fixture.shop(wallet, store: store, waiting: .milliseconds(300))
      let sale = try await shop.purchase("gems", for: "alice")
      #expect(sale == .pending(.delivery))
      try await until { wallet.products == ["pro"] }
      await shop.close()
    }
  }
}
