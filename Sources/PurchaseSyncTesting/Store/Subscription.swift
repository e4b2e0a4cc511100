package import AppStoreDocuments
package import PurchaseQueue

/// One subscription: its periods, the customer's next plan, and the state of charging.
///
/// A pure value. Time passes only in ``elapse(transactionID:terms:)``, one step at a time, so that a store with many
/// subscriptions can take their steps in the order of time. The store writes the transactions.
package struct Subscription: Sendable, Hashable, Codable {
  package struct Period: Sendable, Hashable, Codable {
    package var transactionID: String
    package var productID: String
    package var startsAt: Timestamp
    package var endsAt: Timestamp
    package var isTrial = false
    /// Thousandths of the currency's unit; nil for unknown.
    package var price: Int64?
    package var refundedAt: Timestamp?
    /// When another plan took its place before its end, if one did.
    package var replacedAt: Timestamp?
    /// Which payment of a commitment it is; nil without one.
    package var payment: Int?
  }

  package enum Phase: Sendable, Hashable, Codable {
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

  package enum PriceIncrease: Sendable, Hashable, Codable {
    /// Asked and not answered: without consent the subscription ends with the period.
    case pending(Int64)
    /// Charged from the next renewal on.
    case consented(Int64)
    /// It ends with the period.
    case declined(Int64)
  }

  package enum Step: Sendable, Hashable {
    /// A period was added, with the given transaction id.
    case renewed
    /// The charge failed, with or without a grace period.
    case chargeFailed(hasGrace: Bool)
    /// The grace period ended; the store continues to retry.
    case graceEnded
    /// It is over.
    case expired(ExpirationIntent)
  }

  /// The store's conditions for a renewal.
  package struct RenewalTerms: Sendable, Hashable {
    package var isChargeable: Bool
    package var isForSale: Bool
    /// The number of renewals after which the subscription ends; nil for no limit.
    package var renewalLimit: Int?

    package init(isChargeable: Bool = true, isForSale: Bool = true, renewalLimit: Int? = nil) {
      self.isChargeable = isChargeable
      self.isForSale = isForSale
      self.renewalLimit = renewalLimit
    }
  }

  package let storeAccount: String
  package internal(set) var plan: SubscriptionPlan
  package internal(set) var nextPlan: SubscriptionPlan
  /// In the order of purchase; never empty.
  package internal(set) var periods: [Period]
  package internal(set) var phase = Phase.active
  package internal(set) var willRenew = true
  package internal(set) var priceIncrease: PriceIncrease?
  /// The number of renewals since the last purchase.
  package internal(set) var renewalCount = 0
  /// The bundle that it is part of.
  package internal(set) var bundle: BundleMembership?
  /// How many seats the next period will have; nil for as many as this one.
  package internal(set) var renewalSeats: Int?
  /// When a backend postponed a renewal.
  package internal(set) var extendedAt: [Timestamp] = []

  /// The first period, from now on. `isTrial` makes it the plan's free trial, if it has one.
  package init(
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
        price: trial == nil ? plan.price : 0, payment: trial == nil ? plan.firstPayment : nil)
    ]
  }

  /// The permanent id of the subscription.
  package var originalTransactionID: String { periods[0].transactionID }

  package var last: Period {
    get { periods[periods.count - 1] }
    set { periods[periods.count - 1] = newValue }
  }

  /// The time of the next step; nil if time causes none.
  package var dueAt: Timestamp? {
    switch phase {
    case .active: last.endsAt
    case .gracePeriod(let until), .billingRetry(let until): until
    case .expired, .refunded: nil
    }
  }

  /// Whether the customer has access: paid, or in a grace period.
  package var isEntitled: Bool {
    switch phase {
    case .active, .gracePeriod: true
    case .billingRetry, .expired, .refunded: false
    }
  }

  /// The state in notifications (StoreFacts d.2).
  package var state: SubscriptionState {
    switch phase {
    case .active: .active
    case .gracePeriod: .gracePeriod
    case .billingRetry: .billingRetry
    case .expired: .expired
    case .refunded: .revoked
    }
  }

  /// What a period of the next plan costs; nil for unknown.
  package var nextPrice: Int64? {
    switch priceIncrease {
    case .pending(let price), .consented(let price), .declined(let price): price
    case nil: nextPlan.price
    }
  }
}
