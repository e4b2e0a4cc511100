import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// What a guest waits for, and what another phone of the same store account does not know of it.
@Suite struct GuestApprovalTests {
  @Test(arguments: [true, false])
  func `an approval that a guest waits for is in the status until it comes, also after a kill`(
    isKilled: Bool
  ) async throws {
    try await SheetFixture.run { lab in
      let (wallet, phone) = (Wallet(), lab.phone())
      lab.setAskToBuy(true)
      try await phone.launch { app in
        let shop = app.till(wallet, user: Locked(nil))
        let sale = try await shop.purchase("gems", quantity: 2, for: .guest)
        #expect(sale == .pending(.approval))
        if isKilled { await app.die() }
      }
      try await phone.launch { app in
        let shop = app.till(wallet, user: Locked("bob"))
        let waiting = await shop.status().purchases
        #expect(waiting.map(\.stage) == [.waitingForApproval])
        #expect(waiting.map(\.productID) == ["gems"])
        #expect(waiting.map(\.quantity) == [2])
        #expect(waiting.map(\.account) == [nil])
        try lab.approveAll()
        try await lab.until { wallet.outcomes.count == 1 }
        #expect(await shop.status().purchases.isEmpty)
      }
    }
  }

  @Test func `a declined approval of a guest is waited for a week, and not after a clock that went back`()
    async throws
  {
    try await SheetFixture.run { lab in
      let phone = lab.phone()
      lab.setAskToBuy(true)
      try await phone.launch { app in
        _ = try await app.till(Wallet(), user: Locked(nil)).purchase("gems", for: .guest)
      }
      try lab.declineAll()
      try await lab.pass(.seconds(6 * 86_400))
      try await phone.launch { app in
        #expect(await app.till(Wallet()).status().purchases.map(\.stage) == [.waitingForApproval])
      }
      try await lab.pass(.seconds(2 * 86_400))
      try await phone.launch { app in
        #expect(await app.till(Wallet()).status().purchases.isEmpty)
      }
      phone.setClockError(.seconds(-365 * 86_400))
      try await phone.launch { app in
        #expect(await app.till(Wallet()).status().purchases.isEmpty)
      }
    }
  }

  @Test(arguments: [true, false])
  func `a guest's later purchase of the same product takes the place of the one that waits`(
    asksAgain: Bool
  ) async throws {
    try await SheetFixture.run { lab in
      lab.setAskToBuy(true)
      try await lab.phone().launch { app in
        let shop = app.till(Wallet(), user: Locked(nil))
        _ = try await shop.purchase("gems", for: .guest)
        _ = try await shop.purchase("coins", for: .guest)
        _ = try await shop.purchase("gems", for: "alice")
        if !asksAgain { lab.setAskToBuy(false) }
        _ = try await shop.purchase("gems", quantity: 3, for: .guest)
        try await lab.pass(.seconds(60))
        let waiting = await shop.status().purchases.filter { $0.stage == .waitingForApproval }
        #expect(
          waiting.filter { $0.productID == "gems" && $0.account == nil }.map(\.quantity)
            == (asksAgain ? [3] : []))
        // What others wait for, and other products, is not touched.
        #expect(waiting.filter { $0.productID == "coins" }.count == 1)
        #expect(waiting.filter { $0.account == "alice" }.count == 1)
      }
    }
  }

  @Test func `at most sixteen approvals of guests are kept, the newest`() {
    var approvals = GuestApprovals()
    for number in 1...20 {
      approvals.begin(
        PurchaseOrder(
          number: "guest-\(number)", accountToken: .guest(from: UUID()), account: "",
          productID: "product \(number)", quantity: 1, state: .open, createdAt: midday))
    }
    #expect(approvals.orders.map(\.number) == (5...20).map { "guest-\($0)" })
  }

  // MARK: Another phone

  /// An app receipt names no account tokens.
  @Test(arguments: UnclaimedPolicy.allCases, [true, false])
  func `a guest's purchase in a receipt on another phone is not of who is signed in there`(
    policy: UnclaimedPolicy, isUploaded: Bool
  ) async throws {
    try await SheetFixture.run { lab in
      if !isUploaded { lab.server.setFaults(.outage(path: "/v1", requests: 1_000_000)) }
      try await lab.phone("hers").launch { app in
        let sale = try await app.till(Wallet(), user: Locked(nil)).purchase("pro", for: .guest)
        #expect(sale.isFulfilled == isUploaded)
        await app.die()
      }
      lab.server.setFaults(.none)
      try await lab.phone("his").launch { app in
        var configuration = app.configuration
        configuration.currentAccount = { "bob" }
        configuration.unclaimed = policy
        let (store, book) = (ReceiptStore(inner: app.store), OutcomeBook())
        let shop = app.shop(store: store, configuration: configuration) { book.take($0) }
        try await shop.signedIn(as: "bob")
        _ = try await shop.restore(for: "bob")
        try await lab.pass(.seconds(600))
        #expect(try !lab.server.snapshot().creditOwners.contains(.account("bob")))
        #expect(!book.outcomes.contains { $0.account == "bob" })
        #expect(store.refreshed.value == 1)
        await shop.close()
      }
    }
  }

  /// A store that lists nothing of what its account owns, so that a restore reads the app receipt.
  private struct ReceiptStore: SellingStore {
    let inner: MockStoreClient
    /// How many new receipts it has given.
    let refreshed = Locked(0)

    var updates: AsyncStream<StoreTransaction> { AsyncStream { _ in } }
    func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
    func unfinished() async throws -> StoreListing { StoreListing(transactions: []) }
    func currentEntitlements() async throws -> [StoreTransaction]? { nil }
    func receipt() async throws -> [UInt8]? { try await inner.receipt() }
    func refreshReceipt() async throws -> [UInt8]? {
      let receipt = try await inner.refreshReceipt()
      if receipt != nil { refreshed.withLock { $0 += 1 } }
      return receipt
    }
    func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
      try await inner.finish(transactionIDs: transactionIDs)
    }
  }
}
