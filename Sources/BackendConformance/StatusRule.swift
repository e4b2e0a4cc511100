import AppStoreReceipts

/// What one status of `verifyReceipt` means for a claim (StoreFacts a.2): a check lets the store answer it, and a planted bug
/// takes it for the opposite.
struct StatusRule: Sendable {
  let status: Int64
  /// The store's flag for retries; nil without one.
  let isRetryable: Bool?
  /// Whether the flag is spelt with a hyphen.
  let isHyphenated: Bool
  /// Whether the claim is rejected. Otherwise it waits, and is granted when the store answers rightly.
  let isFinal: Bool

  private init(_ status: Int64, isFinal: Bool, isRetryable: Bool? = nil, isHyphenated: Bool = false) {
    (self.status, self.isFinal, self.isRetryable) = (status, isFinal, isRetryable)
    self.isHyphenated = isHyphenated
  }

  static let all: [StatusRule] = [
    StatusRule(21000, isFinal: false), StatusRule(21003, isFinal: true), StatusRule(21004, isFinal: false),
    StatusRule(21005, isFinal: false),
    // Each environment points to the other one.
    StatusRule(21007, isFinal: false), StatusRule(21008, isFinal: false),
    StatusRule(21009, isFinal: false), StatusRule(21010, isFinal: true),
    StatusRule(21099, isFinal: false), StatusRule(21100, isFinal: false, isRetryable: true),
    StatusRule(21150, isFinal: true, isRetryable: false),
    StatusRule(21120, isFinal: false),
    StatusRule(21160, isFinal: true, isRetryable: false, isHyphenated: true),
    StatusRule(21199, isFinal: false, isRetryable: true),
  ]

  /// The status, and its flag if it has one.
  var words: String {
    isRetryable.map { "\(status) that is \($0 ? "" : "not ")retryable" } ?? "\(status)"
  }

  /// The answer of the store as its route takes it.
  var answer: JSONValue {
    var members: [String: JSONValue] = ["status": .integer(status)]
    members["isRetryable"] = isRetryable.map(JSONValue.bool)
    if isHyphenated { members["isHyphenated"] = true }
    return .object(members)
  }
}
