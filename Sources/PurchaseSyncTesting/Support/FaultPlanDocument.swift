import LoopbackHTTP

/// A fault plan as people write it, in JSON: what `serve --faults FILE` and `PUT /admin/faults` take.
///
/// ```json
/// {"rules": [
///   {"path": "/v1/receipts", "fault": "respond", "status": 503, "retryAfter": 5, "count": 3},
///   {"path": "/v1/receipts", "method": "POST", "from": 4, "fault": "dropAfterCommit"},
///   {"path": "/v1", "fault": "dribble", "bytes": 10, "milliseconds": 50, "count": null}
/// ]}
/// ```
///
/// | fault | what it uses | what happens |
/// | --- | --- | --- |
/// | `dropBeforeCommit` | | the connection is closed, nothing is committed |
/// | `dropAfterCommit` | | it is committed, the answer is lost |
/// | `reset` | | it is committed, the connection is reset |
/// | `truncate` | `bytes` | it is committed, the body ends after so many bytes |
/// | `stall` | `milliseconds` | it is committed, and nothing is said for so long |
/// | `delay` | `milliseconds` | it is answered later |
/// | `dribble` | `bytes`, `milliseconds` | the answer comes in pieces of so many bytes, with a pause after each |
/// | `garbage` | `body` | these bytes instead of an HTTP answer |
/// | `wrongLength` | `bytes` | the answer's Content-Length is wrong by so many |
/// | `deliverTwice` | | it is handled twice |
/// | `respond` | `status`, `retryAfter`, `body` | this answer, nothing is committed; `retryAfter` in seconds |
public struct FaultPlanDocument: Codable, Sendable, Hashable {
  /// The rules in order of precedence.
  public var rules: [Rule]

  /// One rule.
  public struct Rule: Codable, Sendable, Hashable {
    /// How the path has to begin.
    public var path: String
    /// The method that has to match; absent: every method.
    public var method: String?
    /// What the body has to hold.
    public var bodyContains: String?
    /// The first request that is struck, of those that match; absent: 1.
    public var from: Int?
    /// How many in a row; null: all that follow; absent: 1.
    public var count: Int?
    /// A word of the table.
    public var fault: String
    /// See the table.
    public var milliseconds: Int?
    /// See the table.
    public var bytes: Int?
    /// See the table; 503 if absent.
    public var status: Int?
    /// See the table.
    public var retryAfter: Int?
    /// See the table.
    public var body: String?

    /// A rule; `count` nil: all that follow.
    public init(
      path: String, method: String? = nil, bodyContains: String? = nil, from: Int? = nil, count: Int? = 1,
      fault: String, milliseconds: Int? = nil, bytes: Int? = nil, status: Int? = nil, retryAfter: Int? = nil,
      body: String? = nil
    ) {
      (self.path, self.method, self.bodyContains, self.from, self.count) = (
        path, method, bodyContains, from, count
      )
      (self.fault, self.milliseconds, self.bytes) = (fault, milliseconds, bytes)
      (self.status, self.retryAfter, self.body) = (status, retryAfter, body)
    }
  }

  /// A plan.
  public init(rules: [Rule]) { self.rules = rules }
}

extension FaultPlanDocument.Rule {
  private enum Key: String, CodingKey, CaseIterable {
    case path, method, bodyContains, from, count, fault, milliseconds, bytes, status, retryAfter, body
  }

  /// Refuses keys that it does not know: a fault that does not happen because of a slip teaches nothing.
  public init(from decoder: any Decoder) throws {
    let written = try decoder.container(keyedBy: AnyKey.self)
    for key in written.allKeys where Key(rawValue: key.stringValue) == nil {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: written,
        debugDescription: "no rule has this; known are "
          + Key.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let container = try decoder.container(keyedBy: Key.self)
    path = try container.decode(String.self, forKey: .path)
    method = try container.decodeIfPresent(String.self, forKey: .method)
    bodyContains = try container.decodeIfPresent(String.self, forKey: .bodyContains)
    from = try container.decodeIfPresent(Int.self, forKey: .from)
    // Absent and null differ: once, and for ever.
    count = container.contains(.count) ? try container.decodeIfPresent(Int.self, forKey: .count) : 1
    fault = try container.decode(String.self, forKey: .fault)
    milliseconds = try container.decodeIfPresent(Int.self, forKey: .milliseconds)
    bytes = try container.decodeIfPresent(Int.self, forKey: .bytes)
    status = try container.decodeIfPresent(Int.self, forKey: .status)
    retryAfter = try container.decodeIfPresent(Int.self, forKey: .retryAfter)
    body = try container.decodeIfPresent(String.self, forKey: .body)
    guard made != nil else {
      throw DecodingError.dataCorruptedError(
        forKey: .fault, in: container,
        debugDescription: "there is no such fault; known are " + Self.words.joined(separator: ", "))
    }
  }

  /// With `count` also where it is null.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(path, forKey: .path)
    try container.encodeIfPresent(method, forKey: .method)
    try container.encodeIfPresent(bodyContains, forKey: .bodyContains)
    try container.encodeIfPresent(from, forKey: .from)
    try container.encode(count, forKey: .count)
    try container.encode(fault, forKey: .fault)
    try container.encodeIfPresent(milliseconds, forKey: .milliseconds)
    try container.encodeIfPresent(bytes, forKey: .bytes)
    try container.encodeIfPresent(status, forKey: .status)
    try container.encodeIfPresent(retryAfter, forKey: .retryAfter)
    try container.encodeIfPresent(body, forKey: .body)
  }

  static let words = [
    "dropBeforeCommit", "dropAfterCommit", "reset", "truncate", "stall", "delay", "dribble", "garbage",
    "wrongLength", "deliverTwice", "respond",
  ]

  /// Nil for a word that is not in the table.
  var made: Fault? {
    switch fault {
    case "dropBeforeCommit": .dropBeforeCommit
    case "dropAfterCommit": .dropAfterCommit
    case "reset": .reset
    case "truncate": .truncate(bytes: bytes ?? 0)
    case "stall": .stall(milliseconds: milliseconds ?? 30_000)
    case "delay": .delay(milliseconds: milliseconds ?? 1_000)
    case "dribble": .dribble(bytes: bytes ?? 1, milliseconds: milliseconds ?? 10)
    case "garbage": .garbage(Array((body ?? "<html>not the backend</html>").utf8))
    case "wrongLength": .wrongLength(by: bytes ?? 10)
    case "deliverTwice": .deliverTwice
    case "respond": .respond(response)
    default: nil
    }
  }

  private var response: HTTPResponse {
    let status = status ?? 503
    var response = HTTPProblem(status: status, type: "planned", title: "Planned fault").response
    if let body {
      response.body = Array(body.utf8)
      response.headers["Content-Type"] = body.hasPrefix("<") ? "text/html" : "text/plain"
    }
    if let retryAfter { response.headers["Retry-After"] = "\(retryAfter)" }
    return response
  }
}

extension Fault {
  /// Its word in the table of `FaultPlanDocument`.
  var word: String {
    switch self {
    case .dropBeforeCommit: "dropBeforeCommit"
    case .dropAfterCommit: "dropAfterCommit"
    case .reset: "reset"
    case .truncate: "truncate"
    case .stall: "stall"
    case .delay: "delay"
    case .dribble: "dribble"
    case .garbage: "garbage"
    case .wrongLength: "wrongLength"
    case .deliverTwice: "deliverTwice"
    case .respond(let response): "respond \(response.status)"
    }
  }
}

extension FaultPlan {
  /// From a document; every word in it is known.
  public init(_ document: FaultPlanDocument) {
    self.init(
      document.rules.compactMap { rule in
        rule.made.map {
          Rule(
            method: rule.method, pathPrefix: rule.path, bodyContains: rule.bodyContains, from: rule.from ?? 1,
            count: rule.count, fault: $0)
        }
      })
  }
}

private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { return nil }
}
