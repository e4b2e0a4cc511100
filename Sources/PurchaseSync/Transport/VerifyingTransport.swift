import Foundation
import PurchaseSQLite

/// Passes on only answers that the verifier takes for the backend's, where an answer is final
/// (``ReplySignature/isNeeded(status:)``) and may be the backend's at all (`ReplyReading.isOfProtocol`).
///
/// An answer that does not verify is no answer: nothing is settled, no order is made or refused, and the request is
/// repeated with backoff.
struct VerifyingTransport: BackendTransport {
  let transport: any BackendTransport
  let verifier: any ReplyVerifier
  /// A text that is unique for each request.
  let nonce: @Sendable () -> String
  /// Answers that were refused and not reported yet.
  let refused = RefusedReplies()

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    var request = request
    let nonce = nonce()
    request.headers[ReplySignature.nonceField] = nonce
    let response = try await transport.send(request)
    guard ReplySignature.isNeeded(status: response.status), ReplyReading.isOfProtocol(response)
    else { return response }
    let problem: String
    if let signature = response.signature {
      let message = ReplySignature.message(
        method: request.method, target: request.path, nonce: nonce,
        fields: ReplySignature.requestFields.map { request.headers[$0] ?? "" }, body: request.body,
        status: response.status, reply: response.body)
      if verifier.isGenuine(signature, of: message) { return response }
      problem = "its signature is not the backend's for this request"
    } else {
      problem = "it is not signed"
    }
    let reason = "HTTP \(response.status) with \(response.body.count) bytes was not believed: \(problem)"
    refused.add(reason)
    throw TransportError(.unverified, reason: reason)
  }
}

/// The reasons of refused answers, until the engine reports them.
final class RefusedReplies: Sendable {
  private let reasons = Locked<[String]>([])

  func add(_ reason: String) { reasons.withLock { $0.append(reason) } }

  func take() -> [String] {
    reasons.withLock { reasons in
      defer { reasons = [] }
      return reasons
    }
  }
}
