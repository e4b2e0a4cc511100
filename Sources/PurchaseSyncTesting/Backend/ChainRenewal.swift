package import AppStoreDocuments
package import AppStoreReceipts

/// What identifies a subscription: environment and original transaction id.
package struct ChainKey: Sendable, Hashable, Comparable {
  package var environment: StoreEnvironment
  package var originalTransactionID: String

  /// By environment, then by id, as text.
  package static func < (left: ChainKey, right: ChainKey) -> Bool {
    (left.environment.rawValue, left.originalTransactionID)
      < (right.environment.rawValue, right.originalTransactionID)
  }
}

extension ChainKey {
  package init(_ transaction: VerifiedTransaction) {
    self.init(
      environment: transaction.environment, originalTransactionID: transaction.originalTransactionID)
  }
}

/// The store's statement about a subscription's next renewal (R2.6, R3.4).
package struct ChainRenewal: Sendable, Hashable {
  package var chain: ChainKey
  /// The statement; its `asOf` is `toldAt`.
  package var renewal: SubscriptionRenewal
  /// The time of the statement, milliseconds since 1970: the later of two statements counts.
  package var toldAt: Int64

  package init(chain: ChainKey, renewal: SubscriptionRenewal, toldAt: Int64) {
    self.chain = chain
    self.renewal = renewal
    self.renewal.asOf = toldAt
    self.toldAt = toldAt
  }

  /// The end of the grace after a failed charge; nil without one.
  package var graceEndsAt: Int64? {
    get { renewal.gracePeriodExpiresDate }
    set { renewal.gracePeriodExpiresDate = newValue }
  }

  /// Whether this statement replaces the other: it is later or, at the same time, larger in an arbitrary order, so that
  /// the order of arrival has no effect.
  func supersedes(_ other: ChainRenewal) -> Bool {
    toldAt != other.toldAt ? toldAt > other.toldAt : other.rank.lexicographicallyPrecedes(rank)
  }

  private var rank: [String] {
    [
      renewal.willAutoRenew.map { $0 ? "0" : "1" }, renewal.isInBillingRetry.map { $0 ? "1" : "0" },
      renewal.autoRenewProductID, renewal.productID, renewal.expirationIntent.map { "\($0.rawValue)" },
      renewal.willUnbundle.map { $0 ? "1" : "0" },
      renewal.gracePeriodExpiresDate.map { "\($0)" }, renewal.priceIncreaseStatus.map { "\($0.rawValue)" },
      renewal.seats.map { "\($0)" },
    ].map { $0 ?? "" }
  }
}
