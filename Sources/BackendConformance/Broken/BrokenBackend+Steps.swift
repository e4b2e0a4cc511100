import Foundation
import LoopbackHTTP
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// What several bugs use.
extension BrokenBackend {
  /// The call with a changed upload.
  static func replace(_ upload: UploadRequest, in call: inout Route.Call) throws {
    call.request.body = Array(try JSONEncoder().encode(upload))
  }

  /// Whether the call is of this route of the protocol, such as `POST /v1/orders`.
  static func isCall(_ call: Route.Call, _ method: String, _ path: String) -> Bool {
    call.request.method == method && call.request.path == path
  }

  /// A verdict on each claim, without a judgement.
  static func all(_ verdict: Verdict, of upload: UploadRequest, _ mock: MockState) throws -> HTTPResponse {
    let verdicts = upload.claims.map {
      ClaimVerdict(
        environment: $0.environment, transactionID: $0.transactionID, verdict: verdict,
        reason: verdict == .rejected ? "no" : nil, owner: verdict.isSettled ? .yours : nil)
    }
    return try JSONBody.response(
      UploadReply(ledgerEpoch: try mock.backend.model().ledgerEpoch, verdicts: verdicts))
  }

  /// Writes the newest line of a transaction into the ledger again, for another owner if there is one.
  static func credit(
    again id: String, to owner: Uploader? = nil, _ mock: MockState, now: Timestamp
  ) throws {
    try mock.backend.change { model in
      guard var credit = model.credits.last(where: { $0.transaction.transactionID == id }) else { return [] }
      credit.sequence = model.credits.count + 1
      credit.owner = owner ?? credit.owner
      credit.at = now
      model.apply(.credit(credit))
      return [.credit(credit)]
    }
  }

  /// Writes into the model and the file.
  static func write(_ mock: MockState, _ writes: (BackendModel) -> [BackendWrite]) throws {
    try mock.backend.change { model in
      let writes = writes(model)
      for write in writes { model.apply(write) }
      return writes
    }
  }
}
