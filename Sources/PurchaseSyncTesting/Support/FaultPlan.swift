public import LoopbackHTTP

/// Which requests go wrong, and how. A value: the server that uses it counts occurrences in its own copy.
public struct FaultPlan: Sendable {
  /// One fault and the requests that it strikes.
  public struct Rule: Sendable {
    /// The method that has to match; nil for every method.
    public var method: String?
    /// How the path has to begin, such as `/v1/receipts`.
    public var pathPrefix: String
    /// The first matching request that is struck; the first of all is 1.
    public var from: Int
    /// How many matching requests in a row are struck; nil for all that follow.
    public var count: Int?
    /// What happens to them.
    public var fault: Fault

    /// Strikes `count` matching requests, beginning with the `from`-th (1 is the first).
    public init(method: String? = nil, pathPrefix: String, from: Int = 1, count: Int? = 1, fault: Fault) {
      self.method = method
      self.pathPrefix = pathPrefix
      self.from = from
      self.count = count
      self.fault = fault
    }

    func strikes(occurrence: Int) -> Bool {
      guard occurrence >= from else { return false }
      guard let count else { return true }
      // Subtracted, not added: `from + count` of a plan from outside could overflow.
      return occurrence - from < count
    }
  }

  /// The rules in order of precedence. Each counts the requests that match it, struck or not.
  public let rules: [Rule]
  private var occurrences: [Int]

  /// A plan of rules; where several strike the same request, the first wins.
  public init(_ rules: [Rule]) {
    self.rules = rules
    occurrences = Array(repeating: 0, count: rules.count)
  }

  /// Counts one request and tells what is to go wrong with it, or nil.
  public mutating func next(method: String, path: String) -> Fault? {
    var struck: Fault?
    for (index, rule) in rules.enumerated() {
      guard rule.method == nil || rule.method == method, path.hasPrefix(rule.pathPrefix) else { continue }
      occurrences[index] += 1
      if struck == nil, rule.strikes(occurrence: occurrences[index]) { struck = rule.fault }
    }
    return struck
  }
}
