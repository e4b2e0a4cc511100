import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Answers that the backend signs, and a man in the middle.
@Suite struct SignedReplyTests {
  private static let backend = ChecksumSignature(key: 1)

  /// A backend that signs, or the man in the middle: changes what is sent and what is signed.
  private struct Signing: BackendTransport {
    var status = 200
    /// What he does with the request before the backend signs its answer to it.
    var request: @Sendable (inout BackendRequest) -> Void = { _ in }
    /// What he does with the answer.
    var reply: @Sendable (inout BackendResponse) -> Void = { _ in }
    var signature = SignedReplyTests.backend
    let nonces = Locked<[String]>([])

    func send(_ sent: BackendRequest) async throws(TransportError) -> BackendResponse {
      var heard = sent
      request(&heard)
      nonces.withLock { $0.append(heard.headers[ReplySignature.nonceField] ?? "") }
      let body = Data(#"{"ledgerEpoch":"e","verdicts":[]}"#.utf8)
      let message = ReplySignature.message(
        method: heard.method, target: heard.path, nonce: heard.headers[ReplySignature.nonceField] ?? "",
        fields: ReplySignature.requestFields.map { heard.headers[$0] ?? "" }, body: heard.body,
        status: status, reply: body)
      var response = BackendResponse(
        status: status, contentType: status < 300 ? "application/json" : "application/problem+json",
        signature: signature.sign(message), body: body)
      reply(&response)
      return response
    }
  }

  private func answer(_ transport: Signing, _ request: BackendRequest = .upload()) async -> TransportError
    .Kind?
  {
    let verifying = VerifyingTransport(
      transport: transport, verifier: Self.backend, nonce: { UUID().uuidString })
    do throws(TransportError) {
      _ = try await verifying.send(request)
      return nil
    } catch {
      #expect(verifying.refused.take().count == 1)
      return error.kind
    }
  }

  @Test func `the backend's own answer is believed, and each request has a nonce of its own`() async {
    let transport = Signing()
    for _ in 0..<3 { #expect(await answer(transport) == nil) }
    #expect(Set(transport.nonces.value).count == 3)
  }

  @Test func `an answer of another server is not believed`() async {
    #expect(await answer(Signing(reply: { $0.signature = nil })) == .unverified)
    #expect(await answer(Signing(reply: { $0.signature = "" })) == .unverified)
    #expect(await answer(Signing(signature: ChecksumSignature(key: 2))) == .unverified)
    #expect(await answer(Signing(reply: { $0.body += Data(" ".utf8) })) == .unverified)
    // The backend signed another status.
    #expect(await answer(Signing(status: 202, reply: { $0.status = 200 })) == .unverified)
  }

  @Test func `an answer to a changed request is not believed`() async {
    #expect(await answer(Signing(request: { $0.method = "PUT" })) == .unverified)
    #expect(await answer(Signing(request: { $0.path = "v1/orders?after=z" })) == .unverified)
    #expect(await answer(Signing(request: { $0.body.removeLast() })) == .unverified)
    // In the name of the man's own account, as the device's, or for an order that was made before.
    for field in ReplySignature.requestFields {
      #expect(
        await answer(Signing(request: { $0.headers[field] = "Bearer token-mallory" })) == .unverified,
        "\(field)")
    }
    #expect(await answer(Signing(request: { $0.headers[ReplySignature.nonceField] = "old" })) == .unverified)
  }

  @Test(arguments: [400, 403, 404, 409, 413, 422, 426])
  func `a refusal that would be final is believed only with its signature`(status: Int) async {
    #expect(await answer(Signing(status: status)) == nil)
    #expect(await answer(Signing(status: status, reply: { $0.signature = nil })) == .unverified)
    // The page of a captive portal is no refusal of the backend, and no verifier is needed to know.
    let page = Signing(
      status: status,
      reply: {
        $0.signature = nil
        $0.contentType = "text/html"
      })
    #expect(await answer(page) == nil)
  }

  /// Types that the engine takes for its protocol's, and whether the transport names one at all.
  private static let types = [
    nil, "application/json", "Application/Problem+JSON", "application/problem+json; charset=utf-8",
    "application/vnd.shop+json", " application/json",
  ]

  @Test(arguments: types, [200, 201, 204, 400, 403, 404, 409, 422])
  func `no type of an answer makes it believed without its signature`(type: String?, status: Int) async {
    let unsigned = Signing(
      status: status,
      reply: {
        $0.signature = nil
        $0.contentType = type
      })
    #expect(await answer(unsigned) == .unverified)
    // Signed, the type does not matter: the bytes are the backend's.
    #expect(await answer(Signing(status: status, reply: { $0.contentType = type })) == nil)
  }

  @Test(arguments: [nil, "text/html", "application/json", ""])
  func `a successful answer is never believed without its signature`(type: String?) async {
    let unsigned = Signing(
      reply: {
        $0.signature = nil
        $0.contentType = type
      })
    #expect(await answer(unsigned) == .unverified)
  }

  @Test(arguments: types, [200, 403, 404, 422])
  func `what the engine believes has to be signed`(type: String?, status: Int) {
    let problem = BackendResponse(
      status: status, contentType: type, body: Data(#"{"type":"auth","title":"no","status":422}"#.utf8))
    #expect(ReplyReading.problem(in: problem) != nil)
    #expect(ReplyReading.isOfProtocol(problem))
    #expect(ReplySignature.isNeeded(status: status))
  }

  @Test(arguments: [401, 408, 425, 429, 500, 503])
  func `an unsigned answer does not say that the app is too old`(status: Int) {
    let problem = BackendResponse(
      status: status, contentType: "application/problem+json",
      body: Data(#"{"type":"protocol","title":"update the app","status":426}"#.utf8))
    #expect(!ReplyReading.speaksOtherProtocol(problem))
  }

  /// Refuses every request, unsigned.
  private struct Refusing: BackendTransport {
    let type: String?
    let status: Int

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      BackendResponse(
        status: status, contentType: type, body: Data(#"{"type":"auth","title":"no","status":422}"#.utf8))
    }
  }

  @Test(arguments: types, [403, 404, 422])
  func `a man in the middle refuses no order`(type: String?, status: Int) async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.verifier = Self.backend
      let engine = try await fixture.open(transport: Refusing(type: type, status: status))
      let error = await #expect(throws: SyncError.self) {
        try await engine.begin(product: EngineFixture.product, account: "alice")
      }
      if case .backendUnreachable? = error {} else { Issue.record("believed: \(String(describing: error))") }
      await engine.shutdown()
    }
  }

  @Test(arguments: [401, 408, 425, 429, 500, 503])
  func `an answer that settles nothing needs no signature`(status: Int) async {
    #expect(await answer(Signing(status: status, reply: { $0.signature = nil })) == nil)
  }

  @Test func `parts of a message cannot be moved into each other`() {
    func message(_ target: String, _ nonce: String, _ body: String, _ status: Int) -> String {
      String(
        decoding: ReplySignature.message(
          method: "POST", target: target, nonce: nonce, fields: ["Bearer a", "", "", ""], body: body.utf8,
          status: status, reply: "{}".utf8), as: UTF8.self)
    }
    #expect(
      message("v1/receipts", "n", "[]", 200)
        == "21:purchase-sync-reply-14:POST11:v1/receipts1:n8:Bearer a0:0:0:2:[]3:2002:{}")
    #expect(message("v1/r1", "n", "", 200) != message("v1/r", "1n", "", 200))
    #expect(message("v1/r", "n", "2", 200) != message("v1/r", "n", "", 2_200))
  }

  // MARK: The engine

  /// Answers the first two uploads himself: granted.
  private static let forged = FaultPlan.forgedVerdict(transactionID: "2000000000000001", requests: 2)

  @Test func `a man in the middle who says granted is not believed`() async throws {
    try await EngineFixture.with(Self.forged) { fixture in
      var fixture = fixture
      let (log, records) = (MeasurementLog(), Locked<[SyncLogRecord]>([]))
      fixture.server.signReplies(with: Self.backend)
      fixture.configuration.verifier = Self.backend
      fixture.configuration.metrics = { log.add($0) }
      fixture.configuration.log = { record in records.withLock { $0.append(record) } }
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      try await fixture.finishAll(engine)
      try fixture.expectAllDelivered()
      let refusals = records.value.filter { $0.name == "replyRejected" }
      #expect(refusals.count == 2 && refusals.allSatisfy { $0.level == .error })
      #expect(refusals.allSatisfy { $0.text.contains("it is not signed") })
      #expect(log.durations(.upload) == ["retry", "retry", "verdicts"])
      #expect(log.count(.trouble, reason: "replyRejected") == 2)
      #expect(try fixture.uploads() == 3)
      await engine.shutdown()
    }
  }

  @Test func `without a verifier he is believed, and the purchase is lost`() async throws {
    try await EngineFixture.with(Self.forged) { fixture in
      fixture.server.signReplies(with: Self.backend)
      let engine = try await fixture.open()
      try await fixture.buy(engine)
      try await fixture.finishAll(engine)
      let seen = try fixture.server.snapshot()
      #expect(seen.credits.isEmpty && seen.charges.allSatisfy(\.isFinished))
      await engine.shutdown()
    }
  }

  /// Keeps the backend's first signed answer to an upload and gives it to each later one.
  private struct Replaying: BackendTransport {
    let inner: any BackendTransport
    let kept = Locked<BackendResponse?>(nil)
    let replays = Locked(0)

    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      guard request.path == "v1/receipts" else { return try await inner.send(request) }
      if let old = kept.value,
        replays.withLock({
          $0 += 1; return $0 <= 2
        })
      {
        return old
      }
      let response = try await inner.send(request)
      kept.withLock { $0 = $0 ?? response }
      return response
    }
  }

  @Test func `the backend's own granted for another claim is not believed again`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.server.signReplies(with: Self.backend)
      fixture.configuration.verifier = Self.backend
      let transport = Replaying(inner: fixture.transport)
      let engine = try await fixture.open(transport: transport)
      try await fixture.buy(engine)
      try await fixture.finishAll(engine)
      try await fixture.buy(engine)
      try await fixture.finishAll(engine)
      try fixture.expectAllDelivered(2)
      #expect(transport.replays.value > 2)
      await engine.shutdown()
    }
  }

  @Test func `orders, notices and adoptions work with signed answers`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.server.signReplies(with: Self.backend)
      fixture.configuration.verifier = Self.backend
      let engine = try await fixture.open()
      try await engine.receive(try await fixture.pay())
      try await engine.adoptDevicePurchases(for: "alice")
      try await fixture.buy(engine, account: "bob")
      try await fixture.finishAll(engine)
      try fixture.expectAllDelivered(2)
      await engine.shutdown()
    }
  }

  @Test func `an order of another server is not made`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      fixture.configuration.verifier = Self.backend
      let engine = try await fixture.open()
      let error = await #expect(throws: SyncError.self) {
        try await engine.begin(product: EngineFixture.product, account: "alice")
      }
      guard case .backendUnreachable = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      await engine.shutdown()
    }
  }
}
