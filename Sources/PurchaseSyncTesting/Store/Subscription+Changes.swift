import AppStoreDocuments
import AppStoreReceipts
package import PurchaseQueue

/// Changes by the customer, and refunds.
extension Subscription {
  /// Turns renewal on or off; false if that changes nothing, or if the subscription has ended.
  ///
  /// During billing retry, turning it off ends the subscription at once; in a grace period, at its end. Within a commitment
  /// it has its effect after the last payment.
  package mutating func turnRenewal(on isOn: Bool) -> Bool {
    switch phase {
    case .expired, .refunded: return false
    case .active, .gracePeriod, .billingRetry: break
    }
    guard willRenew != isOn else { return false }
    willRenew = isOn
    if isOn, bundle?.leaving == .ends { bundle?.leaving = nil }
    if case .declined(let price) = priceIncrease, isOn { priceIncrease = .consented(price) }
    if case .billingRetry = phase, !isBound { phase = .expired(.cancelled) }
    return true
  }

  /// Changes the plan. A change at once adds a period, and the caller refunds the rest of the old one.
  package mutating func change(
    to other: SubscriptionPlan, transactionID: String, now: Timestamp
  ) -> PlanEffect {
    let effect = plan.effect(of: other)
    switch effect {
    case .atOnce: replace(with: other, transactionID: transactionID, now: now)
    case .atRenewal:
      guard nextPlan.productID != other.productID else { return .unchanged }
      nextPlan = other
      priceIncrease = nil
      willRenew = true
    case .unchanged, .reverted:
      guard nextPlan.productID != plan.productID else { return .unchanged }
      nextPlan = plan
      priceIncrease = nil
      willRenew = true
      return .reverted
    }
    return effect
  }

  /// Begins another plan now, regardless of the levels.
  package mutating func replace(with other: SubscriptionPlan, transactionID: String, now: Timestamp) {
    if isEntitled { last.replacedAt = now }
    start(other, transactionID: transactionID, now: now)
  }

  /// Begins again after the end, without a second trial.
  package mutating func resubscribe(to other: SubscriptionPlan, transactionID: String, now: Timestamp) {
    start(other, transactionID: transactionID, now: now)
  }

  private mutating func start(_ other: SubscriptionPlan, transactionID: String, now: Timestamp) {
    nextPlan = other
    priceIncrease = nil
    willRenew = true
    begin(transactionID: transactionID, startsAt: now)
    renewalCount = 0
  }

  /// The amount to return of a period that another plan replaces at this moment.
  package func unusedPrice(of period: Period, at now: Timestamp) -> Int64 {
    guard let price = period.price, price > 0 else { return 0 }
    let (whole, overflow) = period.endsAt.milliseconds.subtractingReportingOverflow(
      period.startsAt.milliseconds)
    guard !overflow, whole > 0 else { return 0 }
    let left = min(whole, max(0, period.endsAt.milliseconds &- now.milliseconds))
    // At most the price: `left` is at most `whole`.
    return whole.dividingFullWidth(price.multipliedFullWidth(by: left)).quotient
  }

  /// Refunds one period; false for an unknown or refunded one.
  ///
  /// A refund of the last period ends a running or retried subscription; an earlier period changes nothing else (R3.8).
  package mutating func refund(transactionID: String, now: Timestamp) -> Bool {
    guard let index = periods.firstIndex(where: { $0.transactionID == transactionID }),
      periods[index].refundedAt == nil
    else { return false }
    periods[index].refundedAt = now
    guard index == periods.count - 1 else { return true }
    switch phase {
    case .active, .gracePeriod, .billingRetry:
      phase = .refunded
      willRenew = false
      nextPlan = plan
      priceIncrease = nil
    case .expired, .refunded: break
    }
    return true
  }

  /// Reverses a refund: the period is valid again until its end and does not renew.
  package mutating func reverseRefund(transactionID: String) -> Bool {
    guard let index = periods.firstIndex(where: { $0.transactionID == transactionID }),
      periods[index].refundedAt != nil
    else { return false }
    periods[index].refundedAt = nil
    if phase == .refunded, index == periods.count - 1 { phase = .active }
    return true
  }

  /// Announces a higher price from the next renewal on; false if the subscription has ended or will end.
  package mutating func raisePrice(to price: Int64, needsConsent: Bool) -> Bool {
    guard isEntitled, willRenew else { return false }
    priceIncrease = needsConsent ? .pending(price) : .consented(price)
    return true
  }

  /// Records the customer's answer to a higher price; false if there was no question.
  package mutating func answerPriceIncrease(consents: Bool) -> Bool {
    guard case .pending(let price) = priceIncrease else { return false }
    priceIncrease = consents ? .consented(price) : .declined(price)
    if !consents { willRenew = false }
    return true
  }
}
