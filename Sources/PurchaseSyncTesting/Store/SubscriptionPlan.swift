/// The price and the lengths of a subscription at the store's pace.
package struct SubscriptionPlan: Sendable, Hashable, Codable {
  package var productID: String
  /// The subscription group; nil for a plan without alternatives.
  package var groupID: String?
  /// The rank in the group; 1 is the highest.
  package var level: Int
  /// The product's period, independent of the pace. Plans are compared by it.
  package var fullPeriodMilliseconds: Int64
  /// The period at the store's pace.
  package var periodMilliseconds: Int64
  /// The grace period at the store's pace; 0 for none.
  package var gracePeriodMilliseconds: Int64
  /// How long the store retries to charge, from the end of the period.
  package var retryMilliseconds: Int64
  /// The free trial at the store's pace; nil for none.
  package var trialMilliseconds: Int64?
  /// To how many payments a customer agrees; nil for none.
  package var commitment: Int?
  /// Thousandths of the currency's unit; nil for unknown.
  package var price: Int64?

  /// The first payment of a commitment; nil without one.
  var firstPayment: Int? { commitment == nil ? nil : 1 }

  /// When a change from this plan to another one of the group takes effect.
  ///
  /// A higher level begins at once, a lower one at the renewal, an equal one at once if it lasts as long. (Apple, App
  /// Store Connect help, "Set up auto-renewable subscriptions": upgrade, downgrade, crossgrade.)
  package func effect(of other: SubscriptionPlan) -> PlanEffect {
    if other.productID == productID { return .unchanged }
    if other.level != level { return other.level < level ? .atOnce : .atRenewal }
    return other.fullPeriodMilliseconds == fullPeriodMilliseconds ? .atOnce : .atRenewal
  }
}

/// The effect of a change of plan.
public enum PlanEffect: String, Sendable, Hashable, Codable {
  /// The new plan is charged now, and the rest of the old period is refunded.
  case atOnce
  /// The new plan is charged at the next renewal.
  case atRenewal
  /// A waiting change is withdrawn.
  case reverted
  /// It is the present plan, and no change waits.
  case unchanged
}
