import Foundation
import LoopbackHTTP
import PurchaseSync

/// A refusal on its way to the client: `application/problem+json` (RFC 9457).
struct HTTPProblem: Error {
  var status: Int
  /// A word of this protocol, such as `auth`.
  var type: String
  var title: String
  var detail: String?
  var headers: HTTPHeaders = [:]

  init(status: Int, type: String, title: String, detail: String? = nil, headers: HTTPHeaders = [:]) {
    self.status = status
    self.type = type
    self.title = title
    self.detail = detail
    self.headers = headers
  }

  var response: HTTPResponse {
    // Written by hand, not by an encoder that could fail: this is what answers when something failed.
    var members: [(String, JSONText)] = [
      ("type", .string(type)), ("title", .string(title)), ("status", .integer(Int64(status))),
    ]
    if let detail { members.append(("detail", .string(detail))) }
    var fields = headers
    fields["Content-Type"] = "application/problem+json"
    return HTTPResponse(status: status, headers: fields, body: Array(JSONText.object(members).text.utf8))
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

  static func malformed(_ detail: String) -> HTTPProblem {
    HTTPProblem(status: 400, type: "malformed", title: "The request is malformed", detail: detail)
  }

  static func invalid(_ detail: String, type: String = "invalid") -> HTTPProblem {
    HTTPProblem(status: 422, type: type, title: "The request makes no sense", detail: detail)
  }

  static func notFound(_ detail: String) -> HTTPProblem {
    HTTPProblem(status: 404, type: "not-found", title: "Not found", detail: detail)
  }

  static func failed(_ error: BackendStoreError) -> HTTPProblem {
    HTTPProblem(
      status: 500, type: "storage", title: "The backend could not commit", detail: error.description)
  }
}
