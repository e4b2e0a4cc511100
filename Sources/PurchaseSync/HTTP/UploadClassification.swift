import Foundation
package import PurchaseQueue

/// What HTTP says of an upload. A bare status is never final. The article *Retries* has the table, and a test compares it
/// with this code.
extension UploadClassification {
  /// - Parameters:
  ///   - result: The transport's result.
  ///   - lane: The lane of the claims.
  ///   - now: The moment with which a Retry-After is compared if the answer has no `Date`.
  package init(_ result: Result<BackendResponse, TransportError>, lane: Lane, now: Timestamp) {
    switch result {
    case .failure(let error): self = .failure(Self.failure(of: error))
    case .success(let response):
      if response.status == 200, let reply = ReplyReading.reply(in: response, now: now) {
        self = .verdicts(reply)
      } else {
        self = .failure(Self.failure(of: response, now: now).inLane(lane))
      }
    }
  }

  private static func failure(of error: TransportError) -> UploadFailure {
    switch error.kind {
    case .cancelled: .interrupted
    case .unsendable: .backendFault(reason: error.reason)
    default: .retry(reason: error.reason, retryAfterMilliseconds: nil)
    }
  }

  private static func failure(of response: BackendResponse, now: Timestamp) -> UploadFailure {
    let reason = ReplyReading.description(of: response)
    let wait = response.retryAfter.flatMap {
      RetryAfterField.milliseconds($0, date: response.date, now: now)
    }
    if ReplyReading.isRefusal(response) { return .tokenRefused }
    switch response.status {
    case 403 where ReplyReading.problem(in: response)?.type == ProblemDocument.account: return .accountRefused
    // The backend knows this device with another secret: neither a sign-in nor a repetition helps soon.
    case 403 where ReplyReading.problem(in: response)?.type == ProblemDocument.device:
      return .backendFault(reason: reason)
    case 429, 503: return .backendBusy(reason: reason, retryAfterMilliseconds: wait)
    // 403: a captive portal's page. 407: a proxy's. 408 and 425 are about the moment, not about the request.
    case 403, 407, 408, 425: return .retry(reason: reason, retryAfterMilliseconds: wait)
    case 400...499 where ReplyReading.speaksOtherProtocol(response):
      return .otherProtocol(reason: reason)
    case 400...499: return .backendFault(reason: reason)
    case 500, 501: return .requestFailed(reason: reason, retryAfterMilliseconds: wait)
    // 2xx and 3xx without the backend's answer, a gateway's 5xx, and numbers that are no HTTP status.
    default: return .retry(reason: reason, retryAfterMilliseconds: wait)
    }
  }
}
