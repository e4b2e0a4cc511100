import CoinShop
import Company
import PurchaseSync
import PurchaseSyncTesting
import Testing

/// The same shop with a company's own backend.
@Suite struct CompanyTests {
  // MARK: begin company
  @Test(arguments: [
    FaultPlan.none, .replyLost(path: "/iap/verify", occurrence: 1),
    .requestLost(path: "/iap/verify", occurrence: 1), .outage(path: "/iap/verify", requests: 5),
  ])
  func `each purchase is credited once at the company, and once in the wallet`(faults: FaultPlan) async throws
  {
    try await AppLab.run(products: products) { lab in
      let company = Company(store: lab.server)
      lab.serve("/iap/verify") { company.answer($0) }
      lab.server.setFaults(faults)
      try await lab.phone().launch { app in
        let shop = try app.companyShop()
        try await shop.signIn("alice")
        _ = try await shop.buy("gems.100")
        try await lab.until { await shop.balance() == 100 }
      }
      #expect(company.credits.values.map(\.user) == ["alice"])
    }
  }
  // MARK: end company

  @Test func `what is paid before a kill is credited by the next launch`() async throws {
    try await AppLab.run(products: products) { lab in
      let (company, phone) = (Company(store: lab.server), lab.phone())
      lab.serve("/iap/verify") { company.answer($0) }
      phone.dies(.afterPayment)
      phone.dies(.after(path: "/iap/verify"))
      for _ in 0..<2 {
        try await phone.launch { app in
          let shop = try app.companyShop()
          try await shop.signIn("alice")
          _ = try await shop.buy("gems.100")
        }
      }
      try await phone.launch { app in
        let shop = try app.companyShop()
        try await lab.until { await shop.balance() == company.credits.count * 100 }
        #expect(await shop.balance() > 0)
      }
    }
  }
}
