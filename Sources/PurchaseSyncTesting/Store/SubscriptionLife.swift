public import AppStoreReceipts
public import PurchaseQueue

/// The life of one subscription: its periods, what the customer wants next, and where the store stands with charging.
///
/// A pure value. Time passes only in ``elapse(transactionID:terms:)``, one step at a time, so that a store with many
/// lives can take their steps in the order of time. It decides; writing transactions is the store's.
public struct SubscriptionLife: Sendable, Hashable, Codable {
  /// One paid, or free, period.
  public struct Period: Sendable, Hashable, Codable {
    /// The transaction that paid it.
    public var transactionID: String
    /// What it gives.
    public var productID: String
    /// The first moment.
    public var startsAt: Timestamp
    /// The first moment after it.
    public var endsAt: Timestamp
    /// Whether it is a free trial.
    public var isTrial = false
    /// Thousandths of the currency's unit; nil for unknown.
    public var price: Int64?
    /// When it was refunded, if it was.
    public var refundedAt: Timestamp?
    /// When another plan took its place before its end, if one did.
    public var replacedAt: Timestamp?
  }

  /// Where the store stands.
  public enum Phase: Sendable, Hashable, Codable {
    /// The last period runs. Next: active again, gracePeriod, billingRetry, expired, refunded.
    case active
    /// The charge failed, and access goes on until then. Next: active, billingRetry, expired, refunded.
    case gracePeriod(until: Timestamp)
    /// The charge failed, and the store tries until then. Next: active, expired.
    case billingRetry(until: Timestamp)
    /// Over, and why. Next: active, by resubscribing.
    case expired(ExpirationIntent)
    /// The last period was refunded while it ran. Next: active, by resubscribing or a refund taken back.
    case refunded
  }

  /// What the customer was told of a higher price.
  public enum PriceIncrease: Sendable, Hashable, Codable {
    /// Asked, and not answered: without consent it ends with the period.
    case pending(Int64)
    /// Charged from the next renewal on.
    case consented(Int64)
    /// It ends with the period.
    case declined(Int64)
  }

  /// What came of a step.
  public enum Step: Sendable, Hashable {
    /// A period was added; the transaction id that was offered is used.
    case renewed
    /// The charge failed; access goes on for a while or not.
    case chargeFailed(hasGrace: Bool)
    /// The grace period is over; the store goes on trying.
    case graceEnded
    /// It is over.
    case expired(ExpirationIntent)
  }

  /// What the store knows at a renewal and the life does not.
  public struct RenewalTerms: Sendable, Hashable {
    /// Whether the store account can be charged.
    public var isChargeable: Bool
    /// Whether the next product is still for sale.
    public var isForSale: Bool
    /// After how many renewals in a row it ends; nil for never.
    public var renewalLimit: Int?

    /// Terms; without arguments, everything goes well.
    public init(isChargeable: Bool = true, isForSale: Bool = true, renewalLimit: Int? = nil) {
      self.isChargeable = isChargeable
      self.isForSale = isForSale
      self.renewalLimit = renewalLimit
    }
  }

  /// The Apple ID that pays.
  public let storeAccount: String
  /// The plan of the last period.
  public internal(set) var plan: SubscriptionPlan
  /// The plan of the next one.
  public internal(set) var nextPlan: SubscriptionPlan
  /// In the order of purchase; never empty.
  public internal(set) var periods: [Period]
  /// Where the store stands.
  public internal(set) var phase = Phase.active
  /// Whether the customer wants it to renew.
  public internal(set) var willRenew = true
  /// What the customer was told of a higher price.
  public internal(set) var priceIncrease: PriceIncrease?
  /// How often it was renewed since somebody bought.
  public internal(set) var renewalCount = 0

  /// The first period, from now on. `isTrial` makes it the plan's free trial, if it has one.
  public init(
    storeAccount: String, plan: SubscriptionPlan, isTrial: Bool = false, transactionID: String,
    now: Timestamp
  ) {
    self.storeAccount = storeAccount
    self.plan = plan
    nextPlan = plan
    let trial = isTrial ? plan.trialMilliseconds : nil
    periods = [
      Period(
        transactionID: transactionID, productID: plan.productID, startsAt: now,
        endsAt: now.adding(milliseconds: trial ?? plan.periodMilliseconds), isTrial: trial != nil,
        price: trial == nil ? plan.price : 0)
    ]
  }

  /// The subscription's name for ever.
  public var originalTransactionID: String { periods[0].transactionID }

  /// The newest period.
  public var last: Period {
    get { periods[periods.count - 1] }
    set { periods[periods.count - 1] = newValue }
  }

  /// When the next step is due; nil if nothing happens by itself any more.
  public var dueAt: Timestamp? {
    switch phase {
    case .active: last.endsAt
    case .gracePeriod(let until), .billingRetry(let until): until
    case .expired, .refunded: nil
    }
  }

  /// Whether the customer has the product: paid, or in a grace period.
  public var isEntitled: Bool {
    switch phase {
    case .active, .gracePeriod: true
    case .billingRetry, .expired, .refunded: false
    }
  }

  /// The store's summary, as notifications have it (receipt-facts.md d.2).
  public var state: SubscriptionState {
    switch phase {
    case .active: .active
    case .gracePeriod: .gracePeriod
    case .billingRetry: .billingRetry
    case .expired: .expired
    case .refunded: .revoked
    }
  }

  /// What a period of the next plan costs; nil for unknown.
  public var nextPrice: Int64? {
    switch priceIncrease {
    case .pending(let price), .consented(let price), .declined(let price): price
    case nil: nextPlan.price
    }
  }
}
