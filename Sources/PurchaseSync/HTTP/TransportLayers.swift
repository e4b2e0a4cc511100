import Foundation
import PurchaseQueue
import PurchaseSQLite

/// Makes the app's transport keep its protocol: a request ends in time, and at once when its task is cancelled.
///
/// A request that hangs would block its lane and its lease for ever, and keep the engine from going to the background.
/// It is left behind and its answer is ignored: the same upload is sent again.
struct BoundedTransport: BackendTransport {
  let transport: any BackendTransport
  var limit: TimeLimit

  init(
    transport: any BackendTransport, milliseconds: Int64,
    patience: @escaping @Sendable (Int64) async throws -> Void = SystemDependencies.live.patience
  ) {
    self.transport = transport
    limit = TimeLimit(milliseconds: milliseconds, patience: patience)
  }

  func send(_ request: BackendRequest) async throws(TransportError) -> BackendResponse {
    let transport = self.transport
    var request = request
    request.headers.merge(WireProtocol.headers) { own, _ in own }
    let result = await limit.answer {
      [request] () async -> Result<BackendResponse, TransportError>? in
      do throws(TransportError) {
        return .success(try await transport.send(request))
      } catch {
        // One that ends because it was left behind has not returned. A transport of the app's may quote what it sent.
        let failure = TransportError(error.kind, reason: Redaction.line(error.reason))
        return Task.isCancelled ? nil : .failure(failure)
      }
    }
    switch result {
    case .success(let response): return response
    case .failure(let error) where error.kind == .cancelled && !Task.isCancelled:
      // The engine did not cancel it, so it counts as failed.
      throw TransportError(.noAnswer, reason: error.reason)
    case .failure(let error): throw error
    case nil where Task.isCancelled: throw TransportError(.cancelled, reason: "the request was cancelled")
    case nil: throw TransportError(.timedOut, reason: "the transport gave no answer in time")
    }
  }
}

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
