import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Whose purchase it is, over HTTP, on several devices. The names begin with the probe that showed the fault.
@Suite struct OwnershipTests {
  // MARK: Bought again

  @Test func `P19 bob pays for his own order after alice's subscription lapsed, and gets it`() async throws {
    try await OwnershipLab.with { lab in
      let engine = try await lab.open("phone", signedIn: "bob")
      let first = try await lab.buy("plan", "alice", on: engine)
      try lab.endRenewal(of: first)
      lab.pass(days: 40)
      let his = try await engine.begin(product: "plan", account: "bob")
      let second = try await lab.pay("plan", his.accountToken)
      #expect(second.originalTransactionID == first.transactionID)
      try await engine.receive(second)
      let outcome = try #require(try await lab.settle(engine).last)
      #expect(outcome.verdict == .granted && outcome.owner == .yours && outcome.orderNumber == his.number)
      #expect(try lab.owners == [.account("alice"), .account("bob")])
      #expect(try lab.server.snapshot().orders.map(\.state) == [.delivered, .delivered])
      #expect(try await engine.orders().map(\.state) == [.delivered, .delivered])
      await engine.shutdown()
    }
  }

  @Test func `P19b alice's second order of a subscription is fulfilled on both sides`() async throws {
    try await OwnershipLab.with { lab in
      let engine = try await lab.open("phone", signedIn: "alice")
      try lab.endRenewal(of: try await lab.buy("plan", "alice", on: engine))
      lab.pass(days: 40)
      try await lab.buy("plan", "alice", on: engine)
      #expect(try lab.server.snapshot().orders.map(\.state) == [.delivered, .delivered])
      #expect(try await engine.orders().map(\.state) == [.delivered, .delivered])
      await engine.shutdown()
    }
  }

  // MARK: Several devices

  @Test func `P2 a renewal and a purchase that alice's second device hears of are hers there`() async throws {
    try await OwnershipLab.withRenewedPlan { lab, phone, _ in
      let pad = try await lab.open("pad", signedIn: "alice")
      let renewal = try #require(try await lab.outcomes(1, on: pad).first)
      #expect(renewal.lane == .device && renewal.owner == .yours && renewal.verdict != .otherOwner)
      let order = try await phone.begin(product: "gems", account: "alice")
      let gems = try await lab.pay("gems", order.accountToken)
      try await pad.receive(gems)
      let heard = try #require(try await lab.settle(pad).first)
      #expect(heard.verdict == .granted && heard.owner == .yours && heard.orderNumber == order.number)
      try await phone.receive(gems)
      let own = try #require(try await lab.settle(phone).first { $0.key == gems.key })
      #expect(own.verdict == .duplicate && own.owner == .yours)
      #expect(try Set(lab.owners) == [.account("alice")])
      await pad.shutdown()
    }
  }

  @Test(arguments: ["bob", nil])
  func `on a device of another person it is credited to its owner, and no person is named`(
    signedIn: String?
  ) async throws {
    try await OwnershipLab.with { lab in
      let phone = try await lab.open("phone", signedIn: "alice")
      let order = try await phone.begin(product: "gems", account: "alice")
      let pad = try await lab.open("pad", signedIn: signedIn)
      try await pad.receive(try await lab.pay("gems", order.accountToken))
      let outcome = try #require(try await lab.settle(pad).first)
      #expect(outcome.verdict == .otherOwner && outcome.owner == .another && outcome.orderNumber == nil)
      let told = try #require(try lab.server.snapshot().verdicts.last)
      #expect(told.orderNumber == nil && told.reason == nil && told.owner == .another)
      #expect(try lab.owners == [.account("alice")])
      #expect(try lab.server.snapshot().charges.allSatisfy(\.isFinished))
      await pad.shutdown()
      await phone.shutdown()
    }
  }

  @Test func `what alice has proved to be hers is told bob as another's, and alice again as hers`()
    async throws
  {
    try await OwnershipLab.withUnconfirmedRenewal { lab, configuration, signedIn in
      for account in ["bob", nil] {
        signedIn.withLock { $0 = account }
        let his = try await lab.open(configuration)
        let told = try #require(try await events(his) { $0.outcome != nil }.last?.outcome)
        #expect(told.owner == .another && told.verdict == .otherOwner && told.orderNumber == nil)
        #expect(try await his.snapshot().outcomes == [told])
        #expect(!String(reflecting: told).contains("alice"))
        await his.shutdown()
      }
    }
  }

  /// Each of these calls opens the file, and an app that confirms what it gets at once would call for ever.
  @Test func `in the background an app gets once what waits for another account, however often it confirms`()
    async throws
  {
    try await OwnershipLab.withUnconfirmedRenewal { lab, configuration, signedIn in
      signedIn.withLock { $0 = "bob" }
      let his = try await lab.open(configuration)
      let told = try #require(try await events(his) { $0.outcome != nil }.last?.outcome)
      await his.suspend(within: 0)
      let events = try await his.eventStream()
      for _ in 0..<3 { try await his.confirm(told) }
      try await his.confirm(all: [told, told])
      await his.shutdown()
      var count = 0
      for await event in events where event.outcome != nil { count += 1 }
      #expect(count == 1)
    }
  }

  // MARK: Restoring

  @Test func `a new phone restores what is hers, in any order of sign-in and restore`() async throws {
    try await OwnershipLab.with { lab in
      let old = try await lab.open("old", signedIn: "alice")
      try await lab.buy("pro", "alice", on: old)
      await old.shutdown()
      var configuration = try lab.configuration("new", signedIn: nil)
      let before = try await lab.open(configuration)
      try await before.refreshReceipt()
      #expect(try await lab.settle(before).map(\.owner) == [.another])
      await before.shutdown()
      configuration.currentAccount = { "alice" }
      let after = try await lab.open(configuration)
      try await after.refreshReceipt()
      let outcomes = try await lab.outcomes(1, on: after)
      #expect(outcomes.map(\.owner) == [.yours] && outcomes.map(\.verdict) == [.duplicate])
      await after.shutdown()
    }
  }

  @Test func `P6 P6b a hundred owned products are restored by one tap, with a limit of 64`() async throws {
    let products = (0..<100).map { StoreProduct(id: "p\($0)", kind: .nonConsumable) }
    try await OwnershipLab.with(products) { lab in
      for product in products { _ = try await lab.pay(product.id) }
      try lab.server.withStore { (store) throws(StoreModelError) in
        for charge in store.charges { try store.finish(transactionID: charge.transactionID) }
      }
      let configuration = try lab.configuration("new", signedIn: "alice")
      let engine = try await lab.open(configuration)
      try await engine.refreshReceipt()
      #expect(try await engine.snapshot().isStoreHoldingMore)
      // Half of it in the next run of the app.
      _ = try await lab.confirmed(engine, atLeast: 20)
      await engine.shutdown()
      let next = try await lab.open(configuration)
      try await until {
        try await lab.settle(next)
        return try lab.server.snapshot().credits.count == 100
      }
      #expect(try await !next.snapshot().isStoreHoldingMore)
      #expect(try lab.server.snapshot().doubledCredits == 0)
      await next.shutdown()
    }
  }

  // MARK: Owned already

  @Test func `a product that alice restored on a tablet is not bob's when he buys it there`() async throws {
    try await OwnershipLab.with { lab in
      let phone = try await lab.open("phone", signedIn: "alice")
      let paid = try await lab.buy("pro", "alice", on: phone)
      let signedIn = Locked("alice")
      var configuration = try lab.configuration("pad", signedIn: nil)
      configuration.currentAccount = { signedIn.value }
      let pad = try await lab.open(configuration)
      try await pad.refreshReceipt()
      let hers = try await snapshot(of: pad) {
        $0.outcomes.map(\.owner) == [.yours] && $0.pendingFinishes == 0
      }
      signedIn.withLock { $0 = "bob" }
      let his = try await pad.begin(product: "pro", account: "bob")
      let returned = try await lab.pay("pro", his.accountToken)
      #expect(returned.transactionID == paid.transactionID)
      let stream = try await pad.eventStream()
      try await pad.receive(.purchased(returned), for: his)
      let outcome = try await lab.owned(his, on: pad)
      #expect(outcome.verdict == .otherOwner && outcome.owner == .another && outcome.isAlreadyOwned)
      #expect(try await pad.orders().first { $0.number == his.number }?.state == .alreadyOwned)
      // What alice learned has not changed.
      signedIn.withLock { $0 = "alice" }
      #expect(try await pad.snapshot().outcomes.contains(try #require(hers.outcomes.first)))
      await pad.shutdown()
      var told = 0
      for await event in stream where event.outcome?.orderNumber == his.number { told += 1 }
      #expect(told == 1)
      await phone.shutdown()
    }
  }

  @Test func `a product of the device that alice adopted is not granted to bob's order`() async throws {
    try await OwnershipLab.with { lab in
      let pad = try await lab.open("pad", signedIn: "alice")
      try await pad.receive(try await lab.pay("pro"))
      try await lab.settle(pad)
      try await pad.adoptDevicePurchases(for: "alice")
      try await lab.settle(pad)
      lab.pass(days: 1)
      let his = try await pad.begin(product: "pro", account: "bob")
      try await pad.receive(.purchased(try await lab.pay("pro", his.accountToken)), for: his)
      let outcome = try await lab.owned(his, on: pad)
      #expect(outcome.verdict == .otherOwner && outcome.owner == .another)
      let hers = try await pad.begin(product: "pro", account: "alice")
      try await pad.receive(.purchased(try await lab.pay("pro", hers.accountToken)), for: hers)
      let second = try await lab.owned(hers, on: pad)
      #expect(second.verdict == .duplicate && second.owner == .yours)
      await pad.shutdown()
    }
  }

  @Test func `her own product is hers when she buys it again after a restore without a sign-in`() async throws
  {
    try await OwnershipLab.with { lab in
      let old = try await lab.open("old", signedIn: "alice")
      try await lab.buy("pro", "alice", on: old)
      await old.shutdown()
      let new = try await lab.open("new", signedIn: nil)
      try await new.refreshReceipt()
      #expect(try await lab.outcomes(1, on: new).map(\.owner) == [.another])
      let again = try await new.begin(product: "pro", account: "alice")
      try await new.receive(.purchased(try await lab.pay("pro", again.accountToken)), for: again)
      let outcome = try await lab.owned(again, on: new)
      #expect(outcome.verdict == .duplicate && outcome.owner == .yours)
      await new.shutdown()
    }
  }

  @Test func `an order of an owned product gets its outcome once its account signs in, also after a restart`()
    async throws
  {
    try await OwnershipLab.with { lab in
      let configuration = try lab.configuration("pad", signedIn: nil)
      let accounts = SignedIn()
      func open() async throws -> SyncEngine {
        try await lab.open(
          configuration,
          credentials: { accounts.token(of: $0.account) })
      }
      let pad = try await open()
      try await pad.receive(try await lab.pay("pro"))
      try await lab.settle(pad)
      let order = try await pad.begin(product: "pro", account: "alice")
      accounts.signOut("alice")
      try await pad.receive(.purchased(try await lab.pay("pro", order.accountToken)), for: order)
      _ = try await events(pad) { $0 == .signInNeeded(.account("alice")) }
      await pad.shutdown()
      let next = try await open()
      #expect(try await next.snapshot().outcomes.isEmpty)
      accounts.signIn("alice")
      try await next.wake(.signedIn(account: "alice"))
      let outcome = try await lab.owned(order, on: next)
      #expect(outcome.owner == .device && outcome.isAlreadyOwned)
      await next.shutdown()
    }
  }

  // MARK: The device

  @Test func `P13 mother's adoption does not take what the child bought with her restored backup`()
    async throws
  {
    try await OwnershipLab.with { lab in
      let childs = try await lab.restoredBackup(from: "mother", to: "child")
      let child = try await lab.open(childs, store: lab.store("child"))
      try await child.receive(try await lab.pay("gems", by: "child"))
      try await lab.settle(child)
      let mothers = try lab.configuration("mother", signedIn: nil)
      let again = try await lab.open(mothers, store: lab.store("mother"))
      try await again.adoptDevicePurchases(for: "mother")
      try await lab.settle(again)
      let owners = try lab.owners
      #expect(owners.first == .account("mother"))
      if case .device? = owners.last {} else { Issue.record("the child's purchase went to \(owners)") }
      await child.shutdown()
      await again.shutdown()
    }
  }

  @Test func `an open order in mother's restored backup is none for what the child buys without a token`()
    async throws
  {
    try await OwnershipLab.with { lab in
      let childs = try await lab.restoredBackup(from: "mother", to: "child") { engine in
        _ = try await engine.begin(product: "gems", account: "mother")
      }
      let child = try await lab.open(childs, store: lab.store("child"))
      try await child.receive(try await lab.pay("gems", by: "child"))
      let outcome = try #require(try await lab.settle(child).last)
      #expect(outcome.lane == .device && outcome.owner == .device && outcome.orderNumber == nil)
      #expect(try !lab.owners.contains(.account("mother")))
      await child.shutdown()
    }
  }

  @Test func `P18 the public name of a device is not enough to adopt its purchases`() async throws {
    try await OwnershipLab.with { lab in
      let transport = RecordingTransport(lab.server.transport)
      let records = Locked<[String]>([])
      var configuration = try lab.configuration("phone", signedIn: "alice")
      configuration.log = { record in records.withLock { $0.append("\(record)") } }
      let engine = try await lab.open(configuration, transport: transport)
      try await lab.buy("gems", "alice", on: engine)
      try await engine.receive(try await lab.pay("gems"))
      try await lab.settle(engine)
      let uploads = transport.seen.value.filter { $0.path == "v1/receipts" }
      let body = try JSONDecoder().decode(UploadRequest.self, from: try #require(uploads.first).body)
      let name = body.device.uuidString
      let credential = try #require(uploads.last?.headers["Authorization"])
      #expect(credential.hasPrefix("Device \(name):"))
      let secret = String(credential.dropFirst("Device \(name):".count))
      #expect(!secret.isEmpty && !records.value.joined().contains(secret))
      #expect(!uploads.contains { String(decoding: $0.body, as: UTF8.self).contains(secret) })
      for (stolen, status) in [("Device \(name):guess", 403), ("Bearer token-mallory", 422)] {
        let request = BackendRequest(
          method: "POST", path: "v1/adoptions",
          headers: ["Authorization": stolen, "Account-Authorization": "Bearer token-mallory"],
          body: Data(#"{"device":"\#(name)"}"#.utf8))
        #expect(try await URLSessionTransport(base: lab.server.baseURL).send(request).status == status)
      }
      #expect(try lab.owners == [.account("alice"), .device(body.device)])
      try await engine.adoptDevicePurchases(for: "alice")
      try await lab.settle(engine)
      #expect(try lab.owners == [.account("alice"), .account("alice")])
      await engine.shutdown()
    }
  }

  // MARK: Without a token

  @Test(arguments: UnclaimedPolicy.allCases)
  func `a purchase without a token belongs to whom the app's policy says`(policy: UnclaimedPolicy)
    async throws
  {
    try await OwnershipLab.with { lab in
      var configuration = try lab.configuration("phone", signedIn: "alice")
      configuration.unclaimed = policy
      let transport = RecordingTransport(lab.server.transport)
      let engine = try await lab.open(configuration, transport: transport)
      try await engine.receive(try await lab.pay("pro"))
      let outcome = try #require(try await lab.settle(engine).first)
      let isHers = policy == .signedInAccount
      #expect(outcome.verdict == .granted && outcome.owner == (isHers ? .yours : .device))
      #expect(try lab.owners.first.map { $0 == .account("alice") } == isHers)
      let upload = try #require(transport.seen.value.first { $0.path == "v1/receipts" })
      let claim = try JSONDecoder().decode(UploadRequest.self, from: upload.body).claims.first
      let word: MatchEvidence? =
        switch policy {
        case .signedInAccount: .ownerSignedIn
        case .ask: .ownerAsked
        default: nil
        }
      let words = claim?.evidence?.split(separator: ",").map(String.init) ?? []
      #expect(words == ["notFromSheet"] + (word.map { [$0.rawValue] } ?? []))
      await engine.shutdown()
    }
  }
}

extension OwnershipLab {
  /// Confirms outcomes until there were so many.
  fileprivate func confirmed(_ engine: SyncEngine, atLeast count: Int) async throws -> Int {
    var seen = 0
    try await until {
      for outcome in try await engine.snapshot().outcomes.prefix(count) where seen < count {
        try await engine.confirm(outcome)
        seen += 1
      }
      return seen >= count
    }
    return seen
  }

  /// Waits for the outcome of an order, and confirms it.
  fileprivate func owned(_ order: PurchaseOrder, on engine: SyncEngine) async throws -> Outcome {
    let state = try await snapshot(of: engine) { $0.outcomes.contains { $0.orderNumber == order.number } }
    let outcome = try #require(state.outcomes.first { $0.orderNumber == order.number })
    try await engine.confirm(outcome)
    return outcome
  }
}
