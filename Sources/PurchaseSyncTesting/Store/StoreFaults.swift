public import AppStoreDocuments
import AppStoreReceipts

/// The faults of the store's model. A `FaultPlan` for the path `/store/finish` makes calls of finish fail, hang or lose
/// their answer.
public struct StoreFaults: Sendable, Hashable, Codable {
  /// How many of the next purchases the app receipt lacks at first.
  public var lackedPurchases = 0
  /// For how many readings the receipt lacks each of them; nil until a refresh.
  public var lackingReadings: Int? = 1
  /// How many of the next refreshes fail. They still prompt for a password.
  public var failingRefreshes = 0
  /// The shortest time between refreshes: an earlier refresh prompts and changes nothing, because the store throttles.
  public var refreshInterval = Duration.zero
  /// How many times a listing contains each transaction.
  public var listingCopies = 1
  /// Whether a second finish answers `notListed`, as with an adapter that searches the present list.
  public var forgetsFinished = false
  /// Whether the payment of a consumable whose last transaction is not finished returns that transaction, the payment of a
  /// subscription that renews its present one, and the payment of one that is over its last one, while that is not finished
  /// (purchases-ios#6374). StoreKit 2 does, and charges nothing.
  public var repeatsTransactions = false
  /// Whether listings still contain finished transactions, as some versions of the system do
  /// (cordova-plugin-purchase#1714).
  public var listsFinished = false
  /// The answers of `verifyReceipt` to the next requests, in this order. Later requests are answered correctly.
  public var verifyReceiptAnswers: [ScriptedAnswer] = []
  /// The defect of everything that the store signs from now on: transactions, renewal infos, notifications and app
  /// receipts. `verifyReceipt` refuses such a receipt as well. Nil for none.
  public var brokenProofs: BrokenProof?

  /// No faults.
  public init() {}
}

/// An answer of `verifyReceipt` that does not depend on the request: 21002, 21005, 21009, 21100 to 21199.
public struct ScriptedAnswer: Sendable, Hashable, Codable {
  /// The status.
  public var status: ReceiptStatus
  /// The store's flag for retries; nil without the flag.
  public var isRetryable: Bool?
  /// Whether the flag is spelled `is-retryable`, as in older answers, and not `is_retryable`.
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
