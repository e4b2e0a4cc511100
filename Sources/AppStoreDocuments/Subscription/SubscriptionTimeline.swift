import AppStoreReceipts

/// The periods of one subscription in the order of purchase, each with its actual end.
struct Timeline {
  private let periods: [SubscriptionPeriod]
  /// The first moment after each period.
  private let ends: [Int64]
  private let renewal: SubscriptionRenewal?

  /// `periods` must have one original transaction id and be sorted by purchase.
  init(periods: [SubscriptionPeriod], renewal: SubscriptionRenewal?) {
    self.periods = periods
    self.renewal = renewal
    ends = Self.ends(of: periods)
  }

  /// Nil without periods. Before the first period nothing is known: it counts as begun, because clocks differ. After
  /// that the latest period that has begun decides: between two periods the customer has none.
  func status(at now: Int64) -> SubscriptionStatus? {
    guard let latest = periods.indices.last(where: { start($0) <= now }) ?? periods.indices.first else {
      return nil
    }
    let live = periods.indices.filter { ends[$0] > now }
    if let current = live.last(where: { start($0) <= now }) ?? (start(latest) > now ? live.first : nil) {
      // Seats that were added are of the same period: what paid for it first describes it.
      let first = siblings(of: current).first { ends[$0] > now } ?? current
      return status(of: first, .active, now: now, entitledUntil: end(ends[current], live))
    }
    // The period ends with the last of its transactions: a refund of added seats does not end the others.
    let last = siblings(of: latest).max { ends[$0] < ends[$1] } ?? latest
    let period = periods[last]
    if let revoked = period.revocationDate, revoked <= now, !Self.isRestOfReplaced(period) {
      return status(of: last, Self.isFamily(period) ? .revoked : .refunded, now: now)
    }
    if period.isUpgraded { return status(of: last, .upgraded, now: now) }
    // A grace period belongs to the last period that ends before it does.
    if let grace = renewal?.gracePeriodExpiresDate, grace > now,
      !ends[(latest + 1)...].contains(where: { $0 <= grace })
    {
      return status(of: last, .gracePeriod, now: now, entitledUntil: end(grace, live))
    }
    // The store's statement is about the newest period.
    guard latest == periods.indices.last else { return status(of: last, .lapsed(nil), now: now) }
    if renewal?.isInBillingRetry == true { return status(of: last, .billingRetry, now: now) }
    return status(of: last, .lapsed(renewal?.expirationIntent), now: now)
  }

  private func status(
    of index: Int, _ state: SubscriptionStatus.State, now: Int64, entitledUntil: Int64? = nil
  ) -> SubscriptionStatus {
    let period = periods[index]
    // In a gap the store's statement is about a later period.
    let parts = siblings(of: index)
    let isGap = entitledUntil == nil && parts.last != periods.indices.last
    let renewal = isGap ? nil : renewal
    return SubscriptionStatus(
      originalTransactionID: period.originalTransactionID,
      groupID: period.groupID ?? periods.lazy.compactMap(\.groupID).first,
      environment: period.environment, ownership: period.ownership, state: state,
      entitledUntil: entitledUntil, endedAt: entitledUntil == nil ? ends[index] : nil,
      productID: period.productID, transactionID: period.transactionID,
      seats: parts.filter { counts($0, at: now, with: index) }.reduce(0) { Self.sum($0, periods[$1].seats) },
      nextSeats: renewal?.willAutoRenew == false ? nil : renewal?.seats,
      nextProductID: nextProductID(after: period, state), latestChange: change(at: parts.first ?? index),
      isTrial: period.isTrial, isInIntroductoryOffer: period.isInIntroductoryOffer,
      bundleProductID: period.bundleProductID, willUnbundle: renewal?.willUnbundle,
      willAutoRenew: renewal?.willAutoRenew, expirationIntent: renewal?.expirationIntent,
      priceIncreaseStatus: renewal?.priceIncreaseStatus,
      revokedTransactionIDs: periods.filter {
        ($0.revocationDate ?? .max) <= now && $0.revocationReason != .upgradedToBundle
      }.map(\.transactionID))
  }

  /// The transactions of the same period, in order: several if seats were added. What the store does not mark so is the
  /// same payment, listed under another id. A member's seat is none of the purchaser's.
  private func siblings(of index: Int) -> [Int] {
    let period = periods[index]
    return periods.indices.filter {
      let other = periods[$0]
      return $0 == index
        || (period.isOneOfSeveral || other.isOneOfSeveral) && other.expiresDate == period.expiresDate
          && other.productID == period.productID
          && (other.ownership == .assigned) == (period.ownership == .assigned)
    }
  }

  /// Whether the seats of a transaction count in its period.
  private func counts(_ index: Int, at now: Int64, with first: Int) -> Bool {
    guard start(index) <= max(now, start(first)) else { return false }
    return (periods[index].revocationDate ?? .max) > now || Self.isRestOfReplaced(periods[index])
  }

  private static func sum(_ left: Int, _ right: Int) -> Int {
    let (sum, isTooMuch) = left.addingReportingOverflow(right)
    return isTooMuch ? .max : sum
  }

  /// A period without a purchase date comes first and has always begun.
  private func start(_ index: Int) -> Int64 { periods[index].purchaseDate ?? .min }

  /// The end of the access that lasts at least until `end`: a period that begins by then continues it, because the
  /// store charges a renewal up to a day ahead.
  private func end(_ end: Int64, _ live: [Int]) -> Int64 {
    var result = end
    for index in live where start(index) <= result { result = max(result, ends[index]) }
    return result
  }

  private func nextProductID(after period: SubscriptionPeriod, _ state: SubscriptionStatus.State) -> String? {
    switch state {
    case .active, .gracePeriod, .billingRetry: break
    case .lapsed, .refunded, .revoked, .upgraded: return nil
    }
    guard let renewal, renewal.willAutoRenew != false else { return nil }
    return renewal.autoRenewProductID ?? (renewal.willAutoRenew == true ? period.productID : nil)
  }

  private func change(at index: Int) -> PlanChange? {
    guard index > 0, periods[index - 1].productID != periods[index].productID else { return nil }
    let previous = periods[index - 1]
    return PlanChange(
      previousProductID: previous.productID, date: periods[index].purchaseDate,
      wasAtOnce: previous.isUpgraded || start(index) < previous.expiresDate)
  }

  /// Whether access by another person's purchase ended.
  private static func isFamily(_ period: SubscriptionPeriod) -> Bool {
    switch period.revocationType {
    case .familyRevoke: true
    case .fullRefund, .proratedRefund: false
    // Without a known type the owner decides: who has not paid is refunded nothing.
    default: period.ownership == .familyShared || period.ownership == .assigned
    }
  }

  /// Whether the refund is the rest of the price of a plan that another one, or a bundle, has replaced
  /// (purchases-ios#6515).
  private static func isRestOfReplaced(_ period: SubscriptionPeriod) -> Bool {
    period.isUpgraded
      && (period.revocationType == .proratedRefund || period.revocationReason == .upgradedToBundle)
  }

  /// The actual ends: the date of expiry, or an earlier event. One pass from the end finds, for each period,
  /// the start of the next one and of the next one with another product.
  private static func ends(of periods: [SubscriptionPeriod]) -> [Int64] {
    var ends = periods.map(\.expiresDate)
    var nextOther: Int64?
    for index in periods.indices.reversed() {
      let period = periods[index]
      let next = index + 1 < periods.count ? periods[index + 1] : nil
      if let next, next.productID != period.productID { nextOther = next.purchaseDate }
      if let revoked = period.revocationDate { ends[index] = min(ends[index], revoked) }
      // A period of another product that begins before this one ends is an upgrade, marked or not.
      if let nextOther { ends[index] = min(ends[index], nextOther) }
      if period.isUpgraded {
        // If the upgraded period is the newest known one, its successor is missing and its end is unknown.
        ends[index] = min(
          ends[index], next?.purchaseDate ?? period.revocationDate ?? period.purchaseDate ?? .min)
      }
    }
    return ends
  }
}
