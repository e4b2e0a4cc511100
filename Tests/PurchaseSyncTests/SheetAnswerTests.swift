import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Sheets that answer with something else than the payment of their order, and two taps at once.
@Suite struct SheetAnswerTests {
  // MARK: Two taps

  @Test func `two taps in one moment are one sheet and one payment, and both callers get its result`()
    async throws
  {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let shop = app.till(Wallet())
        try await shop.signedIn(as: "alice")
        async let one = shop.purchase("gems", for: "alice")
        async let other = shop.purchase("gems", for: "alice")
        let sales = try await [one, other]
        #expect(sales.allSatisfy { $0.isFulfilled })
        #expect(sales[0] == sales[1])
        #expect(try lab.server.snapshot().charges.count == 1)
        #expect(try lab.server.snapshot().orders.count == 1)
        // The sheet is closed: the next tap is another purchase.
        #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
        #expect(try lab.server.snapshot().charges.count == 2)
      }
    }
  }

  @Test(arguments: [
    (product: "coins", account: "alice", quantity: 1), ("gems", "bob", 1), ("gems", "alice", 2),
  ])
  func `a tap for something else, or for somebody else, is a purchase of its own`(
    product: String, account: String, quantity: Int
  ) async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let shop = app.till(Wallet())
        async let one = shop.purchase("gems", for: "alice")
        async let other = shop.purchase(product, quantity: quantity, for: account)
        let sales = try await [one, other]
        #expect(sales.allSatisfy { $0.isFulfilled })
        let charges = try lab.server.snapshot().charges
        #expect(charges.count == 2)
      }
    }
  }

  @Test func `accounts whose names differ in their bytes only do not share a sheet`() {
    let (one, other) = ("jos\u{E9}", "jose\u{301}")
    #expect(one == other)
    let wish = OrderWish(account: one, product: "gems", quantity: 1)
    #expect(!wish.isSame(as: OrderWish(account: other, product: "gems", quantity: 1)))
    #expect(wish.isSame(as: wish))
  }

  @Test(arguments: [0, 200])
  func `the first caller goes away, and the second still gets the result of the sheet`(
    milliseconds: Int
  ) async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet)
        let first = Task {
          try await shop.purchase("gems", for: "alice") { order in
            try await lab.pass(.seconds(5))
            return try await store.purchase(order)
          }
        }
        await lab.settle()
        async let second = shop.purchase("gems", for: "alice")
        await lab.settle()
        try await lab.pass(.milliseconds(milliseconds))
        first.cancel()
        #expect(try await first.value == .pending(.payment))
        let sale = try await second
        #expect(sale.isFulfilled)
        #expect(try lab.server.snapshot().charges.count == 1)
      }
    }
  }

  @Test func `a sheet that never answers does not join the taps of the next day`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let shop = app.till(Wallet())
        let first = Task {
          try await shop.purchase("gems", for: "alice") { _ in
            try await lab.pass(.seconds(300 * 86_400))
            return .cancelled
          }
        }
        try await lab.pass(.seconds(3_600))
        #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
        first.cancel()
      }
    }
  }

  // MARK: Changes of a plan

  @Test(arguments: [true, false], [0, 1])
  func `a change to a lower plan is scheduled, and is not called owned`(
    makesOrders: Bool, phones: Int
  ) async throws {
    try await SheetFixture.run { lab in
      let wallet = Wallet()
      let end = lab.now.addingTimeInterval(30 * 86_400)
      try await lab.phone("first").launch { app in
        let sale = try await app.till(Wallet(), makesOrders: makesOrders).purchase("gold", for: "alice")
        #expect(sale.isFulfilled)
      }
      try await lab.pass(.seconds(3_600))
      // Another phone of hers does not know the order of the present plan.
      try await lab.phone(phones == 0 ? "first" : "second").launch { app in
        let shop = app.till(wallet, makesOrders: makesOrders)
        let sale = try await shop.purchase("bronze", for: "alice")
        guard case .scheduled("bronze", let from) = sale else { throw Unexpected(sale: sale) }
        #expect(abs(from.timeIntervalSince(end)) < 60)
        #expect(!sale.message.contains("own"))
        #expect(!sale.isFulfilled)
        try await lab.pass(.seconds(31 * 86_400))
        try await shop.retryNow()
        try await lab.pass(.seconds(60))
        #expect(wallet.products.last == "bronze")
      }
      let owners = try lab.server.snapshot().creditOwners
      #expect(owners.allSatisfy { $0 == .account("alice") })
    }
  }

  @Test func `a change of a plan that the backend cannot confirm is scheduled all the same`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let shop = app.till(Wallet())
        lab.server.setFaults(.outage(path: "/v1/receipts", requests: 1_000_000))
        #expect(try await shop.purchase("gold", for: "alice") == .pending(.delivery))
        let sale = try await shop.purchase("bronze", for: "alice")
        guard case .scheduled = sale else { throw Unexpected(sale: sale) }
      }
    }
  }

  @Test func `another account's plan is not called scheduled for this one`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let user = Locked<String?>("alice")
        let shop = app.till(Wallet(), user: user)
        #expect(try await shop.purchase("gold", for: "alice").isFulfilled)
        user.withLock { $0 = "bob" }
        try await lab.pass(.seconds(3_600))
        let sale = try await shop.purchase("bronze", for: "bob")
        guard case .settled(let outcome) = sale else { throw Unexpected(sale: sale) }
        #expect(outcome.owner == .another)
        #expect(!"\(outcome)".contains("alice"))
      }
    }
  }

  // MARK: An answer that is over

  @Test(arguments: [true, false], [true, false])
  func `an expired transaction that a new payment returns does not take its place`(
    makesOrders: Bool, isPaid: Bool
  ) async throws {
    try await SheetFixture.run { lab in
      let phone = lab.phone()
      let old = Locked<StoreTransaction?>(nil)
      let moment = lab.server.moment
      lab.server.withStore { $0.setBilling(works: true, storeAccount: "apple-id", now: moment) }
      try await phone.launch { app in
        let paid = try await app.store.pay(product: "gold", quantity: 1, accountToken: UUID())
        old.withLock { $0 = paid }
      }
      try lab.server.withStore { (store) throws(StoreModelError) in
        _ = try store.setRenewal(on: false, transactionID: old.value?.transactionID ?? "", now: moment)
      }
      try await lab.pass(.seconds(40 * 86_400))
      try await phone.launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet, makesOrders: makesOrders)
        let sale = try await shop.purchase("gold", for: "alice") { order in
          if isPaid { _ = try await store.purchase(order) }
          return .purchased(try #require(old.value))
        }
        #expect(isPaid ? sale.isFulfilled : sale == .pending(.payment))
        #expect(!sale.message.contains("Nothing was charged."))
        try await lab.pass(.seconds(60))
        let mine = wallet.outcomes.filter { $0.orderNumber != nil }
        #expect(mine.map(\.account) == (isPaid ? ["alice"] : []))
        #expect(mine.allSatisfy { $0.isFulfilled })
        if !isPaid {
          // The next payment of the plan is hers.
          #expect(try await shop.purchase("gold", for: "alice").isFulfilled)
        }
      }
    }
  }

  // MARK: One token for each account

  /// A backend whose orders of one account have one token.
  private struct TokenBackend: PurchaseBackend {
    let made = Locked(0)
    let token = UUID()
    var makesOrders: Bool { true }

    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      guard let proof = purchase.proof, let end = try SignedTransaction(jws: proof).expiresDate else {
        return .granted
      }
      return end < 1_768_000_000_000 ? .lapsed : .granted
    }
    func makeOrder(
      _ wish: OrderRequest, idempotencyKey: String, for account: BackendCaller
    ) async throws -> OrderDocument {
      let number = made.withLock { count in
        count += 1
        return count
      }
      // The lab begins on 2026-01-01.
      let moment = Int64(1_767_225_600_000) + (number > 1 ? 40 * 86_400_000 : 0)
      return OrderDocument(
        number: "T-\(number)", accountToken: token, productID: wish.productID, quantity: wish.quantity,
        state: .open, createdAt: Timestamp(milliseconds: moment))
    }
  }

  @Test func `an expired transaction with the account's token does not take the place of a payment`()
    async throws
  {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store, old) = (Wallet(), app.store, Locked<StoreTransaction?>(nil))
        var configuration = app.configuration
        configuration.currentAccount = { "alice" }
        let shop = Shop(
          store: store, backend: TokenBackend(), configuration: configuration,
          credentials: { "token-" + $0.account }, fulfil: { try wallet.take($0) })
        _ = try await shop.purchase("gold", for: "alice") { order in
          let result = try await store.purchase(order)
          if case .purchased(let paid) = result { old.withLock { $0 = paid } }
          return result
        }
        let moment = lab.server.moment
        try lab.server.withStore { (store) throws(StoreModelError) in
          _ = try store.setRenewal(on: false, transactionID: old.value?.transactionID ?? "", now: moment)
        }
        try await lab.pass(.seconds(40 * 86_400))
        let sale = try await shop.purchase("gold", for: "alice") { order in
          _ = try await store.purchase(order)
          return .purchased(try #require(old.value))
        }
        #expect(sale.isFulfilled)
        #expect(!sale.message.contains("Nothing was charged."))
        #expect(wallet.outcomes.last?.orderNumber == "T-2")
        #expect(try lab.server.snapshot().charges.count == 2)
      }
    }
  }

  // MARK: Tokens of the app's own

  @Test(arguments: [true, false], [true, false])
  func `a payment with a token of the app's own is not called owned already`(
    makesOrders: Bool, isEarlyUpdate: Bool
  ) async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet, makesOrders: makesOrders)
        let sale = try await shop.purchase("gems", for: "alice") { order in
          let paid = try await store.pay(product: "gems", quantity: 1, accountToken: UUID())
          if isEarlyUpdate {
            // It is settled before the sheet returns.
            try await shop.syncEngine().receive(paid)
            try await lab.pass(.seconds(30))
          }
          return .purchased(paid)
        }
        #expect(!sale.message.contains("Nothing was charged."))
        #expect(sale.isFulfilled)
        try await lab.pass(.seconds(60))
        #expect(wallet.outcomes.count == 1)
        #expect(wallet.outcomes.allSatisfy { !$0.isAlreadyOwned })
      }
    }
  }

  @Test(arguments: [true, false])
  func `a payment without a token that settles before its sheet returns is not called owned already`(
    makesOrders: Bool
  ) async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet, makesOrders: makesOrders)
        let sale = try await shop.purchase("gems", for: "alice") { order in
          let paid = try await store.pay(product: "gems", quantity: 1, accountToken: nil)
          try await shop.syncEngine().receive(paid)
          try await lab.pass(.seconds(30))
          return .purchased(paid)
        }
        #expect(!sale.message.contains("Nothing was charged."))
        try await lab.pass(.seconds(60))
        #expect(wallet.outcomes.allSatisfy { !$0.isAlreadyOwned })
        #expect(wallet.outcomes.count == 1)
      }
    }
  }
}
