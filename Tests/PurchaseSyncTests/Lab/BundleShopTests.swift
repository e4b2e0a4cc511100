import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// A bundle, from the payment sheet to `fulfil`: each subscription once, for the account that paid.
@Suite struct BundleShopTests {
  private static let month = Duration.seconds(30 * 86_400)
  private static let products = [
    StoreProduct(subscription: "silver", groupID: "vip", period: month),
    StoreProduct(id: "gems", kind: .consumable),
    StoreProduct(
      bundle: "all", of: [.init("silver"), .init("news"), .init("radio", of: "com.partner.app")],
      period: month),
  ]

  private static func run(
    _ tokens: BundleTokens, _ body: @escaping @Sendable (AppLab, OutcomeBook) async throws -> Void
  ) async throws {
    try await AppLab.run(products: products) { lab in
      lab.server.withStore { $0.bundleTokens = tokens }
      try await body(lab, OutcomeBook())
    }
  }

  private static func expectBoth(_ lab: AppLab, _ book: OutcomeBook, _ account: String = "alice") throws {
    let fulfilled = book.outcomes.filter(\.isFulfilled)
    #expect(Set(fulfilled.map { $0.purchase?.productID }) == ["silver", "news"])
    #expect(fulfilled.allSatisfy { $0.bundleProductID == "all" })
    #expect(fulfilled.allSatisfy { $0.account == account })
    #expect(Set(fulfilled.map(\.key)).count == 2)
    let mock = try lab.server.snapshot()
    #expect(mock.credits.count == 2)
    #expect(mock.creditOwners.allSatisfy { $0 == .account(account) })
    #expect(mock.credits.count { $0.orderNumber != nil } == 1)
  }

  @Test(arguments: BundleTokens.allCases)
  func `a bundle is delivered, and every subscription of it once`(tokens: BundleTokens) async throws {
    try await Self.run(tokens) { lab, book in
      try await lab.phone().launch { app in
        var configuration = app.configuration
        configuration.currentAccount = { "alice" }
        let shop = app.shop(configuration: configuration) { book.take($0) }
        let sale = try await shop.purchase("all", for: "alice")
        #expect(sale.isFulfilled)
        try await lab.pass(.seconds(900))
        try Self.expectBoth(lab, book)
        #expect(await shop.status().purchases.map(\.stage).allSatisfy { $0 == .delivered })
      }
    }
  }

  @Test(arguments: BundleTokens.allCases)
  func `a kill after the payment of a bundle loses none of its subscriptions`(tokens: BundleTokens)
    async throws
  {
    try await Self.run(tokens) { lab, book in
      let phone = lab.phone()
      phone.dies(.afterPayment)
      for _ in 0..<2 {
        try await phone.launch { app in
          var configuration = app.configuration
          configuration.currentAccount = { "alice" }
          let shop = app.shop(configuration: configuration) { book.take($0) }
          if try lab.server.snapshot().charges.isEmpty {
            _ = try await shop.purchase("all", for: "alice")
          }
          try await shop.resume()
          try await lab.pass(.seconds(3_600))
        }
      }
      try Self.expectBoth(lab, book)
    }
  }

  /// A backend with one call, which credits each transaction id once, to the account that asks.
  private struct Company: PurchaseBackend {
    let book: Locked<[String: String]>
    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      guard let account = owner.account else { return .pending(reason: "nobody is signed in") }
      return book.withLock { book in
        let known = book[purchase.transactionID]
        book[purchase.transactionID] = known ?? account
        return known == nil ? .granted : known == account ? .duplicate : .belongsToAnother
      }
    }
  }

  @Test(arguments: BundleTokens.allCases)
  func `a backend with one call delivers a bundle`(tokens: BundleTokens) async throws {
    try await Self.run(tokens) { lab, book in
      let ledger = Locked<[String: String]>([:])
      try await lab.phone().launch { app in
        var configuration = app.configuration
        configuration.currentAccount = { "alice" }
        let shop = Shop(
          store: app.store, backend: Company(book: ledger), configuration: configuration,
          credentials: { "token-" + $0.account }, fulfil: { book.take($0) })
        let sale = try await shop.purchase("all", for: "alice")
        #expect(sale.isFulfilled)
        try await lab.pass(.seconds(900))
      }
      #expect(ledger.value.values.sorted() == ["alice", "alice"])
      #expect(Set(book.outcomes.map { $0.purchase?.productID }) == ["silver", "news"])
      #expect(book.outcomes.compactMap(\.orderNumber).count == 1)
    }
  }

  @Test func `the switch from a subscription to a bundle is told as no refund`() async throws {
    try await Self.run(.all) { lab, book in
      try await lab.phone().launch { app in
        let shop = app.shop { book.take($0) }
        _ = try await shop.purchase("silver", for: "alice")
        try await lab.pass(.seconds(86_400))
        let sale = try await shop.purchase("all", for: "alice")
        #expect(sale.isFulfilled)
        try await shop.resume()
        try await lab.pass(.seconds(900))
      }
      #expect(!book.outcomes.contains { $0.verdict == .refunded })
      #expect(try lab.server.snapshot().reversals.isEmpty)
      #expect(!book.outcomes.map { Sale($0).message }.contains { $0.contains("refunded") })
    }
  }

  @Test(arguments: UnclaimedPolicy.allCases)
  func `a member app delivers what another app has sold, by its policy`(policy: UnclaimedPolicy) async throws
  {
    try await Self.run(.none) { lab, book in
      let moment = lab.server.moment
      let partners = StoreProduct(bundle: "partners", of: [.init("unheard")], period: Self.month)
      _ = try lab.server.withStore { (store) throws(StoreModelError) in
        try store.receive(partners, soldElsewhereTo: "apple-id", now: moment)
      }
      try await lab.phone().launch { app in
        var configuration = app.configuration
        configuration.currentAccount = { "bob" }
        configuration.unclaimed = policy
        let shop = app.shop(configuration: configuration) { book.take($0) }
        try await shop.resume()
        try await lab.pass(.seconds(3_600))
        #expect(await shop.status().purchases.allSatisfy { $0.stage != .needsSupport })
      }
      #expect(book.outcomes.map(\.isFulfilled) == [true])
      #expect(book.outcomes.map { $0.purchase?.productID } == ["unheard"])
      #expect(book.outcomes.map(\.account) == [policy == .signedInAccount ? "bob" : nil])
    }
  }

  @Test(arguments: BundleTokens.allCases)
  func `a code for a bundle gives each subscription to the account that redeemed it`(tokens: BundleTokens)
    async throws
  {
    try await Self.run(tokens) { lab, book in
      try await lab.phone().launch { app in
        var configuration = app.configuration
        configuration.currentAccount = { "alice" }
        let shop = app.shop(configuration: configuration) { book.take($0) }
        let sale = try await shop.redeem(for: "alice") {
          let moment = lab.server.moment
          _ = try lab.server.withStore { (store) throws(StoreModelError) in
            try store.redeem(offerCode: "SPRING", product: "all", storeAccount: "apple-id", now: moment)
          }
          return try await app.store.unfinished().transactions.last
        }
        #expect(sale.isFulfilled)
        try await lab.pass(.seconds(900))
      }
      let mock = try lab.server.snapshot()
      #expect(mock.credits.count == 2)
      #expect(mock.creditOwners.allSatisfy { $0 == .account("alice") })
    }
  }
}
