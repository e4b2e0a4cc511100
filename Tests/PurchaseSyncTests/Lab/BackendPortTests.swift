import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// The two ways to a backend, next to each other: an answer means the same, whichever way it came.
@Suite struct BackendPortTests {
  /// Answers every request with one response.
  private struct Answering: BackendTransport {
    let response: BackendResponse
    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse { response }
  }

  /// Fails in every function.
  private struct Failing: PurchaseBackend {
    let failure: BackendFailure
    let makesOrders = true

    func verify(_ purchase: UploadedPurchase, for owner: BackendCaller) async throws -> BackendVerdict {
      throw failure
    }
    func makeOrder(
      _ wish: OrderRequest, idempotencyKey: String, for account: BackendCaller
    ) async throws -> OrderDocument { throw failure }
    func register(_ order: DeviceOrder, for account: BackendCaller) async throws { throw failure }
    func order(_ number: String, became state: OrderState, for account: BackendCaller) async throws {
      throw failure
    }
    func openOrders(of account: BackendCaller) async throws -> [OrderDocument] { throw failure }
    func adopt(device: UUID, by account: BackendCaller) async throws { throw failure }
  }

  private static let failures: [BackendFailure] = [
    .tokenRefused, .refused(reason: "no"), .busy(), .busy(retryAfter: .seconds(90)),
  ]
  private static let alice = AccountCredential(account: "alice", token: "t")
  private static let senders: [(BackendSender, Lane)] = [
    (.account(alice, on: .simulated), .account("alice")),
    (.device(.simulated, signedIn: alice), .device),
    (.device(.simulated, signedIn: alice), .question(of: "alice")),
    (.device(.simulated, signedIn: nil), .device),
  ]
  private static let upload = UploadRequest(
    device: DeviceIdentity.simulated.id, proof: nil,
    claims: [
      Claim(
        transactionID: "1", environment: "Production", productID: "gems", quantity: 1,
        purchasedAt: Timestamp(milliseconds: 1), match: .none)
    ])

  private func typed(_ failure: BackendFailure) -> TypedBackend {
    TypedBackend(Failing(failure: failure), SyncConfiguration(path: "unused"), LateCalls())
  }

  /// A backend of the project's protocol that says the same to this sender.
  private func http(_ failure: BackendFailure, to sender: BackendSender) throws -> HTTPBackend {
    var response = BackendResponse(status: failure.status, body: Data())
    var problem: ProblemDocument?
    switch failure {
    case .tokenRefused where sender.signedIn != nil:
      response.status = 403
      problem = ProblemDocument(type: ProblemDocument.account, title: "", status: 403)
    case .tokenRefused: break
    case .refused(let reason): problem = ProblemDocument(type: "about:blank", title: reason, status: 422)
    case .busy(let pause): response.retryAfter = pause.map { "\($0.components.seconds)" }
    }
    if let problem { response.body = try JSONEncoder().encode(problem) }
    return HTTPBackend(Answering(response: response), now: { midday })
  }

  @Test(arguments: failures, senders.indices)
  func `a failure of an upload means the same over HTTP and from a typed backend`(
    failure: BackendFailure, sender: Int
  ) async throws {
    let (sender, lane) = Self.senders[sender]
    let expected = try await http(failure, to: sender).upload(Self.upload, in: lane, from: sender)
    let answer = await typed(failure).upload(Self.upload, in: lane, from: sender)
    #expect(answer == expected)
    if case .verdicts = answer { Issue.record("a failure is no verdict") }
  }

  @Test(arguments: failures)
  func `a failure of an order means the same over HTTP and from a typed backend`(
    failure: BackendFailure
  ) async throws {
    let sender = BackendSender.account(Self.alice, on: .simulated)
    let (http, typed) = (try http(failure, to: sender), typed(failure))
    let wish = OrderRequest(productID: "gems", quantity: 1)
    let orders = await (
      http.makeOrder(wish, key: "k", for: Self.alice), typed.makeOrder(wish, key: "k", for: Self.alice)
    )
    #expect(orders.0 == orders.1)
    let notice = OrderNotice.became(.cancelled, number: "A-1")
    let notices = await (http.publish(notice, of: Self.alice), typed.publish(notice, of: Self.alice))
    #expect(notices.0 == notices.1)
    let adoptions = await (
      http.adopt(.simulated, by: Self.alice), typed.adopt(.simulated, by: Self.alice)
    )
    #expect(adoptions.0 == adoptions.1)
  }

  @Test func `no description of a sender shows a token or a secret`() {
    let device = DeviceIdentity(id: UUID(), secret: "very-secret")
    let account = AccountCredential(account: "alice", token: "very-secret")
    for sender in [BackendSender.account(account, on: device), .device(device, signedIn: account)] {
      var text = "\(sender) " + String(reflecting: sender)
      dump(sender, to: &text)
      #expect(!text.contains("very-secret"))
    }
  }

  /// A verifier is for answers of the project's protocol: a backend of the app's own reads its answers itself.
  @Test func `an engine with a typed backend delivers, with a verifier set`() async throws {
    struct Never: ReplyVerifier {
      func isGenuine(_ signature: String, of message: [UInt8]) -> Bool { false }
    }
    try await EngineFixture.with { fixture in
      let requests = Locked<[EngineSight.Request]>([])
      var configuration = fixture.configuration
      configuration.orderPolicy = .deviceOnly
      configuration.verifier = Never()
      configuration.system.sight = { sight in
        if case .calls(.request(let request)) = sight { requests.withLock { $0.append(request) } }
      }
      let server = CompanyServer()
      let engine = try await SyncEngine.open(
        configuration, store: fixture.store, backend: server.backend,
        credentials: { "token-" + $0.account })
      let order = try await fixture.buy(engine)
      try await until { try await !engine.snapshot().outcomes.isEmpty }
      try await until { try await engine.pendingNotices() == 0 }
      #expect(server.state.value.credits.values.map { $0 } == [["alice", order.number]])
      // What a judge counts is seen, whichever way it goes.
      #expect(Set(requests.value) == [.upload, .order(order.number)])
      await engine.shutdown()
    }
  }
}
