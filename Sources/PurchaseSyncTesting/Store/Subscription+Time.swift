import AppStoreDocuments
package import PurchaseQueue

/// Steps that time causes, and charges after a failure.
extension Subscription {
  /// Takes the step that is due at ``dueAt``; nil if there is none.
  ///
  /// `transactionID` is for the period that a renewal adds.
  package mutating func elapse(transactionID: String, terms: RenewalTerms) -> Step? {
    guard let now = dueAt else { return nil }
    switch phase {
    case .active: return endPeriod(transactionID, terms, now: now)
    case .gracePeriod:
      guard willRenew else { return expire(.cancelled) }
      phase = .billingRetry(until: last.endsAt.adding(milliseconds: plan.retryMilliseconds))
      return .graceEnded
    case .billingRetry: return expire(.billingError)
    case .expired, .refunded: return nil
    }
  }

  private mutating func endPeriod(_ transactionID: String, _ terms: RenewalTerms, now: Timestamp) -> Step {
    if !isBound {
      switch priceIncrease {
      case .pending, .declined: return expire(.priceIncreaseDeclined)
      case .consented, nil: break
      }
      guard willRenew else { return expire(bundle?.leaving == .ends ? .unbundled : .cancelled) }
    }
    if let limit = terms.renewalLimit, renewalCount >= limit { return expire(.cancelled) }
    guard terms.isForSale || isBound else { return expire(.productUnavailable) }
    guard terms.isChargeable else {
      guard plan.gracePeriodMilliseconds > 0 else {
        phase = .billingRetry(until: now.adding(milliseconds: plan.retryMilliseconds))
        return .chargeFailed(hasGrace: false)
      }
      phase = .gracePeriod(until: now.adding(milliseconds: plan.gracePeriodMilliseconds))
      return .chargeFailed(hasGrace: true)
    }
    renew(transactionID: transactionID, startsAt: now)
    renewalCount += 1
    return .renewed
  }

  /// Ends the subscription. It does not renew until it is bought again.
  private mutating func expire(_ intent: ExpirationIntent) -> Step {
    phase = .expired(intent)
    willRenew = false
    nextPlan = plan
    return .expired(intent)
  }

  /// Adds a period: the next payment of a commitment, which the customer's wishes do not change, or the next plan's.
  mutating func renew(transactionID: String, startsAt: Timestamp) {
    guard isBound else { return begin(transactionID: transactionID, startsAt: startsAt) }
    var next = last
    (next.transactionID, next.startsAt) = (transactionID, startsAt)
    next.endsAt = startsAt.adding(milliseconds: plan.periodMilliseconds)
    (next.refundedAt, next.payment) = (nil, last.payment.map { $0 + 1 })
    periods.append(next)
    phase = .active
  }

  /// Adds a period of the next plan.
  mutating func begin(transactionID: String, startsAt: Timestamp) {
    periods.append(
      Period(
        transactionID: transactionID, productID: nextPlan.productID, startsAt: startsAt,
        endsAt: startsAt.adding(milliseconds: nextPlan.periodMilliseconds), price: nextPrice,
        payment: nextPlan.firstPayment))
    plan = nextPlan
    plan.price = nextPrice
    nextPlan = plan
    priceIncrease = nil
    phase = .active
    if bundle?.leaving == .alone { bundle = nil }
  }

  /// Charges a failed renewal; false if there is none.
  ///
  /// In the grace period the new period begins at the end of the old one, so the day of renewal stays. Afterwards it
  /// begins now.
  package mutating func recover(transactionID: String, now: Timestamp) -> Bool {
    switch phase {
    case .gracePeriod: renew(transactionID: transactionID, startsAt: last.endsAt)
    case .billingRetry: renew(transactionID: transactionID, startsAt: now)
    case .active, .expired, .refunded: return false
    }
    renewalCount = 0
    return true
  }

  /// Charges a period now, in any phase, for scenarios that do not wait.
  package mutating func renewNow(transactionID: String, now: Timestamp) {
    if !isBound { willRenew = true }
    renew(transactionID: transactionID, startsAt: now)
    renewalCount = 0
  }
}
