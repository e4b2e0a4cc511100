import LoopbackHTTP
import PurchaseSync

/// Plans with one fault. `requests` is how many requests are struck; nil for all that follow.
extension FaultPlan {
  private static let uploadPath = MockState.uploadPath
  private static let finishPath = "/store/finish"

  private static func rule(_ path: String, from: Int = 1, count: Int? = 1, _ fault: Fault) -> FaultPlan {
    FaultPlan([Rule(path: path, from: from, count: count, fault: fault)])
  }

  /// No faults.
  public static var none: FaultPlan { FaultPlan([]) }

  /// The first requests to paths with this beginning are answered 503, and nothing is committed.
  public static func outage(path: String, requests: Int) -> FaultPlan {
    rule(path, count: requests, .planned(status: 503))
  }

  /// The request with this number (the first is 1) is committed, and its reply is lost.
  public static func replyLost(path: String, occurrence: Int) -> FaultPlan {
    rule(path, from: occurrence, .dropAfterCommit)
  }

  /// The request with this number (the first is 1) is lost before anything is committed.
  public static func requestLost(path: String, occurrence: Int) -> FaultPlan {
    rule(path, from: occurrence, .dropBeforeCommit)
  }

  /// A captive portal answers every call of the backend with its HTML page, with status 200 or 403. Nothing is
  /// committed.
  public static func captivePortal(
    status: Int = 200, requests: Int? = nil, path: String = "/v1"
  ) -> FaultPlan {
    let page = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Please sign in.</body></html>"
    return rule(path, count: requests, .planned(status: status, body: page))
  }

  /// A man in the middle answers the next uploads in the backend's place: this transaction is granted. The backend gets
  /// none of them.
  public static func forgedVerdict(
    transactionID: String, environment: String = "Production", requests: Int? = 1
  ) -> FaultPlan {
    rule(
      uploadPath, count: requests,
      .planned(status: 200, body: forgedReply(transactionID: transactionID, environment: environment)))
  }

  /// The answer of such a man: `granted`, and an epoch of its own.
  package static func forgedReply(transactionID: String, environment: String = "Production") -> String {
    """
    {"ledgerEpoch":"forged","verdicts":[{"environment":"\(environment)","transactionID":"\(transactionID)",\
    "verdict":"granted"}]}
    """
  }

  /// Requests are refused with `Retry-After`; nothing is committed.
  public static func refusal(
    status: Int = 503, retryAfter: RetryAfter?, requests: Int? = 1, path: String = "/v1/receipts"
  ) -> FaultPlan {
    rule(path, count: requests, .planned(status: status, retryAfter: retryAfter?.value))
  }

  /// Every answer redirects the client to the same address.
  public static func endlessRedirect(
    status: Int = 302, requests: Int? = nil, path: String = "/v1/receipts"
  ) -> FaultPlan {
    rule(path, count: requests, .respond(HTTPResponse(status: status, headers: ["Location": path])))
  }

  /// An answer of status 200 with this many bytes that are not JSON; nothing is committed.
  public static func hugeBody(bytes: Int, requests: Int? = 1, path: String = "/v1/receipts") -> FaultPlan {
    let body = Array(repeating: UInt8(ascii: " "), count: max(0, bytes))
    let response = HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: body)
    return rule(path, count: requests, .respond(response))
  }

  /// Every upload with a claim of this transaction fails, for ever. The id is searched in the body, as JSON without
  /// spaces.
  public static func poison(transactionID: String, status: Int = 500) -> FaultPlan {
    FaultPlan([
      Rule(
        path: uploadPath, bodyContains: "\"transactionID\":\"" + transactionID + "\"", count: nil,
        fault: .planned(status: status))
    ])
  }

  /// Uploads are judged and committed, and their answers changed, beginning with the `from`-th.
  public static func oddReply(
    _ distortion: ReplyDistortion, from: Int = 1, requests: Int? = 1
  ) -> FaultPlan {
    FaultPlan([], oddReplies: [OddReply(distortion: distortion, from: from, count: requests)])
  }

  /// The first calls of finish fail; the transactions stay unfinished.
  public static func finishFails(times: Int) -> FaultPlan { outage(path: finishPath, requests: times) }

  /// The first calls of finish finish their transactions, and hang for this time.
  public static func finishHangs(times: Int, for time: Duration) -> FaultPlan {
    rule(finishPath, count: times, .stall(milliseconds: Int(clamping: time.inMilliseconds)))
  }

  /// The call of finish with this number (the first is 1) works, and its answer is lost.
  public static func finishAnswerLost(occurrence: Int) -> FaultPlan {
    replyLost(path: finishPath, occurrence: occurrence)
  }

  /// A plan drawn from a seed: each of the first `requests` requests to each path is struck with this chance.
  ///
  /// The same arguments give the same plan. Every fault ends, so that a client that retries succeeds. `chance` is
  /// clamped to 0…1; stalls and delays are at most 50 ms.
  public static func random(seed: UInt64, paths: [String], requests: Int, chance: Double) -> FaultPlan {
    var generator = SplitMix64(seed: seed)
    var rules: [Rule] = []
    for path in paths {
      for occurrence in 1...max(1, requests) {
        // Drawn for every request, so that another chance does not change the other draws.
        let draw = Double.random(in: 0..<1, using: &generator)
        let fault = Fault.drawn(using: &generator)
        if draw < chance { rules.append(Rule(path: path, from: occurrence, fault: fault)) }
      }
    }
    return FaultPlan(rules)
  }
}

extension Fault {
  fileprivate static func drawn(using generator: inout SplitMix64) -> Fault {
    let kind = Int.random(in: 0..<8, using: &generator)
    let amount = Int.random(in: 1...50, using: &generator)
    return switch kind {
    case 0: .dropBeforeCommit
    case 1: .dropAfterCommit
    case 2: .reset
    case 3: .truncate(bytes: amount)
    case 4: .delay(milliseconds: amount)
    case 5: .stall(milliseconds: amount)
    case 6: .garbage(Array("<html>portal \(amount)</html>".utf8))
    default: .planned(status: 503)
    }
  }
}
