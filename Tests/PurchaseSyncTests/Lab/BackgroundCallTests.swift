import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import PurchaseSync

/// A call in the background that leaves the file open: a system may end a suspended app for its locks.
@Suite struct BackgroundCallTests {
  /// What the calls are about: an order that is not paid, one whose purchase waits, and one that was delivered.
  private struct Shelf: Sendable {
    var open: PurchaseOrder
    var waiting: (order: PurchaseOrder, transaction: StoreTransaction)
    var delivered: Outcome
  }

  /// The public calls of an engine. Those that bring it to the foreground, or end it, are left out.
  private enum EngineCall: String, CaseIterable {
    case receive, receiveForOrder, receiveResult, receiveUpdates, confirm, confirmAll, eventStream,
      wake, work
    case suspend, begin, cancel, deferPayment, orders, fetchOrders, adoptDevicePurchases,
      withdrawAdoption
    case discard, caseFile, caseFiles, snapshot, books, restorePurchases, refreshReceipt

    static let others: Set = ["shutdown", "open", "importPurchases"]

    func make(_ engine: SyncEngine, _ shelf: Shelf) async throws {
      let (order, paid) = shelf.waiting
      switch self {
      case .receive: try await engine.receive(paid)
      case .receiveForOrder: try await engine.receive(paid, for: shelf.open)
      case .receiveResult: try await engine.receive(.pending, for: shelf.open)
      case .receiveUpdates:
        await engine.receive(
          updates: AsyncStream {
            $0.yield(paid)
            $0.finish()
          })
      case .confirm: try await engine.confirm(shelf.delivered)
      case .confirmAll: try await engine.confirm(all: [shelf.delivered])
      case .eventStream: _ = try await engine.eventStream()
      case .wake:
        for reason in [WakeReason.networkBack, .signedIn(account: "alice"), .userAsked] {
          try await engine.wake(reason)
        }
      case .work: try await engine.work(forSeconds: 60)
      case .suspend: await engine.suspend()
      case .begin: _ = try await engine.begin(product: "gems", account: "bob")
      case .cancel: try await engine.cancel(order: shelf.open.number)
      case .deferPayment: try await engine.deferPayment(of: shelf.open.number)
      case .orders: _ = try await engine.orders()
      case .fetchOrders: try await engine.fetchOrders(of: "alice")
      case .adoptDevicePurchases: try await engine.adoptDevicePurchases(for: "alice")
      case .withdrawAdoption: try await engine.withdrawAdoption(for: "alice")
      case .discard: try await engine.discard(paid.key, by: "kim", reason: "a test")
      case .caseFile: _ = try await engine.caseFile(for: paid.key)
      case .caseFiles: _ = try await engine.caseFiles(order: order.number)
      case .snapshot: _ = try await engine.snapshot()
      case .books: _ = try await engine.books()
      case .restorePurchases: try await engine.restorePurchases()
      case .refreshReceipt: try await engine.refreshReceipt()
      }
    }
  }

  /// The public calls of a shop, likewise.
  private enum ShopCall: String, CaseIterable {
    case purchase, purchaseByGuest, redeem, signedIn, retryNow, restore, drain, suspend, status,
      statuses
    case syncEngine

    static let others: Set = ["resume", "close"]

    func make(_ shop: Shop) async throws {
      switch self {
      case .purchase: _ = try await shop.purchase("gems", for: "alice")
      case .purchaseByGuest: _ = try await shop.purchase("gems", for: .guest)
      case .redeem: _ = try await shop.redeem(for: "alice") { nil }
      case .signedIn: try await shop.signedIn(as: "alice", adoptingGuest: true)
      case .retryNow: try await shop.retryNow()
      case .restore: try await shop.restore(for: "alice")
      case .drain: try await shop.drain(until: Date().addingTimeInterval(60))
      case .suspend: await shop.suspend()
      case .status: _ = await shop.status()
      case .statuses: _ = await shop.statuses()
      case .syncEngine: _ = try await shop.syncEngine()
      }
    }
  }

  private func expectClosed(_ engine: SyncEngine) async throws {
    #expect(await !engine.isFileOpen)
    #if os(Linux)
      let path = await engine.configuration.path
      // A child of another test has the locks of this process between fork and exec.
      try await until { try FileLocks.lines(of: path) == [] }
    #endif
  }

  @Test(arguments: EngineCall.allCases)
  private func `after a call of the engine in the background its file is closed`(call: EngineCall)
    async throws
  {
    try await BuyingFixture.with { fixture in
      let engine = try await fixture.open()
      let delivered = try await engine.begin(product: "gems", account: "alice")
      try await engine.receive(try await fixture.pay(delivered), for: delivered)
      let state = try await snapshot(of: engine) { !$0.outcomes.isEmpty }
      let (open, order) = (
        try await engine.begin(product: "pro", account: "alice"),
        try await engine.begin(product: "gems", account: "alice")
      )
      await engine.suspend(within: 0)
      let paid = try await fixture.pay(order)
      try await engine.receive(paid)
      try await expectClosed(engine)
      let shelf = Shelf(
        open: open, waiting: (order, paid), delivered: try #require(state.outcomes.first))
      try await call.make(engine, shelf)
      try await expectClosed(engine)
      // A call that throws uses the file, too.
      var huge = paid
      huge.transactionID = "7"
      huge.productID = String(repeating: "x", count: 1 << 20)
      let refused = huge
      await #expect(throws: SyncError.self) { try await engine.receive(refused, for: open) }
      try await expectClosed(engine)
      // In front nothing is missing.
      try await engine.wake(.foreground)
      try await until {
        for outcome in try await engine.snapshot().outcomes { try await engine.confirm(outcome) }
        return try await engine.snapshot().purchases.isEmpty
      }
      #expect(try fixture.server.snapshot().doubledCredits == 0)
      await engine.shutdown()
    }
  }

  @Test(arguments: ShopCall.allCases)
  private func `after a call of the shop in the background the file is closed`(call: ShopCall)
    async throws
  {
    try await BuyingFixture.with { fixture in
      let shop = try fixture.shop(Wallet(), waiting: .zero)
      let engine = try await shop.syncEngine()
      _ = try await shop.purchase("gems", for: "alice")
      await shop.suspend()
      try await expectClosed(engine)
      try await call.make(shop)
      // A step of `fulfil` may go on after the call.
      try await until { await !engine.isFileOpen }
      try await expectClosed(engine)
      await shop.close()
    }
  }

  @Test(arguments: [false, true])
  func `an order that the backend does not make leaves no capacity reserved in the background`(
    isRefused: Bool
  ) async throws {
    try await BuyingFixture.with { fixture in
      var configuration = try fixture.configuration()
      configuration.limits = QueueLimits(entries: 1)
      let transport = RecordingTransport(fixture.transport) { request in
        guard request.path == "v1/orders" else { return nil }
        return BackendResponse(
          status: isRefused ? 409 : 503, contentType: "application/problem+json",
          body: Data(#"{"type":"a-test","title":"Not now","status":409}"#.utf8))
      }
      let engine = try await fixture.open(configuration, transport: transport)
      await engine.suspend(within: 0)
      await #expect(throws: SyncError.self) { try await engine.begin(product: "gems", account: "alice") }
      // What the store delivers for no order has the capacity.
      try await engine.receive(
        try await fixture.store.pay(product: "gems", quantity: 1, accountToken: nil))
      try await expectClosed(engine)
      await engine.shutdown()
    }
  }

  @Test func `an app in the background and its extension leave each other the file`() async throws {
    try await BuyingFixture.with { fixture in
      let (app, helper) = (try await fixture.open(), try await fixture.open())
      await app.suspend(within: 0)
      let order = try await helper.begin(product: "gems", account: "alice")
      try await app.receive(try await fixture.pay(order))
      #expect(await !app.isFileOpen)
      // The extension delivers what the app has stored.
      try await helper.wake(.foreground)
      let outcome = try await snapshot(of: helper) { !$0.outcomes.isEmpty }.outcomes[0]
      await helper.suspend(within: 0)
      try await app.confirm(outcome)
      try await expectClosed(app)
      #expect(try await helper.snapshot().outcomes.isEmpty)
      try await expectClosed(helper)
      await helper.shutdown()
      await app.shutdown()
    }
  }

  @Test func `a payment that arrives in the background is delivered after a kill`() async throws {
    try await ShopLab.run { lab in
      try await lab.phone().launch { app in
        let engine = try await SyncEngine.open(
          app.configuration, store: app.store, transport: app.backend, credentials: { "token-" + $0.account })
        let order = try await engine.begin(product: ShopLab.gems, account: "alice")
        await engine.suspend(within: 0)
        try await engine.receive(
          try await app.store.pay(product: ShopLab.gems, quantity: 1, accountToken: order.accountToken))
        #expect(await !engine.isFileOpen)
        // The system ends a suspended app without a word.
      }
      try await lab.phone().launch { app in
        let book = OutcomeBook()
        let shop = app.shop { book.take($0) }
        try await lab.until { book.products == [ShopLab.gems] }
        await shop.close()
      }
    }
  }

  @Test func `each public call is tried`() throws {
    var calls: [String: Set<String>] = [:]
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../Sources/PurchaseSync").standardizedFileURL
    for case let file as URL in try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    {
      guard file.pathExtension == "swift",
        let type = ["SyncEngine", "Shop"].first(where: {
          file.lastPathComponent.split(separator: "+")[0].hasPrefix($0)
        })
      else { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      for call in text.matches(of: /public (?:nonisolated |static )*func (\w+)/) {
        calls[type, default: []].insert(String(call.1))
      }
    }
    let tried = EngineCall.allCases.map(\.rawValue)
    for call in calls["SyncEngine", default: []].subtracting(EngineCall.others) {
      #expect(tried.contains { $0.hasPrefix(call) }, "SyncEngine.\(call)")
    }
    let sold = ShopCall.allCases.map(\.rawValue)
    for call in calls["Shop", default: []].subtracting(ShopCall.others) {
      #expect(sold.contains { $0.hasPrefix(call) }, "Shop.\(call)")
    }
    #expect(calls["SyncEngine"]?.contains("snapshot") == true)
    #expect(calls["Shop"]?.contains("drain") == true)
  }
}
