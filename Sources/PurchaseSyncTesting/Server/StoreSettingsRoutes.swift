import AppStoreDocuments
import LoopbackHTTP
import PurchaseSync

/// Routes that make the store answer its backends differently.
///
/// | route | what |
/// | --- | --- |
/// | `PUT /admin/api-limit` | `{"requests": N, "milliseconds": M}`: each endpoint of the App Store Server API takes N requests in M ms (an hour) |
/// | `DELETE /admin/api-limit` | removes the limit |
/// | `PUT /store/verify-receipt-answers` | `{"answers": [{"status": 21005, "isRetryable": true}]}`: the next answers of `verifyReceipt` |
extension MockState {
  static func limitServerAPI(
    _ mock: inout MockState, _ document: APILimitDocument, _ call: Route.Call
  ) throws -> APILimitDocument {
    let limit = ServerAPIRateLimit(
      requests: document.requests, milliseconds: document.milliseconds ?? 3_600_000)
    guard limit.requests >= 0 else { throw HTTPProblem.invalid("requests: less than 0") }
    guard 1...86_400_000 ~= limit.milliseconds else {
      throw HTTPProblem.invalid("milliseconds: not within 1 and a day")
    }
    mock.limiter.limit = limit
    return APILimitDocument(requests: limit.requests, milliseconds: limit.milliseconds)
  }

  static func unlimitServerAPI(_ mock: inout MockState, _ call: Route.Call) -> EmptyDocument {
    mock.limiter.limit = nil
    return EmptyDocument()
  }

  /// Replies with how often `verifyReceipt` was asked until now, so that a test knows whether its backend asks it.
  static func scriptVerifyReceipt(
    _ mock: inout MockState, _ script: VerifyReceiptScript, _ call: Route.Call
  ) throws -> VerifyReceiptCount {
    guard script.answers.count <= 1_000 else { throw HTTPProblem.invalid("answers: more than 1,000") }
    mock.store.faults.verifyReceiptAnswers = script.answers.map {
      ScriptedAnswer(
        ReceiptStatus(rawValue: $0.status), isRetryable: $0.isRetryable,
        isHyphenated: $0.isHyphenated ?? false)
    }
    let paths = ["/verifyReceipt", "/sandbox/verifyReceipt"]
    return VerifyReceiptCount(asked: paths.reduce(0) { $0 + (mock.requests["POST " + $1] ?? 0) })
  }
}

struct APILimitDocument: Codable {
  var requests: Int
  /// Nil for an hour.
  var milliseconds: Int64?
}

struct VerifyReceiptCount: Encodable { var asked: Int }

struct VerifyReceiptScript: Decodable {
  struct Answer: Decodable {
    var status: Int
    var isRetryable: Bool?
    var isHyphenated: Bool?
  }

  var answers: [Answer]
}
