public import AppStoreReceipts

/// The status of one subscription at one moment. Dates are milliseconds since 1970.
///
/// Computed from ``SubscriptionFacts`` and a given time only: the same arguments give the same result. It is
/// as reliable as the documents: use answers of `verifyReceipt` from the store, or verified JWS.
public struct SubscriptionStatus: Sendable, Hashable {
  /// The first transaction of the subscription, which identifies it permanently.
  public var originalTransactionID: String
  /// The subscription group, if a document names it.
  public var groupID: String?
  /// The store environment, if a document names it.
  public var environment: StoreEnvironment?
  /// Whether the purchase is the customer's own or shared by the family.
  public var ownership: OwnershipType?
  /// The customer's access, and the reason for it.
  public var state: State
  /// If the customer is entitled: the first moment after the entitlement, as far as known. Otherwise nil.
  public var entitledUntil: Int64?
  /// If the subscription is over: the first moment after it. Otherwise nil.
  public var endedAt: Int64?
  /// The product of the current period, or of the last one if the subscription is over.
  public var productID: String
  /// The transaction that paid for that period.
  public var transactionID: String
  /// How many seats that period has: what its transactions hold together, without refunded ones. 1 of a subscription for one
  /// person, and of a member's seat.
  public var seats: Int
  /// How many seats the next period will have; nil if no document says.
  public var nextSeats: Int?
  /// The product that the store will charge next. Nil if the store will not charge, or if no document says.
  public var nextProductID: String?
  /// The change of product at the start of this period, if there was one.
  public var latestChange: PlanChange?
  /// Whether this period is free; nil if no document says.
  public var isTrial: Bool?
  /// Whether this period has an introductory price; nil if no document says.
  public var isInIntroductoryOffer: Bool?
  /// The bundle that the customer paid for; nil if the period is part of none, and if no document says.
  public var bundleProductID: String?
  /// Whether the subscription leaves its bundle at the next renewal, and renews alone; nil if no document says.
  public var willUnbundle: Bool?
  /// Whether the subscription will renew; nil if no document says.
  public var willAutoRenew: Bool?
  /// The store's reason for the end.
  public var expirationIntent: ExpirationIntent?
  /// The customer's answer to a higher price.
  public var priceIncreaseStatus: PriceIncreaseStatus?
  /// The transactions that are refunded or revoked by now, of this period or earlier ones (R3.8), by time.
  public var revokedTransactionIDs: [String]

  /// The customer's access.
  public enum State: Sendable, Hashable {
    /// Paid, or in a free trial: entitled.
    case active
    /// The last charge failed, but access continues: entitled.
    case gracePeriod
    /// The last charge failed, and the store keeps trying for up to 60 days. Not entitled.
    case billingRetry
    /// The subscription is over, for this reason if one is known. Not entitled.
    case lapsed(ExpirationIntent?)
    /// The last period was refunded. Not entitled.
    case refunded
    /// A family member's purchase that is no longer shared, or a seat that was taken back. Not entitled.
    case revoked
    /// Another plan, or a bundle, replaced it, and the facts do not contain that one. Not entitled by this one.
    case upgraded
  }

  /// Whether the customer has access now.
  public var isEntitled: Bool { entitledUntil != nil }

  /// Whether the next period has another product (R5.6: `auto_renew_product_id` is not `product_id`).
  public var isChangePending: Bool { nextProductID.map { $0 != productID } ?? false }
}

/// A change of product within a subscription that has taken effect.
public struct PlanChange: Sendable, Hashable {
  /// The product before.
  public var previousProductID: String
  /// When the new product began, in milliseconds since 1970.
  public var date: Int64?
  /// True for an upgrade, which shortens the period before it; false for a change at the end of a period.
  public var wasAtOnce: Bool

  /// Creates a change.
  package init(previousProductID: String, date: Int64?, wasAtOnce: Bool) {
    self.previousProductID = previousProductID
    self.date = date
    self.wasAtOnce = wasAtOnce
  }
}

/// The subscriptions of one group. A customer has one of them at a time, or several through a family.
public struct SubscriptionGroupStatus: Sendable, Hashable {
  /// The group; nil for subscriptions whose documents name none.
  public var groupID: String?
  /// The entitled ones first, then by their end, latest first.
  public var subscriptions: [SubscriptionStatus]

  /// The subscription that decides the customer's access.
  public var strongest: SubscriptionStatus? { subscriptions.first }
  /// Whether the customer has any product of the group now.
  public var isEntitled: Bool { strongest?.isEntitled ?? false }
}

extension SubscriptionStatus {
  /// The status of every subscription in the facts at a time, by original transaction id.
  ///
  /// A period ends at its date of expiry, or earlier if it was refunded, revoked or replaced by another
  /// product. A moment before the first period counts as its start, because clocks differ and a customer who
  /// has just paid must have access. Between two periods the customer has none: pass a right clock, and all
  /// documents, because a period that is in none of them leaves a gap too.
  public static func all(in facts: SubscriptionFacts, at now: Int64) -> [SubscriptionStatus] {
    let chains = Dictionary(grouping: facts.periods, by: \.originalTransactionID)
    return chains.sorted { $0.key < $1.key }.compactMap { id, periods in
      Timeline(periods: periods, renewal: facts.renewals[id]).status(at: now)
    }
  }

  /// The same, by group. A subscription without a known group is alone in its group.
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
