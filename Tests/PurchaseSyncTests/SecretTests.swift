import Foundation
import PurchaseQueue
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

  @Test func `the check sees bytes and texts`() {
    struct Open { var bytes = SecretTests.bytes }
    #expect(texts(of: Open()).allSatisfy(isShown))
    #expect(texts(of: Self.secret).allSatisfy(isShown))
  }
}
