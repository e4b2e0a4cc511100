package import LoopbackHTTP

/// The requests that fail, and how. A value: the server that uses it counts occurrences in its own copy.
///
/// Plans are made in code by the functions below, or read from JSON, as `serve --faults FILE` and `PUT /admin/faults`
/// do:
///
/// ```json
/// {"rules": [
///   {"path": "/v1/receipts", "fault": "respond", "status": 503, "retryAfter": 5, "count": 3},
///   {"path": "/v1/receipts", "method": "POST", "from": 4, "fault": "dropAfterCommit"},
///   {"path": "/v1", "fault": "dribble", "bytes": 10, "milliseconds": 50, "count": null}
/// ]}
/// ```
///
/// `path` is the beginning of the path, `method` and `bodyContains` are optional conditions. `from` is the first matching
/// request that fails (default 1), `count` how many in a row fail (default 1; null for all that follow).
///
/// | fault | parameters | effect |
/// | --- | --- | --- |
/// | `dropBeforeCommit` | | closes the connection, commits nothing |
/// | `dropAfterCommit` | | commits, and the answer is lost |
/// | `reset` | | commits, and resets the connection |
/// | `truncate` | `bytes` | commits, and ends the body after this many bytes |
/// | `stall` | `milliseconds` | commits, and sends nothing for this time |
/// | `delay` | `milliseconds` | answers after this time |
/// | `dribble` | `bytes`, `milliseconds` | sends the answer in pieces of this size, with a pause after each |
/// | `garbage` | `body` | sends these bytes in place of an HTTP answer |
/// | `wrongLength` | `bytes` | the Content-Length of the answer is wrong by this number |
/// | `deliverTwice` | | handles the request twice |
/// | `respond` | `status`, `retryAfter`, `body` | sends this answer, commits nothing; `retryAfter` in seconds. A body that begins with `{` is sent as JSON |
public struct FaultPlan: Sendable {
  /// One fault and the requests that it strikes.
  package struct Rule: Sendable, Hashable {
    /// The method that has to match; nil for every method.
    var method: String?
    /// The beginning of the path, such as `/v1/receipts`.
    package var path: String
    /// A part of the body; nil for every body.
    var bodyContains: String?
    /// The first matching request that is struck; the first of all is 1.
    var from: Int
    /// How many matching requests in a row are struck; nil for all that follow.
    package var count: Int?
    package var fault: Fault

    /// Strikes `count` matching requests, beginning with the `from`-th.
    package init(
      method: String? = nil, path: String, bodyContains: String? = nil, from: Int = 1,
      count: Int? = 1, fault: Fault
    ) {
      self.method = method
      self.path = path
      self.bodyContains = bodyContains
      self.from = from
      self.count = count
      self.fault = fault
    }

    func matches(method: String, path: String, body: [UInt8]) -> Bool {
      guard self.method == nil || self.method == method, path.hasPrefix(self.path) else { return false }
      guard let bodyContains else { return true }
      return String(decoding: body, as: UTF8.self).contains(bodyContains)
    }
  }

  /// Uploads that the backend judges and commits, and whose answer is changed.
  struct OddReply: Sendable, Hashable {
    var distortion: ReplyDistortion
    /// The first upload whose answer is changed; the first of all is 1.
    var from: Int
    /// How many in a row; nil for all that follow.
    var count: Int?
  }

  /// The rules in order of precedence. Each counts the requests that match it, struck or not.
  package let rules: [Rule]
  /// The changes of the answers to uploads. All that strike an answer change it, in their order.
  let oddReplies: [OddReply]
  private var occurrences: [Int]

  /// Whether an answer of the plan has a Retry-After.
  package var asksToWait: Bool {
    rules.contains { rule in
      guard case .respond(let response) = rule.fault else { return false }
      return response.headers["Retry-After"] != nil
    }
  }
  private var uploads = 0

  /// A plan of rules; if several strike the same request, the first wins.
  package init(_ rules: [Rule]) { self.init(rules, oddReplies: []) }

  init(_ rules: [Rule], oddReplies: [OddReply]) {
    self.rules = rules
    self.oddReplies = oddReplies
    occurrences = Array(repeating: 0, count: rules.count)
  }

  /// Both plans; if both strike the same request, this plan's rules win.
  public func merging(_ other: FaultPlan) -> FaultPlan {
    FaultPlan(rules + other.rules, oddReplies: oddReplies + other.oddReplies)
  }

  /// Counts one request and returns its fault, or nil.
  package mutating func next(method: String, path: String, body: [UInt8] = []) -> Fault? {
    var struck: Fault?
    for (index, rule) in rules.enumerated() where rule.matches(method: method, path: path, body: body) {
      occurrences[index] += 1
      let isStruck = Self.strikes(occurrences[index], from: rule.from, count: rule.count)
      if struck == nil, isStruck { struck = rule.fault }
    }
    return struck
  }

  /// Counts one answer to an upload and returns its changes.
  mutating func nextReply() -> [ReplyDistortion] {
    uploads += 1
    return oddReplies.filter { Self.strikes(uploads, from: $0.from, count: $0.count) }.map(\.distortion)
  }

  private static func strikes(_ occurrence: Int, from: Int, count: Int?) -> Bool {
    guard occurrence >= from else { return false }
    guard let count else { return true }
    // Subtracts, because `from + count` of a plan from outside could overflow.
    let (ahead, overflow) = occurrence.subtractingReportingOverflow(from)
    return !overflow && ahead < count
  }
}

extension FaultPlan: Hashable {
  /// Whether the plans have the same rules; counted occurrences do not matter.
  public static func == (left: FaultPlan, right: FaultPlan) -> Bool {
    left.rules == right.rules && left.oddReplies == right.oddReplies
  }

  /// Hashes the rules.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rules)
    hasher.combine(oddReplies)
  }
}
