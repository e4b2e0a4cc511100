public import PurchaseQueue
public import PurchaseSync

/// A verdict as it was sent, recorded for the checks of the tests.
public struct RecordedVerdict: Sendable, Hashable, Codable {
  /// The verified environment; the claim's if nothing was verified.
  public var environment: String
  /// The claimed transaction id.
  public var transactionID: String
  /// The answer.
  public var verdict: Verdict
  /// Whose purchase it is, as the device learned; nil if the verdict settles nothing.
  public var owner: PurchaseOwner?
  /// The bound order.
  public var orderNumber: String?
  /// The reason of a rejection.
  public var reason: String?
  /// Who asked.
  public var uploader: Uploader
  /// When.
  public var at: Timestamp
  /// The store's status; nil without one.
  public var storeStatus: Int?
}
