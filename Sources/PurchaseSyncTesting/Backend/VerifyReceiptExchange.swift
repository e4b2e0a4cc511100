package import AppStoreDocuments
package import AppStoreReceipts
package import Foundation
package import PurchaseQueue
package import PurchaseSync

/// The exchange with `/verifyReceipt` about one receipt: production first, then the environment of the answer, once
/// (R1.1).
///
/// A pure value: it returns the next request, and takes the reply.
package struct VerifyReceiptExchange: Sendable {
  package enum Step: Sendable, Hashable {
    /// Post the request's JSON to this environment's host.
    case post(VerifyReceiptRequest, to: StoreEnvironment)
    /// The exchange is finished.
    case done(StoreAnswer)
  }

  package private(set) var step: Step
  private let request: VerifyReceiptRequest
  private var asked: Set<StoreEnvironment> = [.production]

  /// An exchange about a receipt in base64. `password` is the app's shared secret.
  package init(receiptData: String, password: SharedSecret?) {
    request = VerifyReceiptRequest(receiptData: receiptData, password: password)
    step = .post(request, to: .production)
  }

  /// The answer about one receipt. `post` sends a request's JSON to the host of an environment; `others` answers what is not
  /// about a receipt.
  package static func answer(
    about receipt: ProofDocument, password: SharedSecret? = nil, now: Timestamp,
    others: (VerificationQuery) -> StoreAnswer,
    post: (Data, StoreEnvironment) -> (status: Int, body: Data)?
  ) -> StoreAnswer {
    // The store answers such a request 413, each time: an answer that never changes is none to wait for.
    guard !receipt.isTooLongForStore else { return StoreAnswer(.refused) }
    var exchange = VerifyReceiptExchange(receiptData: receipt.data, password: password)
    while true {
      switch exchange.step {
      case .done(let answer): return answer.completingRefunds(others)
      case .post(let request, let host): exchange.received(post(request.json, host), now: now)
      }
    }
  }

  /// Takes the host's reply: HTTP status and body, or nil for no reply. `now` is the time of the reply.
  ///
  /// The service always answers 200 (StoreFacts a.1). Another status or a body that is no JSON comes from a proxy and
  /// proves nothing about the receipt.
  package mutating func received(_ reply: (status: Int, body: Data)?, now: Timestamp) {
    guard case .post(_, let host) = step else { return }
    guard let reply, reply.status == 200 else { return step = .done(StoreAnswer(.unavailable)) }
    do throws(ReceiptDecodingError) {
      take(try VerifyReceiptResponse(json: reply.body), from: host, now: now)
    } catch {
      step = .done(StoreAnswer(.unavailable))
    }
  }

  private mutating func take(_ response: VerifyReceiptResponse, from host: StoreEnvironment, now: Timestamp) {
    if case .askOtherEnvironment(let other) = response.action, asked.insert(other).inserted {
      step = .post(request, to: other)
      return
    }
    step = .done(
      StoreAnswer(Self.outcome(of: response, host: host, now: now), status: response.status))
  }

  private static func outcome(
    of response: VerifyReceiptResponse, host: StoreEnvironment, now: Timestamp
  ) -> StoreAnswer.Outcome {
    switch response.action {
    case .ok, .lapsed: .genuine(StoreReport(response, host: host, askedAt: now.milliseconds))
    case .retryThenRefuse: .doubtful
    // Each environment points to the other one.
    case .retry, .unknown, .askOtherEnvironment: .unavailable
    case .configuration: .misconfigured
    case .forged: .forged
    case .refused: .refused
    }
  }
}
