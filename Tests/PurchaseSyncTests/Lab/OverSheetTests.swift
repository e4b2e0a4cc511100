import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The store answers the payment of a plan with a period that is over, for as long as that is not finished
/// (purchases-ios#6374), and charges nothing.
@Suite struct OverSheetTests {
  private static let down = FaultPlan.outage(path: "/v1/receipts", requests: 1_000_000)

  /// A period of gold that has ended, and that no backend has ruled on yet.
  private func withOver(
    _ body: @escaping @Sendable (AppLab, LabPhone, Wallet) async throws -> Void
  ) async throws {
    try await SheetFixture.run { lab in
      let (wallet, phone) = (Wallet(), lab.phone())
      lab.server.withStore { $0.faults.repeatsTransactions = true }
      lab.server.setFaults(Self.down)
      try await phone.launch { app in
        let sale = try await app.till(wallet).purchase("gold", for: "alice")
        #expect(sale == .pending(.delivery))
      }
      let id = try #require(try lab.server.snapshot().charges.first?.transactionID)
      let now = lab.server.moment
      try lab.server.withStore { (store) throws(StoreModelError) in
        _ = try store.setRenewal(on: false, transactionID: id, now: now)
      }
      try await lab.pass(.seconds(40 * 86_400))
      try await body(lab, phone, wallet)
    }
  }

  @Test func `each try while the backend is down is answered by the period that is over`() async throws {
    try await withOver { lab, phone, wallet in
      try await phone.launch { app in
        let shop = app.till(wallet)
        for _ in 0..<3 {
          let sale = try await shop.purchase("gold", for: "alice")
          #expect(sale == .pending(.payment))
          #expect(!sale.message.lowercased().contains("again"))
        }
      }
      #expect(try lab.server.snapshot().charges.count == 1)
      #expect(wallet.outcomes.isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func `once the backend has ruled on the period that is over, the next try is a payment`(
    isKilled: Bool
  ) async throws {
    try await withOver { lab, phone, wallet in
      let firstTry: @Sendable (Shop) async throws -> Void = { shop in
        let sale = try await shop.purchase("gold", for: "alice")
        #expect(sale == .pending(.payment))
      }
      let secondTry: @Sendable (LabApp, Shop) async throws -> Void = { app, shop in
        lab.server.setFaults(.none)
        try await shop.retryNow()
        try await lab.until { try await app.store.unfinished().transactions.isEmpty }
        let sale = try await shop.purchase("gold", for: "alice")
        #expect(sale.isFulfilled)
      }
      try await phone.launch { app in
        let shop = app.till(wallet)
        try await firstTry(shop)
        if !isKilled { try await secondTry(app, shop) }
      }
      if isKilled { try await phone.launch { app in try await secondTry(app, app.till(wallet)) } }
      #expect(try lab.server.snapshot().charges.count == 2)
      #expect(wallet.outcomes.filter(\.isFulfilled).count == 1)
      #expect(try lab.server.snapshot().doubledCredits == 0)
    }
  }

  @Test func `the period that is over gives another account that tries nothing`() async throws {
    try await withOver { lab, phone, wallet in
      try await phone.launch { app in
        let shop = app.till(wallet, user: Locked("bob"))
        let sale = try await shop.purchase("gold", for: "bob")
        #expect(sale == .pending(.payment))
        lab.server.setFaults(.none)
        try await shop.retryNow()
        try await lab.until { try await app.store.unfinished().transactions.isEmpty }
      }
      #expect(!(try lab.server.snapshot().creditOwners.contains(.account("bob"))))
    }
  }
}
