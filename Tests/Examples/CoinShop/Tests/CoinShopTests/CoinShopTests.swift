import CoinShop
import PurchaseSync
import PurchaseSyncTesting
import Testing

// The examples of the documentation are between marks. A test compares the texts.
@Suite struct CoinShopTests {
  // MARK: begin reply lost
  @Test func `a lost reply costs neither the purchase nor a second credit`() async throws {
    try await AppLab.run(products: products) { lab in
      lab.server.setFaults(.replyLost(path: "/v1/receipts", occurrence: 1))
      try await lab.phone().launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        let sale = try await shop.buy("gems.100")
        #expect(sale.isFulfilled)
        #expect(await shop.balance() == 100)
      }
      #expect(try lab.server.snapshot().doubledCredits == 0)
    }
  }
  // MARK: end reply lost

  // MARK: begin killed after payment
  @Test func `what is paid before a kill is credited by the next launch`() async throws {
    try await AppLab.run(products: products) { lab in
      let phone = lab.phone()
      phone.dies(.afterPayment)
      let sale = try await phone.launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        return try await shop.buy("gems.100")
      }
      #expect(sale == nil)  // Killed: no code of the app knows of the payment.
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await lab.until { await shop.balance() == 100 }
      }
    }
  }
  // MARK: end killed after payment

  // MARK: begin sheet that lies
  @Test func `a payment is credited although its sheet says cancelled`() async throws {
    try await AppLab.run(products: products) { lab in
      let phone = lab.phone()
      phone.sheetSays(.cancelled)
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        let sale = try await shop.buy("gems.100")
        #expect(sale.isFulfilled)
        #expect(await shop.balance() == 100)
      }
    }
  }
  // MARK: end sheet that lies

  // MARK: begin Ask to Buy
  @Test func `Ask to Buy that is approved while the app is dead is credited by the next launch`() async throws
  {
    try await AppLab.run(products: products) { lab in
      let phone = lab.phone()
      lab.setAskToBuy(true)
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        #expect(try await shop.buy("gems.100") == .pending(.approval))
      }
      try await lab.pass(.seconds(2 * 86_400))
      try lab.approveAll()
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await lab.until { await shop.balance() == 100 }
      }
    }
  }
  // MARK: end Ask to Buy

  // MARK: begin two hours
  @Test func `a backend that is down for two hours is waited for without waiting`() async throws {
    try await AppLab.run(products: products) { lab in
      try await lab.phone().launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        lab.server.setFaults(.outage(path: "/v1/receipts", requests: 1_000_000))
        let sale = try await shop.buy("gems.100")
        #expect(sale == .pending(.delivery))
        #expect(await shop.list().contains("gems.100: Paid, on its way"))
        let before = app.now
        try await lab.pass(.seconds(7_200))
        #expect(app.now.timeIntervalSince(before) >= 7_200)
        #expect(await shop.balance() == 0)
        lab.server.setFaults(.none)
        try await lab.until { await shop.balance() == 100 }
        // The longest wait of the back-off is 20 minutes.
        #expect(app.now.timeIntervalSince(before) <= 7_200 + 1_200)
      }
    }
  }
  // MARK: end two hours

  @Test func `an account that signs out after the payment is credited when it signs in`() async throws {
    try await AppLab.run(products: products) { lab in
      let phone = lab.phone()
      phone.dies(.afterPayment)
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        _ = try await shop.buy("gems.100")
      }
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await shop.signIn(nil)
        try await lab.pass(.seconds(60))
        await #expect(throws: NotSignedIn.self) { try await shop.buy("gems.100") }
        try await shop.signIn("alice")
        try await lab.until { await shop.balance() == 100 }
      }
    }
  }

  @Test func `a second phone restores what is owned, and each phone credits its own coins once`() async throws
  {
    try await AppLab.run(products: products) { lab in
      try await lab.phone("old").launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        #expect(try await shop.buy("unlock").isFulfilled)
        #expect(try await shop.buy("coins.500").isFulfilled)
        try await lab.pass(.seconds(60))  // The store hears that both are done.
      }
      try await lab.phone("new").launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        #expect(try await shop.restore().count == 1)
        #expect(await shop.wallet.owns("unlock", "alice"))
        #expect(await shop.balance() == 0)
        #expect(try await shop.buy("unlock").message.contains("Nothing was charged."))
      }
    }
  }

  @Test func `coins that the first phone did not finish come to the second phone as well`() async throws {
    try await AppLab.run(products: products) { lab in
      // So a wallet on the phone is for one phone: see `Wallet`.
      let old = lab.phone("old")
      old.dies(.before(path: "/store/finish"))
      for phone in [old, lab.phone("new")] {
        try await phone.launch { app in
          let shop = try app.coinShop()
          try await shop.signIn("alice")
          if phone === old { _ = try await shop.buy("gems.100") }
          try await lab.until { await shop.balance() == 100 }
          try await lab.pass(.seconds(60))
        }
      }
      #expect(try lab.server.snapshot().credits.count == 1)
    }
  }

  @Test func `a refund takes the coins back`() async throws {
    try await AppLab.run(products: products) { lab in
      try await lab.phone().launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        #expect(try await shop.buy("gems.100").isFulfilled)
        try await lab.pass(.seconds(86_400))
        let charge = try #require(try lab.server.snapshot().charges.first)
        try await lab.refund(transactionID: charge.transactionID)
        try await shop.shop.resume()
        try await lab.until { await shop.balance() == 0 }
      }
    }
  }

  @Test func `a refund of some packs takes back the coins of these packs`() async throws {
    try await AppLab.run(products: products) { lab in
      let phone = lab.phone()
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        #expect(try await shop.shop.purchase("gems.100", quantity: 3, for: "alice").isFulfilled)
        #expect(await shop.balance() == 300)
        try await lab.pass(.seconds(60))
      }
      let charge = try #require(try lab.server.snapshot().charges.first)
      // Each time the app is launched again. The second pack is refunded under the date of the first one.
      for (extent, coins) in [(RefundExtent.units(1), 200), (.units(2), 100), (nil, 300), (.whole, 0)] {
        if let extent {
          try await lab.refund(transactionID: charge.transactionID, extent)
        } else {
          try await lab.reverseRefund(transactionID: charge.transactionID)
        }
        try await phone.launch { app in
          let shop = try app.coinShop()
          try await shop.signIn("alice")
          try await lab.until { await shop.balance() == coins }
          try await lab.pass(.seconds(60))
          #expect(await shop.balance() == coins)
        }
        #expect(try lab.server.snapshot().unitsCredited(of: charge.transactionID) == coins / 100)
      }
    }
  }

  @Test func `a refund that the store reverses ends with the coins`() async throws {
    try await AppLab.run(products: products) { lab in
      try await lab.phone().launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        for product in ["gems.100", "unlock"] { #expect(try await shop.buy(product).isFulfilled) }
        // Both are finished.
        try await lab.pass(.seconds(60))
        let charges = try lab.server.snapshot().charges
        for charge in charges { try await lab.refund(transactionID: charge.transactionID) }
        try await shop.shop.resume()
        try await lab.until { await shop.balance() == 0 }
        try await lab.pass(.seconds(60))
        #expect(await !shop.wallet.owns("unlock", "alice"))
        for charge in charges { try await lab.reverseRefund(transactionID: charge.transactionID) }
        try await shop.shop.resume()
        try await lab.until { await shop.balance() == 100 }
        try await lab.pass(.seconds(60))
        #expect(await shop.wallet.owns("unlock", "alice"))
      }
    }
  }

  // MARK: begin consent
  @Test func `a consent that a parent withdraws takes no coins, and what is paid is credited later`()
    async throws
  {
    try await AppLab.run(products: products) { lab in
      let phone = lab.phone()
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await shop.signIn("alice")
        lab.server.setFaults(.outage(path: "/v1/receipts", requests: 1_000_000))
        #expect(try await shop.buy("gems.100") == .pending(.delivery))
      }
      try await lab.rescindConsent()
      lab.server.setFaults(.none)
      // After a new consent.
      try await phone.launch { app in
        let shop = try app.coinShop()
        try await lab.until { await shop.balance() == 100 }
      }
    }
  }
  // MARK: end consent

  @Test func `what goes wrong before the payment says that nothing was charged`() async throws {
    try await AppLab.run(products: products) { lab in
      let phone = lab.phone()
      try await phone.launch { app in
        let shop = try app.coinShop()
        await #expect(throws: NotSignedIn.self) { try await shop.buy("gems.100") }
        try await shop.signIn("alice")
        phone.setOffline(true)
        let sale = try await shop.buy("gems.100")
        #expect(!sale.isFulfilled && sale.message.contains("Nothing was charged."), "\(sale.message)")
      }
    }
  }
}
