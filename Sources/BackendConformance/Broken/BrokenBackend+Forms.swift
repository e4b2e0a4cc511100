import Foundation
import LoopbackHTTP
import PurchaseSync
import PurchaseSyncTesting

extension BrokenBackend {
  /// Bugs in how requests are read, and in the form of answers.
  static let forms: [BrokenBackend] = [
    BrokenBackend(
      "html", "answers are of the type text/html",
      hooks: BrokenHooks(answers: { response, _, _ in
        if response.status < 300 { response.headers["Content-Type"] = "text/html" }
      })),
    BrokenBackend(
      "plain-problems", "refusals are plain text",
      hooks: BrokenHooks(answers: { response, _, _ in
        guard response.status >= 400 else { return }
        response.headers["Content-Type"] = "text/plain"
        response.body = Array("error".utf8)
      })),
    BrokenBackend(
      "malformed-500", "a malformed order is answered 500",
      hooks: BrokenHooks(answers: { response, call, _ in
        if isCall(call, "POST", "/v1/orders"), response.status == 400 { response.status = 500 }
      })),
    BrokenBackend(
      "any-version", "every version of the protocol is taken", hooks: BrokenHooks(takesAnyVersion: true)),
    BrokenBackend(
      "any-path", "paths that do not exist are answered 200",
      hooks: BrokenHooks(unrouted: HTTPResponse(status: 200, body: Array("{}".utf8)))),
    BrokenBackend(
      "large-500", "a body of more than 1 MiB is answered 500",
      hooks: BrokenHooks(before: { _, call in
        guard call.request.body.count > 1 << 20 else { return nil }
        throw HTTPProblem(status: 500, type: "memory", title: "Out of memory")
      })),
    BrokenBackend(
      "proof-index-ignored", "a claim that names no proof of the list is taken",
      hooks: BrokenHooks(before: { _, call in
        guard var upload = call.request.upload else { return nil }
        for index in upload.claims.indices where upload.proof(of: upload.claims[index]) == nil {
          upload.claims[index].proof = nil
        }
        try replace(upload, in: &call)
        return nil
      })),
    BrokenBackend(
      "claims-uncounted", "an upload without claims, or with too many, is taken",
      hooks: BrokenHooks(before: { mock, call in
        guard let upload = call.request.upload, !(1...100).contains(upload.claims.count) else { return nil }
        return try all(.pending, of: upload, mock)
      })),
  ]
}
