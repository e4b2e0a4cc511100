import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Credentials that come and go, adoptions of the device's purchases, orders of other devices; over HTTP.
@Suite struct SyncEngineAccountTests {
  private let alice = Lane.account("alice")

  // MARK: Signing in

  /// How an account's credentials are missing.
  enum Missing: CaseIterable, Sendable {
    case signedOut, refused

    func begin(_ fixture: EngineFixture) {
      switch self {
      case .signedOut: fixture.accounts.signOut("alice")
      case .refused: fixture.server.revoke(token: "token-alice")
      }
    }

    func end(_ fixture: EngineFixture) {
      switch self {
      case .signedOut: fixture.accounts.signIn("alice")
      case .refused: fixture.server.accept(token: "token-alice")
      }
    }
  }

  @Test(arguments: Missing.allCases)
  func `a lane without credentials waits, reports it, and continues after the sign-in`(
    missing: Missing
  ) async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      missing.begin(fixture)
      try await engine.receive(try await fixture.pay(token: order.accountToken))
      try await until { try await engine.snapshot().lanes.map(\.state) == [.signInNeeded] }
      // Another account's lane goes on in the meantime.
      try await fixture.buy(engine, account: "bob")
      try await until { try await engine.snapshot().outcomes.map(\.lane) == [.account("bob")] }
      await #expect(throws: SyncError.signInNeeded(account: "alice")) {
        try await engine.begin(product: EngineFixture.product, account: "alice")
      }
      await #expect(throws: SyncError.signInNeeded(account: "alice")) {
        try await engine.fetchOrders(of: "alice")
      }
      let told = try await events(engine) { $0 == .signInNeeded(alice) }
      #expect(told.last == .signInNeeded(alice))
      missing.end(fixture)
      try await engine.wake(.signedIn(account: "alice"))
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered(2)
      #expect(try fixture.server.snapshot().misplacedCredits.isEmpty)
    }
  }

  @Test func `the first listener gets the events of the start`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      await engine.suspend()
      try await fixture.buy(engine)
      await engine.shutdown()
      fixture.accounts.signOut("alice")
      let next = try await fixture.open()
      try await until { try await next.snapshot().lanes.map(\.state) == [.signInNeeded] }
      _ = try await events(next) { $0 == .signInNeeded(alice) }
      await next.shutdown()
    }
  }

  @Test func `a deleted account is refused, with the backend's own words only`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      for status in [401, 403] {
        fixture.server.delete(account: "alice", status: status)
        await #expect(throws: SyncError.signInNeeded(account: "alice")) {
          try await engine.begin(product: EngineFixture.product, account: "alice")
        }
      }
      fixture.server.setFaults(.captivePortal(status: 403))
      await #expect {
        try await engine.begin(product: EngineFixture.product, account: "bob")
      } throws: { error in
        if case .backendUnreachable? = error as? SyncError { true } else { false }
      }
      await engine.shutdown()
    }
  }

  @Test func `credentials that never come hold a lane until their time limit at most`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.credentialTimeLimit = .zero
      let gate = Gate()
      gate.close()
      let engine = try await fixture.open(credentials: { request in
        await gate.pass()
        return request.account
      })
      let late = "the credentials did not come in time"
      await #expect(throws: SyncError.backendUnreachable(reason: late)) {
        try await engine.begin(product: EngineFixture.product, account: "alice")
      }
      await #expect(throws: SyncError.backendUnreachable(reason: late)) {
        try await engine.fetchOrders(of: "alice")
      }
      try await engine.adoptDevicePurchases(for: "alice")
      await engine.shutdown()
      gate.open()
    }
  }

  @Test func `an adoption whose credentials come late waits for a pause that came before them`() async throws
  {
    try await EngineFixture.with(.refusal(retryAfter: .seconds(3_600))) { fixture in
      var fixture = fixture
      let seen = Locked((isPaused: false, adoptionEnd: UploadFailure?.none))
      fixture.configuration.system.sight = { sight in
        switch sight {
        case .event(.waiting): seen.withLock { $0.isPaused = true }
        case .adoptionFailed(let failure): seen.withLock { $0.adoptionEnd = failure }
        default: break
        }
      }
      let (gate, accounts) = (Gate(), fixture.accounts)
      gate.close()
      let engine = try await fixture.open(credentials: { request in
        if request.account == "bob" { await gate.pass() }
        return accounts.token(of: request.account)
      })
      try await engine.adoptDevicePurchases(for: "bob")
      try await until { gate.arrivals == 1 }
      try await fixture.buy(engine)
      try await until { seen.value.isPaused }
      gate.open()
      try await until { seen.value.adoptionEnd != nil }
      #expect(seen.value.adoptionEnd == .unprepared(reason: "the backend asked for a pause"))
      #expect(try fixture.server.snapshot().requests["POST /v1/adoptions"] == nil)
      await engine.shutdown()
    }
  }

  @Test func `a transport that cancels by itself counts as failed, and its lane continues`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open(transport: Quitting(inner: fixture.transport))
      try await fixture.buy(engine)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }

  /// A transport whose first upload ends as cancelled, although the engine has not cancelled it.
  private struct Quitting: BackendTransport {
    let inner: any BackendTransport
    let uploads = Gate()

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      if request.path == "v1/receipts", uploads.isFirst() {
        throw TransportError(.cancelled, reason: "the session was invalidated")
      }
      return try await inner.send(request)
    }
  }

  // MARK: The device's purchases

  private static let troubles: [(name: String, plan: FaultPlan)] = [
    ("nothing", .none), ("an outage", .outage(path: "/v1/adoptions", requests: 2)),
    ("a captive portal", .captivePortal(status: 200, requests: 2, path: "/v1/adoptions")),
    ("a captive portal that forbids", .captivePortal(status: 403, requests: 2, path: "/v1/adoptions")),
    ("a lost answer", .replyLost(path: "/v1/adoptions", occurrence: 1)),
    ("a lost request", .requestLost(path: "/v1/adoptions", occurrence: 1)),
    ("a huge body", .hugeBody(bytes: 3 << 20, requests: 1, path: "/v1/adoptions")),
    ("blanks", .hugeBody(bytes: 10, requests: 1, path: "/v1/adoptions")),
  ]

  @Test(arguments: 0..<8)
  func `a purchase from before the sign-in belongs to the account after the adoption`(trouble: Int)
    async throws
  {
    try await EngineFixture.with(Self.troubles[trouble].plan) { fixture in
      let engine = try await fixture.open()
      try await engine.receive(try await fixture.pay())
      try await fixture.finishAll(engine)
      #expect(try fixture.server.snapshot().creditOwners.map(\.account) == [nil])
      try await engine.adoptDevicePurchases(for: "alice")
      try await fixture.finishAll(engine)
      await engine.shutdown()
      #expect(
        try fixture.server.snapshot().creditOwners == [.account("alice")], "\(Self.troubles[trouble].name)")
    }
  }

  @Test func `an adoption waits for its account's credentials, even across a restart`() async throws {
    try await EngineFixture.with { fixture in
      fixture.accounts.signOut("alice")
      let engine = try await fixture.open()
      try await engine.receive(try await fixture.pay())
      try await fixture.finishAll(engine)
      try await engine.adoptDevicePurchases(for: "alice")
      let waiting = SyncSnapshot.DeviceAdoption(account: "alice", needsSignIn: true)
      try await until { try await engine.snapshot().deviceAdoptions == [waiting] }
      await engine.shutdown()
      let next = try await fixture.open()
      try await until { try await next.snapshot().deviceAdoptions == [waiting] }
      #expect(try await next.snapshot().pendingAdoptions == 1)
      fixture.accounts.signIn("alice")
      try await next.wake(.signedIn(account: "alice"))
      try await fixture.finishAll(next)
      await next.shutdown()
      #expect(try fixture.server.snapshot().creditOwners == [.account("alice")])
    }
  }

  // MARK: Orders of another device

  @Test func `an order that another device made is fetched, and binds by its token`() async throws {
    try await EngineFixture.with { fixture in
      let other = try await fixture.open()
      let order = try await other.begin(product: EngineFixture.product, account: "alice")
      await other.shutdown()
      var second = fixture
      second.configuration.path = fixture.directory + "/second.sqlite"
      second.configuration.vault = nil
      let engine = try await second.open()
      #expect(try await engine.orders() == [])
      for plan in [
        FaultPlan.captivePortal(status: 200), .captivePortal(status: 403),
        .outage(path: "/v1/orders", requests: 1), .hugeBody(bytes: 3 << 20, path: "/v1/orders"),
      ] {
        fixture.server.setFaults(plan)
        await #expect {
          try await engine.fetchOrders(of: "alice")
        } throws: { error in
          if case .backendUnreachable? = error as? SyncError { true } else { false }
        }
      }
      fixture.server.setFaults(.none)
      for _ in 1...2 { try await engine.fetchOrders(of: "alice") }
      #expect(try await engine.orders() == [order])
      try await engine.receive(try await fixture.pay(token: order.accountToken))
      let told = try await events(engine) { $0.outcome != nil }
      #expect(told.last?.outcome?.orderNumber == order.number)
      #expect(told.last?.outcome?.lane == alice)
      await engine.shutdown()
    }
  }

  @Test func `a file that was taken away costs one order request`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      for suffix in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: fixture.configuration.path + suffix)
      }
      await #expect(throws: SyncError.queue(.replaced(path: fixture.configuration.path))) {
        try await engine.begin(product: EngineFixture.product, account: "alice")
      }
      try await fixture.buy(engine)
      try await fixture.finishAll(engine)
      await engine.shutdown()
      try fixture.expectAllDelivered()
    }
  }
}

extension Uploader {
  fileprivate var account: String? { if case .account(let account) = self { account } else { nil } }
}
