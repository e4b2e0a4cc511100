/// What one period of a subscription costs and how long it lasts, at the store's pace.
public struct SubscriptionPlan: Sendable, Hashable, Codable {
  /// What is sold.
  public var productID: String
  /// The subscription group; nil for a plan that no other can replace.
  public var groupID: String?
  /// The rank in the group; 1 is the highest.
  public var level: Int
  /// The period as the product says it, whatever the pace: by it plans are compared.
  public var fullPeriodMilliseconds: Int64
  /// The period at the store's pace.
  public var periodMilliseconds: Int64
  /// The grace period at the store's pace; 0 for none.
  public var gracePeriodMilliseconds: Int64
  /// How long the store tries to charge, from the end of the period.
  public var retryMilliseconds: Int64
  /// The free trial at the store's pace; nil for none.
  public var trialMilliseconds: Int64?
  /// Thousandths of the currency's unit; nil for unknown.
  public var price: Int64?

  /// When a subscriber of this plan gets another one of the group.
  ///
  /// A higher level begins at once, a lower one at the renewal, an equal one at once if it lasts as long. (Apple, App
  /// Store Connect help, "Set up auto-renewable subscriptions": upgrade, downgrade, crossgrade.)
  public func effect(of other: SubscriptionPlan) -> PlanEffect {
    if other.productID == productID { return .unchanged }
    if other.level != level { return other.level < level ? .atOnce : .atRenewal }
    return other.fullPeriodMilliseconds == fullPeriodMilliseconds ? .atOnce : .atRenewal
  }
}

/// What becomes of a wish for another plan.
public enum PlanEffect: String, Sendable, Hashable, Codable {
  /// The new plan is charged now, and the rest of the old period is refunded.
  case atOnce
  /// The new plan is charged at the next renewal.
  case atRenewal
  /// A change that waited is taken back.
  case reverted
  /// It is the present plan, and no change waited.
  case unchanged
}
