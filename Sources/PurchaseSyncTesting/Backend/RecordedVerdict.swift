public import PurchaseQueue
public import PurchaseSync

/// A verdict as it was given, kept for the oracle: the tests' own judge of what happened.
public struct RecordedVerdict: Sendable, Hashable, Codable {
  /// The verified environment; the claim's, where nothing could be verified.
  public var environment: String
  /// The id that was claimed.
  public var transactionID: String
  /// The answer.
  public var verdict: Verdict
  /// The order it is bound to.
  public var orderNumber: String?
  /// Why, of rejections.
  public var reason: String?
  /// Who asked.
  public var uploader: Uploader
  /// When.
  public var at: Timestamp
  /// The store's own status, if it was asked and gave one.
  public var storeStatus: Int?

  /// A verdict with all of its fields.
  public init(
    environment: String, transactionID: String, verdict: Verdict, orderNumber: String?, reason: String?,
    uploader: Uploader, at: Timestamp, storeStatus: Int? = nil
  ) {
    self.environment = environment
    self.transactionID = transactionID
    self.verdict = verdict
    self.orderNumber = orderNumber
    self.reason = reason
    self.uploader = uploader
    self.at = at
    self.storeStatus = storeStatus
  }
}
