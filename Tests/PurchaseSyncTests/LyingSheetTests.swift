import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Sheets that end in a way which does not say what was charged.
@Suite struct LyingSheetTests {
  @Test(arguments: SheetLie.allCases, [true, false])
  func `a payment is found at once whatever its sheet says`(lie: SheetLie, makesOrders: Bool) async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet, makesOrders: makesOrders)
        let sale = try await shop.purchase("gems", for: "alice") { order in
          _ = try await store.purchase(order)
          return try lie.end()
        }
        #expect(sale.isFulfilled)
        #expect(wallet.outcomes.map(\.account) == ["alice"])
        #expect(wallet.outcomes.first?.orderNumber != nil)
        #expect(try lab.server.snapshot().charges.count == 1)
      }
    }
  }

  @Test(arguments: SheetLie.allCases, [3, 30, 250])
  func `a payment that comes minutes after its sheet is delivered without a tap`(
    lie: SheetLie, seconds: Int
  ) async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store, orders) = (Wallet(), app.store, Locked<[PurchaseOrder]>([]))
        let shop = app.till(wallet)
        let sale = await Result {
          try await shop.purchase("gems", for: "alice") { order in
            orders.withLock { $0.append(order) }
            return try lie.end()
          }
        }
        for text in sale.texts { #expect(!text.lowercased().contains("again"), "\(text)") }
        #expect(!sale.texts.joined().contains("Nothing was charged."))
        try await lab.pass(.seconds(seconds))
        let order = try #require(orders.value.first)
        _ = try await store.purchase(order)
        try await lab.pass(.seconds(301))
        #expect(wallet.outcomes.map(\.orderNumber) == [order.number])
      }
    }
  }

  @Test(arguments: SheetLie.allCases)
  func `a backend that is down hides no payment of a lying sheet`(lie: SheetLie) async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet)
        let sale = try await shop.purchase("gems", for: "alice") { order in
          lab.server.setFaults(.outage(path: "/v1/receipts", requests: 1_000_000))
          _ = try await store.purchase(order)
          return try lie.end()
        }
        #expect(sale == .pending(.delivery))
        lab.server.setFaults(.none)
        try await shop.retryNow()
        try await lab.until { wallet.outcomes.count == 1 }
      }
    }
  }

  @Test(arguments: SheetLie.allCases)
  func `a kill after a lying sheet leaves the payment to the next launch`(lie: SheetLie) async throws {
    try await SheetFixture.run { lab in
      let wallet = Wallet()
      let phone = lab.phone()
      try await phone.launch { app in
        let (shop, store) = (app.till(wallet), app.store)
        _ = try await shop.purchase("gems", for: "alice") { order in
          _ = try await store.purchase(order)
          await app.die()
          return try lie.end()
        }
      }
      #expect(wallet.outcomes.isEmpty)
      try await phone.launch { app in
        let shop = app.till(wallet)
        try await lab.until { wallet.outcomes.count == 1 }
        #expect(await shop.status().problem == nil)
      }
      #expect(wallet.outcomes.map(\.account) == ["alice"])
    }
  }

  /// What happens between the kill at a lying sheet and the next launch.
  enum Interlude: CaseIterable {
    case reinstall, clockAhead, clockBack, otherPhone, otherAccount

    func happens(to phone: LabPhone) throws {
      switch self {
      case .reinstall: try phone.deleteApp()
      case .clockAhead: phone.setClockError(.seconds(366 * 86_400))
      case .clockBack: phone.setClockError(.seconds(-366 * 86_400))
      case .otherPhone, .otherAccount: break
      }
    }
  }

  @Test(arguments: Interlude.allCases, [true, false])
  func `a payment of a lying sheet is hers, whatever happens before the next launch`(
    interlude: Interlude, makesOrders: Bool
  ) async throws {
    try await SheetFixture.run { lab in
      let (wallet, phone) = (Wallet(), lab.phone())
      phone.sheetSays(.cancelled)
      phone.dies(.after(path: "/store/payments"))
      try await phone.launch { app in
        _ = try await app.till(wallet, makesOrders: makesOrders).purchase("gems", for: "alice")
      }
      #expect(wallet.outcomes.isEmpty)
      try interlude.happens(to: phone)
      let next = interlude == .otherPhone ? lab.phone("pad") : phone
      let user = interlude == .otherAccount ? "bob" : "alice"
      try await next.launch { app in
        let shop = app.till(wallet, user: Locked(user), makesOrders: makesOrders)
        try await shop.signedIn(as: user)
        try await lab.until { wallet.outcomes.count == 1 }
        try await lab.pass(.seconds(60))
      }
      // A pad knows no order that a phone made and has not registered. Then it is the device's, and no other account's.
      let owners = try lab.server.snapshot().creditOwners
      #expect(owners.count == 1)
      #expect(!owners.contains(.account("bob")))
      if interlude != .otherPhone || makesOrders { #expect(owners == [.account("alice")]) }
    }
  }

  @Test func `a caller that goes away at an open sheet does not keep its payment from her`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet)
        let screen = Task {
          try await shop.purchase("gems", for: "alice") { order in
            _ = try await store.purchase(order)
            // It never returns.
            try await lab.pass(.seconds(100 * 86_400))
            return .cancelled
          }
        }
        try await lab.pass(.seconds(2))
        screen.cancel()
        #expect(try await screen.value == .pending(.payment))
        try await lab.pass(.seconds(60))
        #expect(wallet.outcomes.count == 1)
      }
    }
  }

  @Test
  func `looks at the store end after ten minutes, and no number of sheets makes more than one a second`()
    async throws
  {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let store = CountedStore(inner: app.store)
        let shop = app.till(Wallet(), store: store)
        let sale = try await shop.purchase("gems", for: "alice") { _ in .cancelled }
        #expect(sale == .cancelled)
        try await lab.pass(.seconds(900))
        let looks = store.listings.value
        #expect((1...2).contains(looks - SheetAftermath.pauses.count))
        try await lab.pass(.seconds(86_400))
        #expect(store.listings.value == looks)
        let begin = app.now
        for _ in 0..<100 {
          _ = try await shop.purchase("gems", for: "alice") { _ in .cancelled }
        }
        let seconds = Int(app.now.timeIntervalSince(begin).rounded(.up))
        #expect((1...seconds + 1).contains(store.listings.value - looks))
      }
    }
  }

  @Test func `a store that does not answer holds up the end of a sheet for seconds only`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let hangs = Locked(false)
        let store = HangingList(inner: app.store, lab: lab, hangs: hangs)
        let shop = app.till(Wallet(), store: store)
        _ = await shop.status()
        hangs.withLock { $0 = true }
        let begin = app.now
        let sale = try await shop.purchase("gems", for: "alice") { _ in .cancelled }
        #expect(sale == .cancelled)
        #expect((3..<5).contains(app.now.timeIntervalSince(begin)), "it was asked, and not waited for")
      }
    }
  }

  @Test func `a payment whose transaction cannot be stored is not called failed`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet)
        let sale = try await shop.purchase("gems", for: "alice") { order in
          let paid = try await store.purchase(order)
          // The file is gone when the answer comes.
          try await shop.syncEngine().shutdown()
          return paid
        }
        #expect(sale == .pending(.delivery))
        #expect(!sale.message.contains("again"))
      }
    }
  }
}

/// A store whose list does not end.
private struct HangingList: SellingStore {
  let inner: MockStoreClient
  let lab: AppLab
  let hangs: Locked<Bool>

  var updates: AsyncStream<StoreTransaction> { inner.updates }
  func purchase(_ order: PurchaseOrder) async throws -> PurchaseResult { try await inner.purchase(order) }
  func unfinished() async throws -> StoreListing {
    if hangs.value { try await lab.pass(.seconds(86_400)) }
    return try await inner.unfinished()
  }
  func finish(transactionIDs: [String]) async throws -> [String: FinishResult] {
    try await inner.finish(transactionIDs: transactionIDs)
  }
}

extension Result where Success == Sale, Failure == any Error {
  init(_ body: () async throws -> Sale) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }

  /// All that a user may read.
  var texts: [String] {
    switch self {
    case .success(let sale): return [sale.message]
    case .failure(let error):
      let error = error as? SyncError
      return [error?.errorDescription, error?.failureReason, error?.recoverySuggestion].compactMap(\.self)
    }
  }
}
