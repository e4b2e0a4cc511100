import LoopbackHTTP

/// Answers that are not the backend's, or not what its protocol promises.
extension FaultPlan {
  private static let uploads = "/v1/receipts"

  /// A captive portal: every call of the backend is answered by somebody's page, with 200 or 403. Nothing is
  /// committed. `requests` nil: until other faults are set.
  public static func captivePortal(status: Int = 200, requests: Int? = nil, path: String = "/v1") -> FaultPlan
  {
    let page = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please sign in.</body></html>"
    let response = HTTPResponse(
      status: status, headers: ["Content-Type": "text/html; charset=utf-8"], body: Array(page.utf8))
    return FaultPlan([Rule(pathPrefix: path, count: requests, fault: .respond(response))])
  }

  /// The first so many requests are refused with `Retry-After`; nothing is committed. nil: all of them.
  public static func refusal(
    status: Int = 503, retryAfter: RetryAfter?, requests: Int? = 1, path: String = "/v1/receipts"
  ) -> FaultPlan {
    var problem = HTTPProblem(status: status, type: "unavailable", title: "Planned refusal")
    problem.headers["Retry-After"] = retryAfter?.value
    return FaultPlan([Rule(pathPrefix: path, count: requests, fault: .respond(problem.response))])
  }

  /// Every answer sends the client on to the address that it asked for.
  public static func endlessRedirect(
    status: Int = 302, requests: Int? = nil, path: String = "/v1/receipts"
  ) -> FaultPlan {
    let response = HTTPResponse(status: status, headers: ["Location": path])
    return FaultPlan([Rule(pathPrefix: path, count: requests, fault: .respond(response))])
  }

  /// An answer of status 200 and so many bytes that are no JSON; nothing is committed.
  public static func hugeBody(bytes: Int, requests: Int? = 1, path: String = "/v1/receipts") -> FaultPlan {
    let body = Array(repeating: UInt8(ascii: " "), count: max(0, bytes))
    let response = HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: body)
    return FaultPlan([Rule(pathPrefix: path, count: requests, fault: .respond(response))])
  }

  /// Every upload with a claim for this transaction fails, whatever else is in it, for ever. The transaction's id is
  /// looked for in the body, as JSON without spaces.
  public static func poison(transactionID: String, status: Int = 500) -> FaultPlan {
    let problem = HTTPProblem(status: status, type: "internal", title: "Planned failure")
    let body = "\"transactionID\":\"" + transactionID + "\""
    return FaultPlan([
      Rule(pathPrefix: uploads, bodyContains: body, count: nil, fault: .respond(problem.response))
    ])
  }

  /// Uploads are judged and committed, and answered oddly. `requests` nil: all from the `from`-th on.
  public static func oddReply(
    _ distortion: ReplyDistortion, from: Int = 1, requests: Int? = 1
  ) -> FaultPlan {
    FaultPlan([], oddReplies: [OddReply(distortion, from: from, count: requests)])
  }

  // MARK: Finishing

  private static let finishing = "/store/finish"

  /// The first so many calls of finish fail; the transactions stay unfinished.
  public static func finishFails(times: Int) -> FaultPlan { outage(path: finishing, requests: times) }

  /// The first so many calls of finish hang; the transactions are finished when the call gives up.
  public static func finishHangs(times: Int, milliseconds: Int) -> FaultPlan {
    FaultPlan([Rule(pathPrefix: finishing, count: times, fault: .stall(milliseconds: milliseconds))])
  }

  /// The n-th call of finish (1 is the first) works, and its answer is lost.
  public static func finishAnswerLost(occurrence: Int) -> FaultPlan {
    replyLost(path: finishing, occurrence: occurrence)
  }
}
