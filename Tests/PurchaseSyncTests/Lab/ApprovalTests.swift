import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Payments that wait for another person, and whose refusal the store reports to no app.
@Suite struct ApprovalTests {
  @Test(arguments: [(true, 3), (true, 14), (false, 14)])
  func `a declined Ask to Buy is not waited for longer than its order lasts, or a week`(
    makesOrders: Bool, days: Int
  ) async throws {
    try await SheetFixture.run { lab in
      lab.server.setOrderLifetime(.seconds(86_400))
      lab.setAskToBuy(true)
      try await lab.phone().launch { app in
        let shop = app.till(Wallet(), makesOrders: makesOrders)
        let sale = try await shop.purchase("gems", for: "alice")
        #expect(sale == .pending(.approval))
        try await lab.pass(.seconds(3_600))
        #expect(await shop.status().purchases.map(\.stage) == [.waitingForApproval])
      }
      try lab.declineAll()
      try await lab.pass(.seconds(days * 86_400))
      try await lab.phone().launch { app in
        let shop = app.till(Wallet(), makesOrders: makesOrders)
        try await shop.signedIn(as: "alice")
        #expect(await shop.status().purchases.isEmpty)
        try await lab.pass(.seconds(10))
        // The backend was asked. It gives no end to an order that the device made.
        let states = try await shop.syncEngine().orders().map(\.state)
        #expect(states == [makesOrders ? .expired : .deferred])
      }
    }
  }

  /// What the phone's clock says of the order's time is then wrong for a year.
  @Test(arguments: [true, false])
  func `a clock that goes back does not make a declined approval wait`(makesOrders: Bool) async throws {
    try await SheetFixture.run { lab in
      lab.server.setOrderLifetime(.seconds(86_400))
      lab.setAskToBuy(true)
      let phone = lab.phone()
      try await phone.launch { app in
        _ = try await app.till(Wallet(), makesOrders: makesOrders).purchase("gems", for: "alice")
        try await lab.pass(.seconds(60))
      }
      try lab.declineAll()
      try await lab.pass(.seconds(9 * 86_400))
      phone.setClockError(.seconds(-365 * 86_400))
      try await phone.launch { app in
        let shop = app.till(Wallet(), makesOrders: makesOrders)
        try await shop.signedIn(as: "alice")
        try await lab.pass(.seconds(60))
        #expect(await shop.status().purchases.isEmpty)
      }
    }
  }

  @Test func `without an answer of the backend an approval is waited for a week`() async throws {
    try await SheetFixture.run { lab in
      lab.setAskToBuy(true)
      try await lab.phone().launch { app in
        let shop = app.till(Wallet(), makesOrders: false)
        lab.server.setFaults(.outage(path: "/v1", requests: 1_000_000))
        let sale = try await shop.purchase("gems", for: "alice")
        #expect(sale == .pending(.approval))
        try await lab.pass(.seconds(6 * 86_400))
        #expect(await shop.status().purchases.map(\.stage) == [.waitingForApproval])
        try await lab.pass(.seconds(2 * 86_400))
        #expect(await shop.status().purchases.isEmpty)
      }
    }
  }

  @Test(arguments: [true, false])
  func `a later purchase of the same product takes the place of the one that waits`(asksAgain: Bool)
    async throws
  {
    try await SheetFixture.run { lab in
      lab.setAskToBuy(true)
      try await lab.phone().launch { app in
        let shop = app.till(Wallet())
        _ = try await shop.purchase("gems", for: "alice")
        _ = try await shop.purchase("coins", for: "alice")
        _ = try await shop.purchase("gems", for: "bob")
        try await lab.pass(.seconds(60))
        if !asksAgain { lab.setAskToBuy(false) }
        _ = try await shop.purchase("gems", quantity: 2, for: "alice")
        try await lab.pass(.seconds(60))
        let hers = await shop.status().purchases.filter { $0.account == "alice" }
        let gems = hers.filter { $0.productID == "gems" }
        #expect(gems.map(\.stage) == [asksAgain ? .waitingForApproval : .delivered])
        #expect(gems.map(\.quantity) == [2])
        // What others wait for, and other products, is not touched.
        #expect(hers.count == 2)
        #expect(await shop.status().purchases.count == 3)
      }
    }
  }

  @Test(arguments: [true, false])
  func `an approval that comes after the screen has stopped waiting is delivered`(makesOrders: Bool)
    async throws
  {
    try await SheetFixture.run { lab in
      lab.server.setOrderLifetime(.seconds(86_400))
      lab.setAskToBuy(true)
      let (wallet, phone) = (Wallet(), lab.phone())
      try await phone.launch { app in
        _ = try await app.till(wallet, makesOrders: makesOrders).purchase("gems", for: "alice")
        try await lab.pass(.seconds(60))
      }
      try await lab.pass(.seconds(10 * 86_400))
      try await phone.launch { app in
        let shop = app.till(wallet, makesOrders: makesOrders)
        try await shop.signedIn(as: "alice")
        try await lab.pass(.seconds(60))
        try lab.approveAll()
        try await shop.retryNow()
        try await lab.until { wallet.outcomes.count == 1 }
      }
      #expect(wallet.outcomes.map(\.account) == ["alice"])
      #expect(wallet.products == ["gems"])
    }
  }
}
