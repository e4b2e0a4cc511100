import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Whose a purchase is by its account token, from the sheet to the backend's ledger.
@Suite struct TokenOwnerTests {
  static let gems = StoreProduct(id: "gems", kind: .consumable)
  static let coins = StoreProduct(id: "coins", kind: .consumable)
  static let plan = StoreProduct(subscription: "plan", groupID: "plans", period: .seconds(30 * 86_400))
  static let bundle = StoreProduct(subscription: "bundle", groupID: "bundles", period: .seconds(30 * 86_400))

  /// A company's backend with one token for each user, as Apple describes the account token. What no user has is given to
  /// the one that asks.
  final class PerUser: PurchaseBackend {
    struct State {
      var lastOrder = 0
      var tokens: [String: UUID] = [:]
      var orders: [String: OrderDocument] = [:]
      var owners: [String: String] = [:]
    }

    let state = Locked(State())
    let countsPerUser: Bool
    let now: @Sendable () -> Date

    init(countsPerUser: Bool = false, now: @escaping @Sendable () -> Date) {
      (self.countsPerUser, self.now) = (countsPerUser, now)
    }

    var makesOrders: Bool { true }
    var owners: [String] { state.value.owners.values.sorted() }
    func token(of user: String) -> UUID { state.withLock { Self.token(of: user, &$0) } }

    private static func token(of user: String, _ state: inout State) -> UUID {
      let token = state.tokens[user] ?? UUID()
      state.tokens[user] = token
      return token
    }

    func makeOrder(
      _ wish: OrderRequest, idempotencyKey: String, for account: BackendCaller
    ) async throws -> OrderDocument {
      let user = account.account ?? ""
      return state.withLock { state in
        if let known = state.orders[idempotencyKey] { return known }
        state.lastOrder += 1
        let token = countsPerUser ? UUID() : Self.token(of: user, &state)
        let order = OrderDocument(
          number: countsPerUser ? "1" : "\(state.lastOrder)", accountToken: token, productID: wish.productID,
          quantity: wish.quantity, state: .open, createdAt: Timestamp(now()))
        state.orders[idempotencyKey] = order
        return order
      }
    }

    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      guard let user = owner.account else { return .pending(reason: "bought before sign-in") }
      return state.withLock { state in
        guard let known = state.owners[purchase.transactionID] else {
          state.owners[purchase.transactionID] = user
          return .granted
        }
        return known == user ? .duplicate : .belongsToAnother
      }
    }
  }

  private func shop(
    _ app: LabApp, _ backend: (any PurchaseBackend)? = nil, _ outcomes: Locked<[Outcome]> = Locked([]),
    _ change: (inout SyncConfiguration) -> Void = { _ in }
  ) -> Shop {
    var configuration = app.configuration
    change(&configuration)
    let credentials: CredentialSource = { "token-" + $0.account }
    let fulfil: Shop.Fulfilment = { outcome in outcomes.withLock { $0.append(outcome) } }
    guard let backend else {
      return Shop(
        store: app.store, backend: app.backend, configuration: configuration, lifecycle: .explicit,
        credentials: credentials, fulfil: fulfil)
    }
    return Shop(
      store: app.store, backend: backend, configuration: configuration, lifecycle: .explicit,
      credentials: credentials, fulfil: fulfil)
  }

  // MARK: one token for each account

  @Test(arguments: [false, true])
  func `h9 T1 an order that waits for approval stays alice's beside a later one with her token`(
    isKilled: Bool
  ) async throws {
    try await AppLab.run(products: [Self.gems, Self.coins]) { lab in
      let (phone, backend) = (lab.phone(), PerUser(now: { lab.now }))
      lab.setAskToBuy(true)
      try await phone.launch { app in
        let shop = self.shop(app, backend)
        #expect(try await shop.purchase("coins", for: "alice") == .pending(.approval))
        lab.setAskToBuy(false)
        #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
        #expect(try await shop.syncEngine().orders().map(\.state) == [.deferred, .delivered])
        if isKilled { return }
        try await shop.signedIn(as: "bob")
        #expect(try lab.approveAll() == 1)
        try await shop.resume()
        try await lab.until { backend.owners.count == 2 }
      }
      if isKilled {
        #expect(try lab.approveAll() == 1)
        try await phone.launch { app in
          let shop = self.shop(app, backend)
          try await shop.signedIn(as: "bob")
          try await lab.until { backend.owners.count == 2 }
        }
      }
      #expect(backend.owners == ["alice", "alice"])
    }
  }

  @Test func `the sheet tells which of alice's orders for one product was paid`() async throws {
    try await AppLab.run(products: [Self.gems]) { lab in
      try await lab.phone().launch { app in
        let (backend, outcomes) = (PerUser(now: { lab.now }), Locked<[Outcome]>([]))
        let shop = self.shop(app, backend, outcomes)
        lab.setAskToBuy(true)
        let context = PurchaseContext("for a friend")
        #expect(try await shop.purchase("gems", for: "alice", context: context) == .pending(.approval))
        lab.setAskToBuy(false)
        #expect(try await shop.purchase("gems", for: "alice", context: PurchaseContext("mine")).isFulfilled)
        #expect(outcomes.value.map(\.context?.text) == ["mine"])
        #expect(try lab.approveAll() == 1)
        try await shop.resume()
        try await lab.until { outcomes.value.count == 2 }
        #expect(outcomes.value.map(\.context?.text) == ["mine", "for a friend"])
        #expect(try await shop.syncEngine().orders().map(\.state) == [.delivered, .delivered])
      }
    }
  }

  @Test func `T2 an order whose number another account's order has is refused before the payment`()
    async throws
  {
    try await AppLab.run(products: [Self.gems]) { lab in
      try await lab.phone().launch { app in
        let backend = PerUser(countsPerUser: true, now: { lab.now })
        let shop = self.shop(app, backend)
        #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
        let sale = try await shop.purchase("gems", for: "bob")
        guard case .refused(.orderUnusable) = sale else {
          Issue.record("\(sale)")
          return
        }
        #expect(sale.message.contains("Nothing was charged."))
        #expect(try lab.server.snapshot().charges.count == 1)
        #expect(try await shop.syncEngine().orders().map(\.account) == ["alice"])
      }
    }
  }

  @Test func `an order whose account token another account has is refused before the payment`() async throws {
    try await AppLab.run(products: [Self.gems]) { lab in
      try await lab.phone().launch { app in
        let backend = PerUser(now: { lab.now })
        let shared = backend.token(of: "alice")
        backend.state.withLock { $0.tokens["bob"] = shared }
        let shop = self.shop(app, backend)
        #expect(try await shop.purchase("gems", for: "alice").isFulfilled)
        guard case .refused(.orderUnusable) = try await shop.purchase("gems", for: "bob") else {
          Issue.record("bob paid with alice's token")
          return
        }
        #expect(backend.owners == ["alice"])
      }
    }
  }

  // MARK: a payment that differs from its order

  @Test(arguments: [OrderPolicy.backendOnly, .deviceOnly])
  func `h8 a payment for another product is credited to the account of its token`(policy: OrderPolicy)
    async throws
  {
    try await AppLab.run(products: [Self.plan, Self.bundle]) { lab in
      try await lab.phone().launch { app in
        let outcomes = Locked<[Outcome]>([])
        let shop = self.shop(app, nil, outcomes) { $0.orderPolicy = policy }
        let store = app.store
        _ = try await shop.purchase("bundle", for: "alice") { order in
          .purchased(try await store.pay(product: "plan", quantity: 1, accountToken: order.accountToken))
        }
        try await lab.until { !outcomes.value.isEmpty }
        let outcome = try #require(outcomes.value.first)
        #expect(outcome.account == "alice" && outcome.verdict == .granted)
        #expect(outcome.purchase?.productID == "plan", "what the proof holds")
        #expect(outcome.orderNumber == nil)
        #expect(try lab.server.snapshot().credits.map(\.productID) == ["plan"])
        #expect(
          try await shop.syncEngine().orders().map(\.state) == [.open], "it waits for a payment that agrees")
        #expect(try await shop.syncEngine().snapshot().purchases.isEmpty)
      }
    }
  }

  // MARK: no token

  @Test func `h37 a purchase outside of the app's sheet is not for another account's open order`()
    async throws
  {
    try await AppLab.run(products: [Self.gems]) { lab in
      let phone = lab.phone()
      phone.dies(.before(path: "/store/payments"))
      try await phone.launch { app in _ = try await self.shop(app).purchase("gems", for: "alice") }
      try await lab.pass(.seconds(2 * 86_400))
      try await phone.launch { app in
        let outcomes = Locked<[Outcome]>([])
        let shop = self.shop(app, nil, outcomes) {
          $0.currentAccount = { "bob" }
          $0.unclaimed = .signedInAccount
        }
        try await shop.signedIn(as: "bob")
        _ = try await app.store.pay(product: "gems", quantity: 1, accountToken: nil)
        try await shop.retryNow()
        try await lab.until { !outcomes.value.isEmpty }
        #expect(try lab.server.snapshot().creditOwners == [.account("bob")])
        #expect(outcomes.value.map(\.account) == ["bob"])
      }
    }
  }

  // MARK: a token that no order here has

  @Test(arguments: UnclaimedPolicy.allCases)
  func `h10 a renewal with a token of an earlier version goes by the policy`(policy: UnclaimedPolicy)
    async throws
  {
    try await AppLab.run(products: [Self.plan]) { lab in
      try await lab.phone().launch { app in
        let outcomes = Locked<[Outcome]>([])
        _ = try await app.store.pay(product: "plan", quantity: 1, accountToken: UUID())
        let shop = self.shop(app, nil, outcomes) {
          $0.currentAccount = { "alice" }
          $0.unclaimed = policy
        }
        try await shop.signedIn(as: "alice")
        try await lab.until { !outcomes.value.isEmpty }
        let expected = policy == .signedInAccount ? "alice" : nil
        #expect(outcomes.value.allSatisfy { $0.account == expected })
      }
    }
  }

  private struct NoAnswer: Error {}

  /// How the app answers when it is asked whose a token is.
  enum Answering: CaseIterable { case atOnce, afterFailures, afterHanging, afterKill, neverKnows }

  @Test(arguments: Answering.allCases, [false, true])
  func `the app is asked whose an unknown token is, before the policy and until it answers`(
    answering: Answering, hasSmallBackend: Bool
  ) async throws {
    try await AppLab.run(products: [Self.gems]) { lab in
      let (token, calls, outcomes) = (UUID(), Locked(0), Locked<[Outcome]>([]))
      let phone = lab.phone()
      let backend = hasSmallBackend ? PerUser(now: { lab.now }) : nil
      let change: @Sendable (inout SyncConfiguration) -> Void = { configuration in
        configuration.currentAccount = { "bob" }
        configuration.unclaimed = .signedInAccount
        let sleep = configuration.system.sleep
        configuration.accountForToken = { asked in
          #expect(asked == token)
          let call = calls.withLock {
            $0 += 1
            return $0
          }
          switch answering {
          case .atOnce: return "alice"
          case .neverKnows: return nil
          case .afterFailures, .afterKill:
            guard call > 2 else { throw NoAnswer() }
            return "alice"
          case .afterHanging:
            if call < 3 { try await sleep(30 * 86_400_000) }
            return "alice"
          }
        }
      }
      if answering == .afterKill {
        try await phone.launch { app in
          let shop = self.shop(app, backend, outcomes, change)
          try await shop.signedIn(as: "bob")
          _ = try await app.store.pay(product: "gems", quantity: 1, accountToken: token)
          try await shop.retryNow()
          try await lab.until { calls.value > 0 }
        }
        #expect(outcomes.value.isEmpty)
      }
      try await phone.launch { app in
        let shop = self.shop(app, backend, outcomes, change)
        try await shop.signedIn(as: "bob")
        if answering != .afterKill {
          _ = try await app.store.pay(product: "gems", quantity: 1, accountToken: token)
          try await shop.retryNow()
        }
        try await lab.until { !outcomes.value.isEmpty }
        await shop.close()
      }
      let expected = answering == .neverKnows ? "bob" : "alice"
      #expect(outcomes.value.map(\.account) == [expected])
      if let backend { #expect(backend.owners == [expected]) }
      if !hasSmallBackend { #expect(try lab.server.snapshot().creditOwners == [.account(expected)]) }
      #expect(calls.value == (answering == .atOnce || answering == .neverKnows ? 1 : 3))
    }
  }

  @Test func `what the app says of a token is written as the evidence, and asked once`() async throws {
    try await BuyingFixture.with { fixture in
      var configuration = try fixture.configuration()
      knowTokens(&configuration) { _ in "alice" }
      let transport = RecordingTransport(fixture.transport)
      let engine = try await fixture.open(configuration, transport: transport)
      try await engine.receive(
        try await fixture.store.pay(product: "gems", quantity: 1, accountToken: UUID()))
      try await fixture.deliverAll(engine)
      let upload = try #require(transport.seen.value.first { $0.path == "v1/receipts" })
      let claim = try JSONDecoder().decode(UploadRequest.self, from: upload.body).claims.first
      #expect(
        claim?.evidence
          == [.tokenUnknown, .ownerNamedByApp].map(\MatchEvidence.rawValue).joined(separator: ","))
      await engine.shutdown()
    }
  }
}
