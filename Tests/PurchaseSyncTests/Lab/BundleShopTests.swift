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
      lab.setBundleTokens(tokens)
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
      try await lab.sellElsewhere(bundle: "partners", of: ["unheard"], period: Self.month)
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
        let sale = try await shop.redeem(for: "alice") { try lab.redeem("SPRING", product: "all") }
        #expect(sale.isFulfilled)
        try await lab.pass(.seconds(900))
      }
      let mock = try lab.server.snapshot()
      #expect(mock.credits.count == 2)
      #expect(mock.creditOwners.allSatisfy { $0 == .account("alice") })
    }
  }

  @Test(arguments: BundleTokens.allCases, UnclaimedPolicy.allCases)
  func `what a guest's sheet returns of a bundle is no account's`(
    tokens: BundleTokens, policy: UnclaimedPolicy
  ) async throws {
    try await Self.run(tokens) { lab, book in
      try await lab.phone().launch { app in
        var configuration = app.configuration
        configuration.currentAccount = { "bob" }
        configuration.unclaimed = policy
        let shop = app.shop(configuration: configuration) { book.take($0) }
        let sale = try await shop.purchase("all", for: .guest)
        guard case .delivered(let outcome) = sale else { throw Unexpected(sale: sale) }
        #expect(outcome.account == nil)
      }
    }
  }

  private struct Unexpected: Error { var sale: Sale }

  private static func logging(_ app: LabApp, to records: Locked<[SyncLogRecord]>) -> SyncConfiguration {
    var configuration = app.configuration
    configuration.log = { record in records.withLock { $0.append(record) } }
    return configuration
  }

  @Test func `two devices of an account deliver a bundle once, and report no contradiction`() async throws {
    try await Self.run(.all) { lab, book in
      let records = Locked<[SyncLogRecord]>([])
      let phone = lab.phone()
      try await phone.launch { app in
        let shop = app.shop(configuration: Self.logging(app, to: records)) { book.take($0) }
        _ = try await shop.purchase("all", for: "alice")
      }
      let pad = OutcomeBook()
      try await lab.phone("pad").launch { app in
        var configuration = Self.logging(app, to: records)
        configuration.currentAccount = { "alice" }
        let shop = app.shop(configuration: configuration) { pad.take($0) }
        try await shop.resume()
        try await lab.pass(.seconds(3_600))
      }
      try await phone.launch { app in
        let shop = app.shop(configuration: Self.logging(app, to: records)) { book.take($0) }
        try await shop.resume()
        try await lab.pass(.seconds(3_600))
      }
      let mock = try lab.server.snapshot()
      #expect(mock.credits.count == 2)
      #expect(mock.credits.count { $0.orderNumber != nil } == 1)
      #expect((book.outcomes + pad.outcomes).allSatisfy { $0.isFulfilled && $0.owner == .yours })
      // The engine reports a contradiction as a fault of the backend.
      let names = records.value.map(\.name)
      #expect(names.contains("delivered") && !names.contains("backendFault"), "\(records.value)")
    }
  }

  @Test(arguments: [true, false])
  func `a subscription that left its bundle is delivered alone, or ends`(keeps: Bool) async throws {
    try await Self.run(.first) { lab, book in
      let phone = lab.phone()
      try await phone.launch { app in
        let shop = app.shop { book.take($0) }
        _ = try await shop.purchase("all", for: "alice")
        try await lab.pass(.seconds(900))
      }
      let first = try lab.server.snapshot().charges[0].transactionID
      try await lab.leaveBundle(transactionID: first, keeps: keeps)
      try await lab.pass(.seconds(31 * 86_400))
      try await phone.launch { app in
        let shop = app.shop { book.take($0) }
        try await shop.resume()
        try await lab.pass(.seconds(900))
      }
      let renewed = book.outcomes.filter { $0.isFulfilled }.dropFirst(2)
      #expect(Set(renewed.map { $0.purchase?.productID }) == (keeps ? ["silver", "news"] : ["news"]))
      #expect(renewed.allSatisfy { $0.account == "alice" })
      #expect(renewed.first { $0.purchase?.productID == "silver" }?.bundleProductID == nil)
    }
  }
}
