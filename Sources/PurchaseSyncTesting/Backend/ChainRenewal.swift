public import AppStoreReceipts

/// What identifies a subscription: environment and original transaction id.
public struct ChainKey: Sendable, Hashable, Comparable {
  /// The verified environment.
  public var environment: StoreEnvironment
  /// The first transaction's id.
  public var originalTransactionID: String

  /// A subscription's key.
  public init(environment: StoreEnvironment, originalTransactionID: String) {
    self.environment = environment
    self.originalTransactionID = originalTransactionID
  }

  init(_ transaction: VerifiedTransaction) {
    self.init(
      environment: transaction.environment, originalTransactionID: transaction.originalTransactionID)
  }

  /// By environment, then by id, as text.
  public static func < (left: ChainKey, right: ChainKey) -> Bool {
    (left.environment.rawValue, left.originalTransactionID)
      < (right.environment.rawValue, right.originalTransactionID)
  }
}

/// What the store says of a subscription's next renewal (R2.6, R3.4).
public struct ChainRenewal: Sendable, Hashable {
  /// Which subscription.
  public var chain: ChainKey
  /// What it says; `asOf` is `toldAt`.
  public var renewal: SubscriptionRenewal
  /// When it said so, milliseconds since 1970: of two tellings the later is right.
  public var toldAt: Int64

  /// What is said of one subscription.
  public init(chain: ChainKey, renewal: SubscriptionRenewal, toldAt: Int64) {
    self.chain = chain
    self.renewal = renewal
    self.renewal.asOf = toldAt
    self.toldAt = toldAt
  }

  /// Whether this replaces the other: told later or, at the same moment, larger in an order that means nothing, so that
  /// the order of arrival decides nothing.
  func supersedes(_ other: ChainRenewal) -> Bool {
    toldAt != other.toldAt ? toldAt > other.toldAt : other.rank.lexicographicallyPrecedes(rank)
  }

  private var rank: [String] {
    [
      renewal.willAutoRenew.map { $0 ? "0" : "1" }, renewal.isInBillingRetry.map { $0 ? "1" : "0" },
      renewal.autoRenewProductID, renewal.productID, renewal.expirationIntent.map { "\($0.rawValue)" },
      renewal.gracePeriodExpiresDate.map { "\($0)" }, renewal.priceIncreaseStatus.map { "\($0.rawValue)" },
    ].map { $0 ?? "" }
  }
}
