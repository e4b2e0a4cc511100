import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Credentials that come and go, claims of the device's purchases, orders of other devices; over HTTP.
@Suite(.timeLimit(.minutes(4))) struct SyncEngineAccountTests {
  private let alice = Lane.account("alice")

  // MARK: Signing in

  /// How an account's credentials are missing.
  enum Missing: CaseIterable, Sendable {
    case signedOut, refused

    func begin(_ world: EngineWorld) {
      switch self {
      case .signedOut: world.accounts.signOut("alice")
      case .refused: world.server.revoke(token: "token-alice")
      }
    }

    func end(_ world: EngineWorld) {
      switch self {
      case .signedOut: world.accounts.signIn("alice")
      case .refused: world.server.accept(token: "token-alice")
      }
    }
  }

  @Test(arguments: Missing.allCases)
  func `a lane without credentials waits and says so, and goes on after the sign-in`(
    missing: Missing
  ) async throws {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      let order = try await engine.begin(product: EngineWorld.product, account: "alice")
      missing.begin(world)
      try await engine.receive(try await world.pay(token: order.accountToken))
      try await until { try await engine.snapshot().lanes.map(\.state) == [.signInNeeded] }
      // Another account's lane goes on meanwhile.
      try await world.buy(engine, account: "bob")
      try await until { try await engine.snapshot().outcomes.map(\.lane) == [.account("bob")] }
      await #expect(throws: SyncError.signInNeeded(account: "alice")) {
        try await engine.begin(product: EngineWorld.product, account: "alice")
      }
      await #expect(throws: SyncError.signInNeeded(account: "alice")) {
        try await engine.fetchOrders(of: "alice")
      }
      let told = try await events(engine) { $0 == .signInNeeded(alice) }
      #expect(told.last == .signInNeeded(alice))
      missing.end(world)
      try await engine.wake(.signedIn(account: "alice"))
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered(2)
      #expect(try world.server.snapshot().misplacedCredits.isEmpty)
    }
  }

  @Test func `what the start had to say is heard by the first who listens`() async throws {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      await engine.park()
      try await world.buy(engine)
      await engine.shutdown()
      world.accounts.signOut("alice")
      let next = try await world.open()
      try await until { try await next.snapshot().lanes.map(\.state) == [.signInNeeded] }
      _ = try await events(next) { $0 == .signInNeeded(alice) }
      await next.shutdown()
    }
  }

  @Test func `a deleted account is refused, with the backend's own words only`() async throws {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      for status in [401, 403] {
        world.server.delete(account: "alice", status: status)
        await #expect(throws: SyncError.signInNeeded(account: "alice")) {
          try await engine.begin(product: EngineWorld.product, account: "alice")
        }
      }
      world.server.setFaults(.captivePortal(status: 403))
      await #expect {
        try await engine.begin(product: EngineWorld.product, account: "bob")
      } throws: { error in
        if case .backendUnreachable? = error as? SyncError { true } else { false }
      }
      await engine.shutdown()
    }
  }

  @Test func `credentials that never come hold a lane no longer than their time`() async throws {
    try await EngineWorld.with { world in
      var world = world
      world.configuration.credentialMilliseconds = 0
      let gate = Gate()
      gate.close()
      let engine = try await world.open(credentials: { account in
        await gate.pass()
        return account
      })
      let late = "the credentials did not come in time"
      await #expect(throws: SyncError.backendUnreachable(reason: late)) {
        try await engine.begin(product: EngineWorld.product, account: "alice")
      }
      await #expect(throws: SyncError.backendUnreachable(reason: late)) {
        try await engine.fetchOrders(of: "alice")
      }
      try await engine.claimDevicePurchases(for: "alice")
      await engine.shutdown()
      gate.open()
    }
  }

  @Test func `a transport that cancels by itself has failed, and its lane goes on`() async throws {
    try await EngineWorld.with { world in
      let engine = try await world.open(transport: Quitting(inner: world.transport))
      try await world.buy(engine)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }

  /// Its first upload is cancelled by nobody.
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
    ("nothing", .none), ("an outage", .outage(path: "/v1/claims", requests: 2)),
    ("a captive portal", .captivePortal(status: 200, requests: 2, path: "/v1/claims")),
    ("a captive portal that forbids", .captivePortal(status: 403, requests: 2, path: "/v1/claims")),
    ("a lost answer", .replyLost(path: "/v1/claims", occurrence: 1)),
    ("a lost request", .requestLost(path: "/v1/claims", occurrence: 1)),
    ("a huge body", .hugeBody(bytes: 3 << 20, requests: 1, path: "/v1/claims")),
    ("blanks", .hugeBody(bytes: 10, requests: 1, path: "/v1/claims")),
  ]

  @Test(arguments: 0..<8)
  func `what was bought before the sign-in is the account's once it is claimed`(trouble: Int) async throws {
    try await EngineWorld.with(Self.troubles[trouble].plan) { world in
      let engine = try await world.open()
      try await engine.receive(try await world.pay())
      try await world.finishAll(engine)
      #expect(try world.server.snapshot().creditOwners.map(\.account) == [nil])
      try await engine.claimDevicePurchases(for: "alice")
      try await world.finishAll(engine)
      await engine.shutdown()
      #expect(
        try world.server.snapshot().creditOwners == [.account("alice")], "\(Self.troubles[trouble].name)")
    }
  }

  @Test func `a claim waits for its account's credentials, also across a restart`() async throws {
    try await EngineWorld.with { world in
      world.accounts.signOut("alice")
      let engine = try await world.open()
      try await engine.receive(try await world.pay())
      try await world.finishAll(engine)
      try await engine.claimDevicePurchases(for: "alice")
      let waiting = SyncSnapshot.DeviceClaim(account: "alice", needsSignIn: true)
      try await until { try await engine.snapshot().deviceClaims == [waiting] }
      await engine.shutdown()
      let next = try await world.open()
      try await until { try await next.snapshot().deviceClaims == [waiting] }
      #expect(try await next.snapshot().claimsOwed == 1)
      world.accounts.signIn("alice")
      try await next.wake(.signedIn(account: "alice"))
      try await world.finishAll(next)
      await next.shutdown()
      #expect(try world.server.snapshot().creditOwners == [.account("alice")])
    }
  }

  // MARK: Orders of another device

  @Test func `an order that another device made is fetched, and binds by its token`() async throws {
    try await EngineWorld.with { world in
      let other = try await world.open()
      let order = try await other.begin(product: EngineWorld.product, account: "alice")
      await other.shutdown()
      var second = world
      second.configuration.path = world.directory + "/second.sqlite"
      second.configuration.vault = nil
      let engine = try await second.open()
      #expect(try await engine.orders() == [])
      for plan in [
        FaultPlan.captivePortal(status: 200), .captivePortal(status: 403),
        .outage(path: "/v1/orders", requests: 1), .hugeBody(bytes: 3 << 20, path: "/v1/orders"),
      ] {
        world.server.setFaults(plan)
        await #expect {
          try await engine.fetchOrders(of: "alice")
        } throws: { error in
          if case .backendUnreachable? = error as? SyncError { true } else { false }
        }
      }
      world.server.setFaults(.none)
      for _ in 1...2 { try await engine.fetchOrders(of: "alice") }
      #expect(try await engine.orders() == [order])
      try await engine.receive(try await world.pay(token: order.accountToken))
      let told = try await events(engine) { $0.outcome != nil }
      #expect(told.last?.outcome?.orderNumber == order.number)
      #expect(told.last?.outcome?.lane == alice)
      await engine.shutdown()
    }
  }

  @Test func `a file that was taken away costs one order request`() async throws {
    try await EngineWorld.with { world in
      let engine = try await world.open()
      for suffix in ["", "-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: world.configuration.path + suffix)
      }
      await #expect(throws: SyncError.queue(.replaced(path: world.configuration.path))) {
        try await engine.begin(product: EngineWorld.product, account: "alice")
      }
      try await world.buy(engine)
      try await world.finishAll(engine)
      await engine.shutdown()
      try world.expectAllDelivered()
    }
  }
}

extension Uploader {
  fileprivate var account: String? { if case .account(let account) = self { account } else { nil } }
}
