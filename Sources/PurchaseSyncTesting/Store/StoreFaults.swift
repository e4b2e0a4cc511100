public import AppStoreReceipts

/// What the model of the store does wrong. A finish that fails, hangs or loses its answer is a `FaultPlan` of the path
/// `/store/finish`.
public struct StoreFaults: Sendable, Hashable {
  /// How many of the next purchases the app receipt does not hold at first.
  public var lackedPurchases = 0
  /// For how many readings it does not hold each of them; nil: until it is refreshed.
  public var lackingReadings: Int? = 1
  /// How many of the next refreshes fail. They prompt all the same.
  public var failingRefreshes = 0
  /// A refresh so many milliseconds after the last one prompts and changes nothing: the store throttles.
  public var refreshIntervalMilliseconds: Int64 = 0
  /// How often each transaction stands in a listing.
  public var listingCopies = 1
  /// Whether finishing again answers `notListed`, as an adapter does that looks into the store's present list.
  public var forgetsFinished = false
  /// What `verifyReceipt` answers to the next requests, whatever they hold; in this order, then as it should.
  public var verifyReceiptAnswers: [ScriptedAnswer] = []

  /// Nothing goes wrong.
  public init() {}
}

/// An answer of `verifyReceipt` that has nothing to do with the request: 21002, 21005, 21009, 21100 to 21199.
public struct ScriptedAnswer: Sendable, Hashable {
  /// The status.
  public var status: ReceiptStatus
  /// Whether asking again helps, as the store puts it; nil: it says nothing.
  public var isRetryable: Bool?
  /// Whether that is spelled `is-retryable`, as in older answers, and not `is_retryable`.
  public var isHyphenated: Bool

  /// An answer.
  public init(_ status: ReceiptStatus, isRetryable: Bool? = nil, isHyphenated: Bool = false) {
    self.status = status
    self.isRetryable = isRetryable
    self.isHyphenated = isHyphenated
  }

  var json: JSONValue {
    var members: [String: JSONValue] = ["status": .integer(Int64(status.rawValue))]
    if let isRetryable { members[isHyphenated ? "is-retryable" : "is_retryable"] = .bool(isRetryable) }
    return .object(members)
  }
}
