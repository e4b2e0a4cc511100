import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The engine among background tasks, other processes, refused tokens and stores that hang. The names are those of the
/// probes that showed the faults.
@Suite struct SystemEngineTests {
  /// Answers some uploads by itself.
  private struct AnsweringTransport: BackendTransport {
    let inner: any BackendTransport
    let seen = Locked<[BackendRequest]>([])
    var answer: @Sendable (BackendRequest, Int) -> BackendResponse?

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      let number = seen.withLock { seen in
        seen.append(request)
        return seen.count { $0.path == "v1/receipts" }
      }
      if request.path == "v1/receipts", let answer = answer(request, number) { return answer }
      return try await inner.send(request)
    }
  }

  @Test func `P8 outcomes that came while no screen listened are told when one does`() async throws {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      // A screen that is closed again.
      _ = try await engine.eventStream()
      try await fixture.buy(engine)
      try await until { try await engine.snapshot().outcomes.count == 1 }
      let stream = try await engine.eventStream()
      // Ends only if the outcome is published.
      for await event in stream { if case .delivered = event { break } }
      await engine.shutdown()
    }
  }

  @Test func `P9 an outcome that another process brought is told at the foreground, once`() async throws {
    try await EngineFixture.with { fixture in
      let app = try await fixture.open()
      let other = try await fixture.open()
      let stream = try await app.eventStream()
      try await fixture.buy(other)
      try await until { try await app.snapshot().outcomes.count == 1 }
      try await app.wake(.foreground)
      try await app.wake(.foreground)
      await other.shutdown()
      await app.shutdown()
      var told = 0
      for await event in stream { if case .delivered = event { told += 1 } }
      #expect(told == 1)
    }
  }

  @Test func `P10 after one 401 the app is told that its token was refused, and asked again at once`()
    async throws
  {
    try await EngineFixture.with { fixture in
      let asked = Locked<[CredentialRequest]>([])
      let transport = AnsweringTransport(inner: fixture.transport) { request, _ in
        request.headers["Authorization"] == "Bearer token-old"
          ? BackendResponse(status: 401, body: Data()) : nil
      }
      let engine = try await fixture.open(
        transport: transport,
        credentials: { request in
          asked.withLock { $0.append(request) }
          return request.isRefused ? "token-alice" : "token-old"
        })
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      try await engine.receive(try await fixture.pay(token: order.accountToken))
      try await fixture.finishAll(engine)
      #expect(asked.value.contains { $0.refusedToken == "token-old" })
      #expect(!"\(CredentialRequest(account: "alice", refusedToken: "secret"))".contains("secret"))
      try fixture.expectAllDelivered()
      await engine.shutdown()
    }
  }

  @Test func `P12 two hundred transactions are few uploads, and few calls of the store`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.limits = QueueLimits(entries: 400, totalBytes: 64 << 20)
      for _ in 0..<200 { _ = try await fixture.pay() }
      let engine = try await fixture.open()
      try await until { try await engine.snapshot().outcomes.count == 200 }
      try await fixture.finishAll(engine)
      let requests = try fixture.server.snapshot().requests
      #expect(try fixture.uploads() <= 6)
      #expect(requests["POST /store/finish", default: 0] <= 12)
      try fixture.expectAllDelivered(200)
      await engine.shutdown()
    }
  }

  @Test func `P17 a background task of a suspended engine works until nothing is left, and suspends again`()
    async throws
  {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      let order = try await engine.begin(product: EngineFixture.product, account: "alice")
      await engine.suspend(within: 0)
      try await engine.receive(try await fixture.pay(token: order.accountToken))
      await engine.suspend(within: 0)
      #expect(try fixture.uploads() == 0)
      #expect(try await engine.work(forSeconds: 60))
      #expect(try fixture.uploads() == 1)
      #expect(try fixture.isFree(.account("alice")))
      // Suspended again: what comes now waits.
      try await engine.receive(try await fixture.pay())
      await engine.suspend(within: 0)
      #expect(try fixture.uploads() == 1)
      await engine.shutdown()
    }
  }

  @Test func `P22 going to the background during a listing is no error`() async throws {
    try await EngineFixture.with { fixture in
      let store = GatedStore(inner: fixture.store)
      store.listing.close()
      let engine = try await fixture.open(store: store)
      let stream = try await engine.eventStream()
      try await until { store.listing.arrivals == 1 }
      await engine.suspend(within: 0)
      store.listing.open()
      await engine.shutdown()
      for await event in stream {
        if case .failed(let error) = event { Issue.record("\(error)") }
      }
    }
  }

  @Test func `a backend of another version loses nothing, and is told to the app`() async throws {
    try await EngineFixture.with { fixture in
      let transport = AnsweringTransport(inner: fixture.transport) { _, number in
        guard number == 1 else { return nil }
        return BackendResponse(
          status: 426, contentType: "application/problem+json",
          body: Data(#"{"type":"protocol","title":"Version 2 only","status":426,"more":[1]}"#.utf8))
      }
      let engine = try await fixture.open(transport: transport)
      let stream = try await engine.eventStream()
      try await fixture.buy(engine)
      for await event in stream { if case .protocolRefused = event { break } }
      #expect(try await engine.snapshot().purchases.count == 1)
      await engine.shutdown()
      // The app is updated.
      let next = try await fixture.open(transport: transport)
      try await fixture.finishAll(next)
      try fixture.expectAllDelivered()
      for request in transport.seen.value {
        #expect(request.headers["Purchase-Sync-Protocol"] == "1")
        #expect(request.headers["Purchase-Sync-Client"]?.isEmpty == false)
      }
      await next.shutdown()
    }
  }

  @Test func `a listener that takes nothing holds a bounded number of events, and hears its outcomes later`()
    async throws
  {
    try await EngineFixture.with { fixture in
      let engine = try await fixture.open()
      let stream = try await engine.eventStream()
      try await fixture.buy(engine)
      try await until { try await engine.snapshot().outcomes.count == 1 }
      // Each wake of a lane that waits says so; the outcome is pushed out.
      for _ in 0..<1_100 { await engine.report(.store(reason: "a test")) }
      #expect(try await engine.snapshot().droppedEvents > 0)
      try await engine.wake(.foreground)
      await engine.shutdown()
      var (count, outcomes) = (0, 0)
      for await event in stream {
        count += 1
        if case .delivered = event { outcomes += 1 }
      }
      #expect(count <= 1_100 && outcomes == 1)
    }
  }
}
