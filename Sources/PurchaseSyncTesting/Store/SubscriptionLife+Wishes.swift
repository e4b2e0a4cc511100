import AppStoreReceipts
public import PurchaseQueue

/// What the customer wants, and what the store takes back.
extension SubscriptionLife {
  /// Turns renewal on or off; false if that changes nothing, or it is over and has to be bought again.
  ///
  /// While the store tries to charge, turning it off ends it at once; in a grace period, with that.
  public mutating func turnRenewal(on isOn: Bool) -> Bool {
    switch phase {
    case .expired, .refunded: return false
    case .active, .gracePeriod, .billingRetry: break
    }
    guard willRenew != isOn else { return false }
    willRenew = isOn
    if case .declined(let price) = priceIncrease, isOn { priceIncrease = .consented(price) }
    if case .billingRetry = phase { phase = .expired(.cancelled) }
    return true
  }

  /// Wishes for another plan. One that begins at once adds a period; the rest of the old one is to be refunded.
  public mutating func change(
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

  /// Begins another plan now, whatever the levels say.
  public mutating func replace(with other: SubscriptionPlan, transactionID: String, now: Timestamp) {
    if isEntitled { last.replacedAt = now }
    start(other, transactionID: transactionID, now: now)
  }

  /// Begins again after the end. Nobody gets a second trial.
  public mutating func resubscribe(to other: SubscriptionPlan, transactionID: String, now: Timestamp) {
    start(other, transactionID: transactionID, now: now)
  }

  private mutating func start(_ other: SubscriptionPlan, transactionID: String, now: Timestamp) {
    nextPlan = other
    priceIncrease = nil
    willRenew = true
    renew(transactionID: transactionID, startsAt: now)
    renewalCount = 0
  }

  /// What is to be returned of the last period, if another plan takes its place at this moment.
  public func unusedPrice(of period: Period, at now: Timestamp) -> Int64 {
    guard let price = period.price, price > 0 else { return 0 }
    let (whole, overflow) = period.endsAt.milliseconds.subtractingReportingOverflow(
      period.startsAt.milliseconds)
    guard !overflow, whole > 0 else { return 0 }
    let left = min(whole, max(0, period.endsAt.milliseconds &- now.milliseconds))
    // At most the price: `left` is at most `whole`.
    return whole.dividingFullWidth(price.multipliedFullWidth(by: left)).quotient
  }

  /// Gives back the money of one period; false if there is none such, or it was refunded before.
  ///
  /// The last one, while it runs or is waited for, ends the subscription; an earlier one changes nothing else (R3.8).
  public mutating func refund(transactionID: String, now: Timestamp) -> Bool {
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

  /// Takes a refund back; the period counts again until its end, and does not renew.
  public mutating func reverseRefund(transactionID: String) -> Bool {
    guard let index = periods.firstIndex(where: { $0.transactionID == transactionID }),
      periods[index].refundedAt != nil
    else { return false }
    periods[index].refundedAt = nil
    if phase == .refunded, index == periods.count - 1 { phase = .active }
    return true
  }

  /// Announces a higher price from the next renewal on; false if it is over, or ends anyway.
  public mutating func raisePrice(to price: Int64, needsConsent: Bool) -> Bool {
    guard isEntitled, willRenew else { return false }
    priceIncrease = needsConsent ? .pending(price) : .consented(price)
    return true
  }

  /// The customer's answer; false if nobody asked.
  public mutating func answerPriceIncrease(consents: Bool) -> Bool {
    guard case .pending(let price) = priceIncrease else { return false }
    priceIncrease = consents ? .consented(price) : .declined(price)
    if !consents { willRenew = false }
    return true
  }
}
