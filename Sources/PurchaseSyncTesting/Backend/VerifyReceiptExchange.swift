public import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// The talk with `/verifyReceipt` about one receipt: production first, then where the answer points, once (R1.1).
///
/// A pure value that says what to send where, and is told what came back.
public struct VerifyReceiptExchange: Sendable {
  /// What to do next.
  public enum Step: Sendable, Hashable {
    /// Post the request's JSON to this environment's host.
    case post(VerifyReceiptRequest, to: StoreEnvironment)
    /// That was all.
    case done(StoreAnswer)
  }

  /// What to do next.
  public private(set) var step: Step
  private let request: VerifyReceiptRequest
  private var asked: Set<StoreEnvironment> = [.production]

  /// Begins to ask about a receipt in base64. `password` is the app's shared secret.
  public init(receiptData: String, password: SharedSecret?) {
    request = VerifyReceiptRequest(receiptData: receiptData, password: password)
    step = .post(request, to: .production)
  }

  /// Takes in what a host answered: the HTTP status and the body, or nil if nothing came back. `now` is when.
  ///
  /// The service answers 200 whatever it has to say (receipt-facts, a.1): another status, or a body that is no JSON, is
  /// somebody in between, and says nothing of the receipt.
  public mutating func received(_ reply: (status: Int, body: Data)?, now: Timestamp) {
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
    // Each environment says that it is the other's.
    case .retry, .unknown, .askOtherEnvironment: .unavailable
    case .configuration: .misconfigured
    case .forged: .forged
    case .refused: .refused
    }
  }
}
