import AppStoreDocuments
import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync
import Testing

@testable import PurchaseSyncTesting

/// A parent no longer consents to the use of the app.
@Suite struct ConsentTests {
  @Test func `the notification names the store account, and no transaction`() throws {
    var store = StoreModel(products: Sample.products, forge: Sample.forge)
    store.notifications.versions = [.two]
    let signed = try store.rescindConsent(storeAccount: "child", now: Sample.now)
    let notification = try ServerNotificationV2(jws: signed)
    #expect(notification.kind == .rescindConsent)
    #expect(notification.bundleID == Sample.bundleID)
    #expect(notification.details == nil)
    let app = try #require(try notification.appData?.appTransaction())
    #expect(app.appTransactionID == store.appTransactionID(of: "child"))
    #expect(store.takeNotifications(now: Sample.now).map(\.kind) == ["RESCIND_CONSENT"])
    #expect(throws: StoreModelError.noStoreAccount) {
      try store.rescindConsent(storeAccount: "", now: Sample.now)
    }
  }

  @Test func `what is paid before the consent is withdrawn is delivered, and nothing is taken back`()
    async throws
  {
    try await AppLab.run(products: [StoreProduct(id: "gems", kind: .consumable)]) { lab in
      let phone = lab.phone()
      let wallet = ConsentWallet()
      try await phone.launch { app in
        let shop = app.till(wallet)
        let first = try await shop.purchase("gems", for: "alice")
        #expect(first.isFulfilled)
        lab.server.setFaults(.outage(path: "/v1/receipts", requests: 1_000_000))
        let second = try await shop.purchase("gems", for: "alice")
        #expect(second == .pending(.delivery))
      }
      try await lab.rescindConsent()
      lab.server.setFaults(.none)
      try await phone.launch { app in
        let shop = app.till(wallet)
        try await lab.until { await wallet.count == 2 }
        #expect(await shop.status().problem == nil)
      }
      #expect(try lab.server.snapshot().charges.count == 2)
      #expect(await wallet.takenBack == 0)
    }
  }
}

extension LabApp {
  fileprivate func till(_ wallet: ConsentWallet) -> PurchaseSync.Shop {
    PurchaseSync.Shop(
      store: store, backend: backend, configuration: configuration, credentials: { "token-" + $0.account },
      fulfil: { await wallet.take($0) })
  }
}

private actor ConsentWallet {
  private(set) var count = 0
  private(set) var takenBack = 0

  func take(_ outcome: Outcome) {
    if outcome.isFulfilled { count += 1 } else { takenBack += 1 }
  }
}
