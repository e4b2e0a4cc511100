/// How one subscription is at one moment. Dates are milliseconds since 1970.
///
/// Computed from ``SubscriptionFacts`` and a given time, and from nothing else: the same arguments give the
/// same answer. It is as true as the documents were: `verifyReceipt` answers from the store, or verified JWS.
public struct SubscriptionStatus: Sendable, Hashable {
  /// The subscription's name for ever.
  public var originalTransactionID: String
  /// Its group, where a document names it.
  public var groupID: String?
  /// Which store, where a document names it.
  public var environment: StoreEnvironment?
  /// Whose purchase it is.
  public var ownership: OwnershipType?
  /// What the customer has now, and why.
  public var state: State
  /// While the customer is entitled: the first moment when that ends, as far as is known. Else nil.
  public var entitledUntil: Int64?
  /// Once it is over: the first moment after it. Else nil.
  public var endedAt: Int64?
  /// The product of this period; of the last one, if it is over.
  public var productID: String
  /// The transaction that paid that period.
  public var transactionID: String
  /// The product that the store will charge next. Nil if it will not charge, or no document says.
  public var nextProductID: String?
  /// The change of product that began this period, if one did.
  public var latestChange: PlanChange?
  /// Whether this period is free; nil if no document says.
  public var isTrial: Bool?
  /// Whether this period has an introductory price; nil if no document says.
  public var isInIntroductoryOffer: Bool?
  /// Whether it will renew; nil if no document says.
  public var willAutoRenew: Bool?
  /// Why it ended, as the store put it.
  public var expirationIntent: ExpirationIntent?
  /// What the customer said to a higher price.
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// The transactions that were refunded or revoked by now, this period's or earlier ones (R3.8), by time.
  public var revokedTransactionIDs: [String]

  /// What the customer has.
  public enum State: Sendable, Hashable {
    /// Paid, or tried for free: entitled.
    case active
    /// The last charge failed, and access goes on: entitled.
    case gracePeriod
    /// The last charge failed, and the store goes on trying, up to 60 days. Not entitled.
    case billingRetry
    /// Over, for this reason if one is known. Not entitled.
    case lapsed(ExpirationIntent?)
    /// The last period was refunded. Not entitled.
    case refunded
    /// The purchase was a family member's, and is shared no longer. Not entitled.
    case revoked
    /// Another plan replaced it, of which nothing is known here. Not entitled by this one.
    case upgraded
  }

  /// Whether the customer has the product now.
  public var isEntitled: Bool { entitledUntil != nil }

  /// Whether another product comes with the next period (R5.6: `auto_renew_product_id` is not `product_id`).
  public var isChangePending: Bool { nextProductID.map { $0 != productID } ?? false }
}

/// A change of product within a subscription that has taken effect.
public struct PlanChange: Sendable, Hashable {
  /// The product before.
  public var previousProductID: String
  /// When the new one began, milliseconds since 1970.
  public var date: Int64?
  /// True for an upgrade, which cuts the period before short; false for a change at its end.
  public var wasAtOnce: Bool

  /// A change with all that is known of it.
  public init(previousProductID: String, date: Int64?, wasAtOnce: Bool) {
    self.previousProductID = previousProductID
    self.date = date
    self.wasAtOnce = wasAtOnce
  }
}

/// The subscriptions of one group, of which a customer has one at a time, or several through a family.
public struct SubscriptionGroupStatus: Sendable, Hashable {
  /// The group; nil for subscriptions whose documents don't name one.
  public var groupID: String?
  /// The entitled ones first, then by when they end or ended, the latest first.
  public var subscriptions: [SubscriptionStatus]

  /// The one that decides what the customer has.
  public var strongest: SubscriptionStatus? { subscriptions.first }
  /// Whether the customer has any product of the group now.
  public var isEntitled: Bool { strongest?.isEntitled ?? false }
}

extension SubscriptionStatus {
  /// Every subscription in the facts at a time, by original transaction id.
  ///
  /// A period counts until its end: its date of expiry, or earlier the moment when it was refunded or
  /// revoked, or replaced by another product. A moment before the first period answers as its first: clocks
  /// differ, and nobody who has just paid is to be turned away.
  public static func all(in facts: SubscriptionFacts, at now: Int64) -> [SubscriptionStatus] {
    let chains = Dictionary(grouping: facts.periods, by: \.originalTransactionID)
    return chains.sorted { $0.key < $1.key }.compactMap { id, periods in
      Timeline(periods: periods, renewal: facts.renewals[id]).status(at: now)
    }
  }

  /// The same, by group. Subscriptions of an unknown group are each alone.
  public static func groups(in facts: SubscriptionFacts, at now: Int64) -> [SubscriptionGroupStatus] {
    let all = all(in: facts, at: now)
    let named = Dictionary(grouping: all.filter { $0.groupID != nil }) { $0.groupID }
    let groups = named.map {
      SubscriptionGroupStatus(groupID: $0.key, subscriptions: $0.value.sorted(by: isStronger))
    }
    return groups.sorted { ($0.groupID ?? "") < ($1.groupID ?? "") }
      + all.filter { $0.groupID == nil }.map { SubscriptionGroupStatus(groupID: nil, subscriptions: [$0]) }
  }

  private static func isStronger(_ left: SubscriptionStatus, _ right: SubscriptionStatus) -> Bool {
    if left.isEntitled != right.isEntitled { return left.isEntitled }
    let (first, second) = (left.entitledUntil ?? left.endedAt, right.entitledUntil ?? right.endedAt)
    if first != second { return (first ?? .min) > (second ?? .min) }
    return left.originalTransactionID < right.originalTransactionID
  }
}
