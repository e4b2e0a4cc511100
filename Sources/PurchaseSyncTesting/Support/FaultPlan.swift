public import LoopbackHTTP

/// Which requests go wrong, and how. A value: the server that uses it counts occurrences in its own copy.
public struct FaultPlan: Sendable {
  /// One fault and the requests that it strikes.
  public struct Rule: Sendable {
    /// The method that has to match; nil for every method.
    public var method: String?
    /// How the path has to begin, such as `/v1/receipts`.
    public var pathPrefix: String
    /// What the body has to hold, byte by byte; nil for every body.
    public var bodyContains: String?
    /// The first matching request that is struck; the first of all is 1.
    public var from: Int
    /// How many matching requests in a row are struck; nil for all that follow.
    public var count: Int?
    /// What happens to them.
    public var fault: Fault

    /// Strikes `count` matching requests, beginning with the `from`-th (1 is the first).
    public init(
      method: String? = nil, pathPrefix: String, bodyContains: String? = nil, from: Int = 1,
      count: Int? = 1, fault: Fault
    ) {
      self.method = method
      self.pathPrefix = pathPrefix
      self.bodyContains = bodyContains
      self.from = from
      self.count = count
      self.fault = fault
    }

    func matches(method: String, path: String, body: [UInt8]) -> Bool {
      guard self.method == nil || self.method == method, path.hasPrefix(pathPrefix) else { return false }
      guard let bodyContains else { return true }
      return String(decoding: body, as: UTF8.self).contains(bodyContains)
    }
  }

  /// Uploads that the backend judges, and commits, but answers oddly.
  public struct OddReply: Sendable, Hashable {
    /// The first upload whose answer is changed; the first of all is 1.
    public var from: Int
    /// How many in a row; nil for all that follow.
    public var count: Int?
    /// How the answer is changed.
    public var distortion: ReplyDistortion

    /// Changes the answers of `count` uploads, beginning with the `from`-th (1 is the first).
    public init(_ distortion: ReplyDistortion, from: Int = 1, count: Int? = 1) {
      self.from = from
      self.count = count
      self.distortion = distortion
    }
  }

  /// The rules in order of precedence. Each counts the requests that match it, struck or not.
  public let rules: [Rule]
  /// What happens to the backend's answers to uploads. All that strike an answer change it, in their order.
  public let oddReplies: [OddReply]
  private var occurrences: [Int]
  private var uploads = 0

  /// A plan of rules; where several strike the same request, the first wins.
  public init(_ rules: [Rule], oddReplies: [OddReply] = []) {
    self.rules = rules
    self.oddReplies = oddReplies
    occurrences = Array(repeating: 0, count: rules.count)
  }

  /// Counts one request and tells what is to go wrong with it, or nil.
  public mutating func next(method: String, path: String, body: [UInt8] = []) -> Fault? {
    var struck: Fault?
    for (index, rule) in rules.enumerated() where rule.matches(method: method, path: path, body: body) {
      occurrences[index] += 1
      let isStruck = Self.strikes(occurrences[index], from: rule.from, count: rule.count)
      if struck == nil, isStruck { struck = rule.fault }
    }
    return struck
  }

  /// Counts one answer to an upload and tells how it is to be changed.
  mutating func nextReply() -> [ReplyDistortion] {
    uploads += 1
    return oddReplies.filter { Self.strikes(uploads, from: $0.from, count: $0.count) }.map(\.distortion)
  }

  private static func strikes(_ occurrence: Int, from: Int, count: Int?) -> Bool {
    guard occurrence >= from else { return false }
    guard let count else { return true }
    // Subtracted, not added: `from + count` of a plan from outside could overflow.
    let (ahead, overflow) = occurrence.subtractingReportingOverflow(from)
    return !overflow && ahead < count
  }
}
