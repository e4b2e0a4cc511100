import Foundation
import PurchaseQueue
import PurchaseSync

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The two ways to send an upload that `bench upload` compares.
package enum UploadWay: String, CaseIterable, Sendable {
  /// A URL session that sends prepared bytes and reads the status.
  case bare
  /// Encoding, transport and classification of the answer, as in the engine.
  case engine

  /// A function that makes one upload; all its calls share a session.
  func sender(to base: URL, proofBytes: Int) throws -> @Sendable () async throws -> Void {
    let upload = Self.upload(proofBytes: proofBytes)
    switch self {
    case .bare:
      var request = URLRequest(url: base.appendingPathComponent("v1/receipts"))
      request.httpMethod = "POST"
      request.httpBody = try JSONEncoder().encode(upload)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
      request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
      let session = URLSession(configuration: .ephemeral)
      return { [request] in
        let (_, response) = try await session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw BenchError.uploadFailed("bare") }
      }
    case .engine:
      let backend = HTTPBackend(
        URLSessionTransport(base: base), now: { Timestamp(milliseconds: 1_700_000_000_000) })
      let sender = BackendSender.account(
        AccountCredential(account: "alice", token: "token"), on: .simulated)
      return {
        let outcome = await backend.upload(upload, in: .account("alice"), from: sender)
        guard case .verdicts(let reply) = outcome, reply.verdicts.count == 1 else {
          throw BenchError.uploadFailed("engine: \(outcome)")
        }
      }
    }
  }

  private static func upload(proofBytes: Int) -> UploadRequest {
    var payloads = Payloads(seed: 8)
    let claim = Claim(
      transactionID: "2000000000000001", originalTransactionID: "2000000000000001", environment: "Production",
      productID: "com.example.gems", quantity: 1, purchasedAt: Timestamp(milliseconds: 1_700_000_000_000),
      match: .bound, orderNumber: "1")
    return UploadRequest(
      device: UUID(),
      proof: ProofDocument(
        kind: .appReceipt, data: Data(payloads.next(1, of: proofBytes)[0]).base64EncodedString()),
      claims: [claim])
  }

  /// The answer of the server to each upload.
  static let reply = Array(
    """
    {"ledgerEpoch":"e","verdicts":[{"environment":"Production","transactionID":"2000000000000001",\
    "verdict":"granted","orderNumber":"1"}]}
    """.utf8)
}
