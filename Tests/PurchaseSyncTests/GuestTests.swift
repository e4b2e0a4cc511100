import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Purchases of a person who is not signed in, and offer codes: both without an order.
@Suite struct GuestTests {
  @Test func `a guest buys without an account, and the next account gets it only if the app says so`()
    async throws
  {
    try await SheetFixture.run { lab in
      let (wallet, user) = (Wallet(), Locked<String?>(nil))
      try await lab.phone().launch { app in
        let shop = app.till(wallet, user: user)
        let sale = try await shop.purchase("pro", for: .guest)
        guard case .delivered(let outcome) = sale else { throw Unexpected(sale: sale) }
        #expect(outcome.account == nil)
        #expect(outcome.owner == .device)
        // Another person uses the phone.
        user.withLock { $0 = "bob" }
        try await shop.signedIn(as: "bob")
        try await lab.pass(.seconds(600))
        let before = try lab.server.snapshot().creditOwners
        #expect(before.count == 1)
        #expect(!before.contains(.account("bob")))
        user.withLock { $0 = "alice" }
        try await shop.signedIn(as: "alice", adoptingGuest: true)
        try await lab.pass(.seconds(600))
        let after = try lab.server.snapshot().creditOwners
        #expect(after == [.account("alice")])
      }
      #expect(wallet.products == ["pro"])
    }
  }

  @Test func `a kill right after the adoption does not undo it`() async throws {
    try await SheetFixture.run { lab in
      let phone = lab.phone()
      try await phone.launch { app in
        let shop = app.till(Wallet(), user: Locked(nil))
        let sale = try await shop.purchase("pro", for: .guest)
        #expect(sale.isFulfilled)
        lab.server.setFaults(.outage(path: "/v1", requests: 1_000_000))
        try await shop.signedIn(as: "alice", adoptingGuest: true)
        await app.die()
      }
      lab.server.setFaults(.none)
      try await phone.launch { app in
        _ = await app.till(Wallet()).status()
        try await lab.pass(.seconds(600))
      }
      let owners = try lab.server.snapshot().creditOwners
      #expect(owners == [.account("alice")])
    }
  }

  @Test(arguments: UnclaimedPolicy.allCases, [true, false])
  func `an approval of a guest's purchase comes to nobody who is signed in by then`(
    policy: UnclaimedPolicy, isReinstalled: Bool
  ) async throws {
    try await SheetFixture.run { lab in
      let (wallet, phone) = (Wallet(), lab.phone())
      lab.setAskToBuy(true)
      try await phone.launch { app in
        let sale = try await app.till(wallet, user: Locked(nil)).purchase("gems", for: .guest)
        #expect(sale == .pending(.approval))
      }
      if isReinstalled { try phone.deleteApp() }
      try lab.approveAll()
      try await phone.launch { app in
        var configuration = app.configuration
        configuration.currentAccount = { "bob" }
        configuration.unclaimed = policy
        let shop = Shop(
          store: app.store, backend: app.backend, configuration: configuration,
          credentials: { "token-" + $0.account }, fulfil: { try wallet.take($0) })
        try await shop.signedIn(as: "bob")
        try await lab.until { wallet.outcomes.count == 1 }
      }
      #expect(wallet.outcomes.first?.owner == .device)
      #expect(wallet.outcomes.first?.account == nil)
      let owners = try lab.server.snapshot().creditOwners
      #expect(!owners.contains(.account("bob")))
    }
  }

  @Test(arguments: SheetLie.allCases)
  func `a guest's payment is found whatever its sheet says`(lie: SheetLie) async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, store) = (Wallet(), app.store)
        let shop = app.till(wallet, user: Locked(nil))
        let sale = try await shop.purchase("gems", for: .guest) { order in
          _ = try await store.purchase(order)
          return try lie.end()
        }
        #expect(sale.isFulfilled)
        #expect(wallet.outcomes.map(\.account) == [nil])
      }
    }
  }

  @Test func `a guest who buys what is owned is told so, and gets nothing of an account`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let user = Locked<String?>("alice")
        let shop = app.till(Wallet(), user: user)
        let hers = try await shop.purchase("pro", for: "alice")
        #expect(hers.isFulfilled)
        user.withLock { $0 = nil }
        try await lab.pass(.seconds(60))
        let sale = try await shop.purchase("pro", for: .guest)
        guard case .settled(let outcome) = sale else { throw Unexpected(sale: sale) }
        #expect(outcome.owner == .another)
        #expect(!String(reflecting: outcome).contains("alice"))
        let own = try await shop.purchase("gold", for: .guest)
        #expect(own.isFulfilled)
        try await lab.pass(.seconds(60))
        let change = try await shop.purchase("bronze", for: .guest)
        guard case .scheduled = change else { throw Unexpected(sale: change) }
      }
    }
  }

  @Test func `a guest's own product bought again is owned already`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let shop = app.till(Wallet(), user: Locked(nil))
        let first = try await shop.purchase("pro", for: .guest)
        #expect(first.isFulfilled)
        try await lab.pass(.seconds(60))
        let again = try await shop.purchase("pro", for: .guest)
        guard case .alreadyOwned = again else { throw Unexpected(sale: again) }
        #expect(try lab.server.snapshot().charges.count == 1)
      }
    }
  }

  @Test func `a guest's token is known by itself, and no other token is one`() {
    for _ in 0..<1_000 {
      let random = UUID()
      #expect(!random.isGuest)
      #expect(UUID.guest(from: random).isGuest)
    }
    let tokens = Set((0..<1_000).map { _ in UUID.guest(from: UUID()) })
    #expect(tokens.count == 1_000)
  }

  /// A small backend, which gives nothing to the account that happens to be signed in.
  private struct SmallBackend: PurchaseBackend {
    let asked: Locked<[Bool]>

    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      asked.withLock { $0.append(purchase.isGuest) }
      return purchase.isGuest ? .pending(reason: "nobody has said whose it is") : .granted
    }
  }

  @Test func `a small backend is told that a guest has paid, also while somebody is signed in`() async throws
  {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, asked) = (Wallet(), Locked<[Bool]>([]))
        var configuration = app.configuration
        configuration.currentAccount = { "bob" }
        let shop = Shop(
          store: app.store, backend: SmallBackend(asked: asked), configuration: configuration,
          credentials: { "token-" + $0.account }, fulfil: { try wallet.take($0) })
        let sale = try await shop.purchase("gems", for: .guest)
        #expect(sale == .pending(.delivery))
        let his = try await shop.purchase("gems", for: "bob")
        #expect(his.isFulfilled)
        #expect(asked.value.first == true)
        #expect(asked.value.contains(false))
        #expect(wallet.outcomes.map(\.account) == ["bob"])
      }
    }
  }

  // MARK: Offer codes

  private static func redeem(_ lab: AppLab, _ app: LabApp, _ product: String) async throws
    -> StoreTransaction?
  {
    let moment = lab.server.moment
    _ = try lab.server.withStore { (store) throws(StoreModelError) in
      try store.redeem(offerCode: "SPRING", product: product, storeAccount: "apple-id", now: moment)
    }
    return try await app.store.unfinished().transactions.last
  }

  @Test(arguments: UnclaimedPolicy.allCases, ["gold", "pro"])
  func `what a code gives is the account's that redeemed it`(policy: UnclaimedPolicy, product: String)
    async throws
  {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let wallet = Wallet()
        var configuration = app.configuration
        configuration.currentAccount = { "alice" }
        configuration.unclaimed = policy
        let shop = Shop(
          store: app.store, backend: app.backend, configuration: configuration,
          credentials: { "token-" + $0.account }, fulfil: { try wallet.take($0) })
        let sale = try await shop.redeem(for: "alice") { try await Self.redeem(lab, app, product) }
        guard case .delivered(let outcome) = sale else { throw Unexpected(sale: sale) }
        #expect(outcome.account == "alice")
        #expect(wallet.products == [product])
        let owners = try lab.server.snapshot().creditOwners
        #expect(owners == [.account("alice")])
      }
    }
  }

  @Test(arguments: [true, false])
  func `a code that the store delivers before its sheet returns is the account's, and once`(fails: Bool)
    async throws
  {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let wallet = Wallet()
        let shop = app.till(wallet)
        let sale = await Result {
          try await shop.redeem(for: "alice") {
            let given = try await Self.redeem(lab, app, "pro")
            try await shop.syncEngine().receive(try #require(given))
            try await lab.pass(.seconds(10))
            if fails { throw StoreError.unknownAnswer }
            return given
          }
        }
        if !fails { #expect(try sale.get().isFulfilled) }
        for text in sale.texts { #expect(!text.contains("again")) }
        try await lab.pass(.seconds(60))
        #expect(wallet.outcomes.map(\.account) == ["alice"])
      }
    }
  }

  @Test func `a kill at the sheet of a code leaves it to the device, and to nobody else`() async throws {
    try await SheetFixture.run { lab in
      let (wallet, phone) = (Wallet(), lab.phone())
      try await phone.launch { app in
        let shop = app.till(wallet)
        _ = await shop.status()
        try await lab.pass(.seconds(5))
        _ = try await shop.redeem(for: "alice") {
          let given = try await Self.redeem(lab, app, "pro")
          await app.die()
          return given
        }
      }
      try await phone.launch { app in
        let shop = app.till(wallet, user: Locked("bob"))
        try await shop.signedIn(as: "bob")
        try await lab.until { wallet.outcomes.count == 1 }
      }
      #expect(wallet.outcomes.map(\.account) == [nil])
      #expect(wallet.outcomes.map(\.owner) == [.device])
    }
  }

  @Test func `a code of another person, redeemed while a sheet hangs, is not the first one's`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, user) = (Wallet(), Locked<String?>("alice"))
        let shop = app.till(wallet, user: user)
        let screen = Task {
          try await shop.redeem(for: "alice") {
            try await lab.pass(.seconds(300 * 86_400))
            return nil
          }
        }
        try await lab.pass(.seconds(5))
        user.withLock { $0 = "bob" }
        let given = try await Self.redeem(lab, app, "pro")
        try await shop.syncEngine().receive(try #require(given))
        try await lab.until { wallet.outcomes.count == 1 }
        #expect(wallet.outcomes.map(\.account) == [nil])
        screen.cancel()
        #expect(try await screen.value == .pending(.payment))
      }
    }
  }

  // MARK: Restoring

  @Test func `a restore returns nothing that another account has`() async throws {
    try await SheetFixture.run { lab in
      try await lab.phone().launch { app in
        let (wallet, user) = (Wallet(), Locked<String?>("bob"))
        let shop = app.till(wallet, user: user, waiting: .seconds(5))
        lab.server.setFaults(.outage(path: "/v1/receipts", requests: 1_000_000))
        let his = try await shop.purchase("gems", for: "bob")
        #expect(his == .pending(.delivery))
        lab.server.setFaults(.none)
        user.withLock { $0 = "alice" }
        // His purchase is delivered while hers are restored.
        let restored = try await shop.restore(for: "alice")
        try await lab.pass(.seconds(60))
        #expect(wallet.outcomes.map(\.account) == ["bob"])
        #expect(restored.isEmpty)
      }
    }
  }
}
