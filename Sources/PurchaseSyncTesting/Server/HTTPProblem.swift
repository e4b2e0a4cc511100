import AppStoreReceipts
package import LoopbackHTTP
import PurchaseSync

/// A refusal as the client gets it: `application/problem+json` (RFC 9457).
package struct HTTPProblem: Error {
  var status: Int
  /// A word of this protocol, such as `auth`.
  var type: String
  var title: String
  var detail: String?
  var headers: HTTPHeaders = [:]

  package init(
    status: Int, type: String, title: String, detail: String? = nil, headers: HTTPHeaders = [:]
  ) {
    (self.status, self.type, self.title) = (status, type, title)
    (self.detail, self.headers) = (detail, headers)
  }

  package var response: HTTPResponse {
    var members: [String: JSONValue] = [
      "type": .string(type), "title": .string(title), "status": .integer(Int64(status)),
    ]
    members["detail"] = detail.map(JSONValue.string)
    var fields = headers
    fields["Content-Type"] = "application/problem+json"
    return HTTPResponse(status: status, headers: fields, body: Array(JSONValue.object(members).text.utf8))
  }

  static func unauthorized(_ detail: String) -> HTTPProblem {
    // "The server generating a 401 response MUST send a WWW-Authenticate header field" (RFC 9110 15.5.2).
    HTTPProblem(
      status: 401, type: ProblemDocument.auth, title: "Credentials needed", detail: detail,
      headers: ["WWW-Authenticate": "Bearer"])
  }

  /// 401 or 403, both of type `auth`: backends do either.
  static func deleted(status: Int) -> HTTPProblem {
    var problem = unauthorized("the account was deleted")
    problem.status = status
    if status != 401 { problem.headers = [:] }
    return problem
  }

  package static func malformed(_ detail: String) -> HTTPProblem {
    HTTPProblem(status: 400, type: "malformed", title: "The request is malformed", detail: detail)
  }

  package static func invalid(_ detail: String, type: String = "invalid") -> HTTPProblem {
    HTTPProblem(status: 422, type: type, title: "The request makes no sense", detail: detail)
  }

  static func tooLarge(_ detail: String? = nil) -> HTTPProblem {
    HTTPProblem(status: 413, type: "too-large", title: "The request is too large", detail: detail)
  }

  package static func notFound(_ detail: String) -> HTTPProblem {
    HTTPProblem(status: 404, type: "not-found", title: "Not found", detail: detail)
  }
}

extension HTTPProblem {
  /// The answer to an error that a handler threw.
  package init(_ error: any Error) {
    switch error {
    case let problem as HTTPProblem: self = problem
    case let error as StoreModelError: self.init(error)
    case BackendModelError.orderConflict:
      self.init(
        status: 409, type: "order-conflict", title: "Another order has this number or token",
        detail: BackendModelError.orderConflict.description)
    case BackendModelError.orderOfAnotherAccount:
      // Not of type `auth`: the credentials are valid, so another sign-in would not help.
      self.init(
        status: 403, type: "forbidden", title: "The order is another account's",
        detail: BackendModelError.orderOfAnotherAccount.description)
    case BackendModelError.deviceSecret:
      self.init(
        status: 403, type: ProblemDocument.device, title: "The device is known with another secret")
    case let error as BackendModelError:
      self = .invalid(error.description, type: error == .idempotencyConflict ? "idempotency" : "invalid")
    default:
      self.init(status: 500, type: "storage", title: "The backend could not commit", detail: "\(error)")
    }
  }

  private init(_ error: StoreModelError) {
    let (status, type, title) =
      switch error {
      case .unknownTransaction, .unknownRequest: (404, "not-found", "Not found")
      case .refreshFailed: (503, "refresh", "Not refreshed")
      case .paymentDeclined: (402, "declined", "Not charged")
      case .waits: (409, "waits", "Not charged yet")
      case .alreadySubscribed: (409, "subscribed", "Not charged again")
      case .unknownProduct, .invalidQuantity, .noStoreAccount, .noSubscription, .notCharged,
        .invalidRefund, .seatReduction, .invalidSeats:
        (422, "invalid", "The request makes no sense")
      }
    self.init(status: status, type: type, title: title, detail: error.description)
  }
}
