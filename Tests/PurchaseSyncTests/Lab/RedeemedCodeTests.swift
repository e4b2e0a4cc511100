import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Offer codes of every kind of product: what the sheet returns is the account's that redeemed it, and nothing is lost or
/// given to another one if the sheet, the file or the app ends first.
@Suite struct RedeemedCodeTests {
  private static let month = Duration.seconds(30 * 86_400)
  private static let products = [
    StoreProduct(id: "gems", kind: .consumable), StoreProduct(id: "pro", kind: .nonConsumable),
    StoreProduct(id: "pass", kind: .nonRenewing),
    StoreProduct(subscription: "silver", groupID: "vip", period: month),
    StoreProduct(bundle: "all", of: [.init("gold"), .init("news")], period: month),
  ]
  private static let kinds = ["gems", "pro", "pass", "silver", "all"]

  private static func run(
    _ body: @escaping @Sendable (AppLab, OutcomeBook) async throws -> Void
  ) async throws {
    try await AppLab.run(products: products) { lab in try await body(lab, OutcomeBook()) }
  }

  private static func shop(
    _ app: LabApp, _ book: OutcomeBook, signedIn account: String? = "alice",
    _ policy: UnclaimedPolicy = .device
  ) -> Shop {
    var configuration = app.configuration
    configuration.currentAccount = { account }
    configuration.unclaimed = policy
    return app.shop(configuration: configuration) { book.take($0) }
  }

  @Test(arguments: kinds, UnclaimedPolicy.allCases)
  func `what the sheet returns is delivered to the account, and once`(
    product: String, policy: UnclaimedPolicy
  )
    async throws
  {
    try await Self.run { lab, book in
      try await lab.phone().launch { app in
        let shop = Self.shop(app, book, policy)
        let sale = try await shop.redeem(for: "alice") { try lab.redeem("SPRING", product: product) }
        guard case .delivered(let outcome) = sale else { throw Unexpected(sale: sale) }
        #expect(outcome.account == "alice")
        try await lab.pass(.seconds(900))
      }
      let mock = try lab.server.snapshot()
      #expect(mock.credits.count == (product == "all" ? 2 : 1))
      #expect(mock.creditOwners.allSatisfy { $0 == .account("alice") })
      #expect(mock.doubledCredits == 0)
    }
  }

  private struct Unexpected: Error { var sale: Sale }

  @Test(arguments: kinds)
  func `a kill between the sheet's answer and its storage loses nothing, and the policy decides`(
    product: String
  )
    async throws
  {
    try await Self.run { lab, book in
      let phone = lab.phone()
      try await phone.launch { app in
        _ = try await Self.shop(app, book).redeem(for: "alice") {
          let given = try lab.redeem("SPRING", product: product)
          await app.die()
          return given
        }
      }
      try await phone.launch { app in
        let shop = Self.shop(app, book, .signedInAccount)
        try await shop.resume()
        try await lab.until { book.outcomes.count == (product == "all" ? 2 : 1) }
      }
      #expect(book.outcomes.allSatisfy { $0.account == "alice" && $0.isFulfilled })
      #expect(try lab.server.snapshot().doubledCredits == 0)
    }
  }

  @Test(arguments: kinds)
  func `a backend that is down delays a code, and gives it to no other account`(product: String) async throws
  {
    try await Self.run { lab, book in
      lab.server.setFaults(.outage(path: "/v1/receipts", requests: 1_000_000))
      try await lab.phone().launch { app in
        let user = Locked<String?>("alice")
        var configuration = app.configuration
        configuration.currentAccount = { user.value }
        let shop = app.shop(configuration: configuration) { book.take($0) }
        let sale = try await shop.redeem(for: "alice") { try lab.redeem("SPRING", product: product) }
        #expect(sale == .pending(.delivery))
        user.withLock { $0 = "bob" }
        lab.server.setFaults(.none)
        try await lab.until { !book.outcomes.isEmpty }
        #expect(book.outcomes.first?.account == "alice")
        #expect(!book.outcomes.contains { $0.account == "bob" })
      }
    }
  }

  @Test func `a sheet that is closed without a code is cancelled, and leaves nothing behind`() async throws {
    try await Self.run { lab, book in
      try await lab.phone().launch { app in
        let shop = Self.shop(app, book)
        #expect(try await shop.redeem(for: "alice") { nil } == .cancelled)
        // What is redeemed elsewhere afterwards does not belong to this sheet.
        try lab.redeem("SPRING", product: "pro")
        try await shop.resume()
        try await lab.until { !book.outcomes.isEmpty }
      }
      #expect(book.outcomes.map(\.account) == [nil])
    }
  }

  @Test func `a code for another account's running subscription stays that account's`() async throws {
    try await Self.run { lab, book in
      try await lab.phone().launch { app in
        let shop = Self.shop(app, book, signedIn: "bob")
        let his = try await shop.purchase("silver", for: "bob")
        #expect(his.isFulfilled)
        let sale = try await shop.redeem(for: "alice") { try lab.redeem("SPRING", product: "silver") }
        #expect(!sale.isFulfilled)
        #expect(sale.message.contains("another account"))
      }
      #expect(try lab.server.snapshot().creditOwners == [.account("bob")])
    }
  }
}
