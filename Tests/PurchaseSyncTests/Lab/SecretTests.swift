import Foundation
import PurchaseQueue
import PurchaseSQLite
import PurchaseSyncTesting
import Testing

@testable import PurchaseSync

/// Proofs and credentials show in no description and no dump, wherever they are inside.
@Suite struct SecretTests {
  private static let secret = "eyJhbGciOiJFUzI1NiJ9.c2VjcmV0.c2lnbmF0dXJl"
  private static let bytes = Array(secret.utf8)
  private static let payload = Payload(kind: ProofKind.signedTransaction.rawValue, bytes: bytes)
  private static let document = ProofDocument(kind: .signedTransaction, data: secret)
  private static let claim = Claim(
    transactionID: "1", environment: "Production", productID: "p", quantity: 1,
    purchasedAt: Timestamp(milliseconds: 1), match: .none, proof: 0)
  private static let upload = UploadRequest(device: UUID(), proofs: [document], claims: [claim])

  private static let values: [(String, any Sendable)] = [
    ("Payload", payload),
    ("VaultItem", VaultItem(name: "payload.1", bytes: bytes)),
    ("NewEntry", NewEntry(key: EntryKey(rawValue: "a"), lane: .device, details: "{}", payloads: [payload])),
    ("ProofDocument", document),
    ("UploadRequest", upload),
    ("UploadedPurchase", UploadedPurchase(claim, in: upload)),
    (
      "BackendRequest",
      BackendRequest(method: "POST", path: "v1", headers: ["Authorization": secret], body: Data(bytes))
    ),
    ("BackendResponse", BackendResponse(status: 200, signature: secret, body: Data(bytes))),
    ("BackendCaller", BackendCaller(account: "alice", token: secret)),
    ("CredentialRequest", CredentialRequest(account: "alice", refusedToken: secret)),
    ("DeviceIdentity", DeviceIdentity(id: UUID(), secret: secret)),
    ("EarlierPurchase", EarlierPurchase(id: "1", document: bytes, account: "alice")),
  ]

  /// Everything that prints a value: by itself, within others, for a debugger, and what a failed expectation shows.
  private func texts(of value: any Sendable) -> [String] {
    struct Holder { var value: any Sendable }
    var dumped = ""
    dump(Holder(value: value), to: &dumped)
    return [
      String(describing: value), String(reflecting: value), "\([value])", "\(["key": value])",
      "\(Holder(value: value))", String(describing: Optional(value)), dumped,
    ]
  }

  private func isShown(_ text: String) -> Bool {
    // A dump has a number on each line.
    let numbers = text.split { !$0.isNumber }.joined(separator: ",")
    let first = Self.bytes.prefix(4).map(String.init).joined(separator: ",")
    return text.contains("eyJhbGci") || text.contains("c2VjcmV0") || numbers.contains(first)
      || text.contains(Data(Self.bytes).base64EncodedString().prefix(12))
  }

  @Test(arguments: values.indices)
  func `no description and no dump shows a proof or a credential`(index: Int) {
    let (name, value) = Self.values[index]
    for text in texts(of: value) { #expect(!isShown(text), "\(name): \(text)") }
  }

  @Test func `no description and no dump of a transaction shows its proof`() async throws {
    try await BuyingFixture.with { fixture in
      var transaction = try await fixture.store.pay(product: "gems", quantity: 1, accountToken: nil)
      transaction.proof = Self.payload
      for text in texts(of: transaction) { #expect(!isShown(text), "\(text)") }
      for text in texts(of: StoreListing(account: "a", transactions: [transaction])) {
        #expect(!isShown(text), "\(text)")
      }
    }
  }

  @Test func `no dump of an engine or a shop shows a token that was refused`() async throws {
    try await BuyingFixture.with { fixture in
      let shop = Shop(
        store: fixture.store, backend: fixture.transport, configuration: try fixture.configuration(),
        lifecycle: .explicit, credentials: { _ in Self.secret }, fulfil: { _ in })
      _ = try await shop.purchase("gems", for: "alice")
      let engine = try await shop.syncEngine()
      #expect(await engine.decisions.tokens.refused(of: "alice") == Self.secret)
      for text in texts(of: shop) + texts(of: engine) { #expect(!isShown(text), "\(text)") }
      await shop.close()
    }
  }

  /// A transport of the app's that quotes what it sent.
  private struct Quoting: BackendTransport {
    func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
      throw TransportError(reason: "no answer to \(request.headers)")
    }
  }

  @Test func `no error and no event shows what a transport quotes`() async throws {
    try await EngineFixture.with { fixture in
      var fixture = fixture
      let lines = Locked<[String]>([])
      fixture.configuration.log = { record in lines.withLock { $0.append("\(record)") } }
      let asking = try await fixture.open(transport: Quoting(), credentials: { _ in "abc123" })
      let error = await #expect(throws: SyncError.self) {
        try await asking.begin(product: EngineFixture.product, account: "alice")
      }
      #expect(!"\(String(describing: error))".contains("abc123"))
      await asking.shutdown()
      // A purchase for an order of the device's own is uploaded, and gets no answer.
      fixture.configuration.orderPolicy = .deviceOnly
      let engine = try await fixture.open(transport: Quoting(), credentials: { _ in "abc123" })
      try await fixture.buy(engine)
      let seen = try await events(engine) { event in
        if case .waiting(_, let reason, _) = event { reason.contains("no answer to") } else { false }
      }
      await engine.shutdown()
      #expect(lines.value.contains { $0.contains("no answer to") })
      for text in seen.map({ "\($0)" }) + lines.value { #expect(!text.contains("abc123"), "\(text)") }
    }
  }

  @Test func `the check sees bytes and texts`() {
    struct Open { var bytes = SecretTests.bytes }
    #expect(texts(of: Open()).allSatisfy(isShown))
    #expect(texts(of: Self.secret).allSatisfy(isShown))
  }
}
