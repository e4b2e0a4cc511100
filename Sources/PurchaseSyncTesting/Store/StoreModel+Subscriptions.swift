import AppStoreReceipts
public import PurchaseQueue

/// The next step of a subscription. Steps at the same time are taken in the order of their ids.
private struct DueStep: Comparable {
  var moment: Timestamp
  var id: String

  static func < (left: DueStep, right: DueStep) -> Bool {
    (left.moment, left.id) < (right.moment, right.id)
  }
}

/// Subscriptions as time passes: every step becomes a transaction, a change of one, or a notification.
extension StoreModel {
  /// The most steps in one call, so that a clock that jumps by centuries does not block the store. The rest follow in
  /// the next call.
  static let stepsAtOnce = 10_000

  /// Does everything that was due until this moment: renewals, failed charges, ends of grace periods, expiries.
  public mutating func advance(to now: Timestamp) {
    guard let earliestStep, earliestStep <= now else { return }
    // The earliest last. A step makes no other subscription due, so only its own next step is inserted.
    var due = steps.filter { $0.moment <= now }.sorted { $1 < $0 }
    for _ in 0..<Self.stepsAtOnce {
      guard let next = due.popLast() else { break }
      step(next.id, now: next.moment)
      guard let moment = subscriptions[next.id]?.dueAt, moment <= now else { continue }
      let later = DueStep(moment: moment, id: next.id)
      due.insert(later, at: Self.place(of: later, in: due))
    }
    self.earliestStep = nextStepAt
  }

  /// Whether `advance(to:)` has something to do.
  func isStepDue(at now: Timestamp) -> Bool { earliestStep.map { $0 <= now } ?? false }

  /// The time of the next step of a subscription; nil if there is none.
  public var nextStepAt: Timestamp? { steps.map(\.moment).min() }

  private var steps: [DueStep] {
    subscriptions.compactMap { id, subscription in subscription.dueAt.map { DueStep(moment: $0, id: id) } }
  }

  /// The place of a step in a list that has the latest step first.
  private static func place(of step: DueStep, in due: [DueStep]) -> Int {
    var (low, high) = (0, due.count)
    while low < high {
      let middle = (low + high) / 2
      if step < due[middle] { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func step(_ id: String, now: Timestamp) {
    guard var subscription = subscriptions[id] else { return }
    let terms = Subscription.RenewalTerms(
      isChargeable: account(subscription.storeAccount).billingWorks,
      isForSale: isForSale(subscription),
      renewalLimit: pace.renewalLimit)
    let taken = subscription.elapse(transactionID: nextTransactionID, terms: terms)
    plans[id] = subscription
    switch taken {
    case .renewed: note(.renewed, chargeLast(of: subscription, now: now).transactionID, now: now)
    case .chargeFailed(let hasGrace):
      note(.chargeFailed(hasGrace: hasGrace), subscription.last.transactionID, now: now)
    case .graceEnded: note(.graceEnded, subscription.last.transactionID, now: now)
    case .expired(let intent): note(.expired(intent), subscription.last.transactionID, now: now)
    case nil: break
    }
  }

  /// Stores a changed subscription.
  mutating func keep(_ subscription: Subscription) {
    plans[subscription.originalTransactionID] = subscription
    if let due = subscription.dueAt { earliestStep = min(earliestStep ?? due, due) }
  }

  /// Writes the transaction of the period that a subscription has just added by itself.
  @discardableResult
  mutating func chargeLast(
    of subscription: Subscription, cause: StoreTransactionRecord.Cause = .renewal, now: Timestamp
  ) -> StoreTransactionRecord {
    let record = append(
      draft(of: subscription, after: latest(of: subscription.originalTransactionID), cause: cause))
    var subscription = subscription
    // The new period has them.
    subscription.renewalSeats = nil
    keep(subscription)
    foreseeReceipt(with: record)
    share(record, now: now)
    return record
  }

  /// The newest logged transaction of a chain.
  func latest(of originalTransactionID: String) -> StoreTransactionRecord? {
    subscriptions[originalTransactionID]?.periods.last { log.positions[$0.transactionID] != nil }
      .flatMap { transaction($0.transactionID) } ?? transaction(originalTransactionID)
  }

  private func draft(
    of subscription: Subscription, after previous: StoreTransactionRecord?,
    cause: StoreTransactionRecord.Cause
  ) -> StoreTransactionRecord {
    var draft = StoreTransactionRecord(
      transactionID: "", originalTransactionID: subscription.originalTransactionID,
      storeAccount: subscription.storeAccount,
      productID: subscription.last.productID, kind: .autoRenewable,
      quantity: previous.map { renewedSeats(of: subscription, after: $0) } ?? 1,
      accountToken: previous?.accountToken, purchasedAt: subscription.last.startsAt, environment: environment,
      delivery: previous?.delivery ?? delivery)
    draft.cause = cause
    draft.price = subscription.last.price.map { Self.price($0, of: draft.quantity) }
    draft.invitations = products[draft.productID]?.invitations
    fill(&draft, from: subscription)
    return draft
  }

  /// Fills in the fields of a period's transaction that follow from the subscription.
  func fill(_ draft: inout StoreTransactionRecord, from subscription: Subscription) {
    draft.purchasedAt = subscription.last.startsAt
    draft.originalPurchasedAt = subscription.periods[0].startsAt
    draft.expiresAt = subscription.last.endsAt
    draft.isTrial = subscription.last.isTrial
    draft.groupID = subscription.plan.groupID
    draft.bundle = bundlePayment(of: subscription)
    draft.commitment = subscription.commitment
    draft.webOrderLineItemID = lineItem
  }

  /// The line item of the next transaction.
  private var lineItem: String { String(1_000_000_000_000_001 + Int64(log.count)) }
}

/// Purchases of subscriptions, depending on the account's present one.
extension StoreModel {
  /// Takes the payment for a subscription: the first of its group, another plan, or the same again after its end.
  mutating func subscribe(
    to plan: SubscriptionPlan, _ draft: StoreTransactionRecord, _ payment: StorePayment, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    guard let groupID = plan.groupID else { return begin(plan, draft, payment, now: now) }
    let member = GroupMember(storeAccount: payment.storeAccount, groupID: groupID)
    guard let original = groupSubscriptions[member], var subscription = subscriptions[original] else {
      let record = begin(plan, draft, payment, now: now)
      groupSubscriptions[member] = record.transactionID
      return record
    }
    if subscription.isEntitled {
      if let record = try addSeats(to: subscription, plan, draft, payment, now: now) { return record }
      let effect = try changePlan(of: original, to: plan, draft, payment, now: now)
      if effect == .unchanged, subscription.willRenew, !faults.repeatsTransactions {
        throw .alreadySubscribed(payment.productID)
      }
      if effect == .unchanged { turnRenewal(on: true, of: original, now: now) }
      guard let record = latest(of: original) else { throw .unknownTransaction(original) }
      return record
    }
    if faults.repeatsTransactions, let over = latest(of: original), !over.isFinished { return over }
    subscription.resubscribe(to: plan, transactionID: nextTransactionID, now: now)
    let record = write(subscription, draft, payment, now: now)
    note(.subscribed(again: true), record.transactionID, now: now)
    return record
  }

  private mutating func begin(
    _ plan: SubscriptionPlan, _ draft: StoreTransactionRecord, _ payment: StorePayment, now: Timestamp
  ) -> StoreTransactionRecord {
    let subscription = Subscription(
      storeAccount: payment.storeAccount, plan: plan, isTrial: draft.offerCode == nil,
      transactionID: nextTransactionID, now: now)
    let record = write(subscription, draft, payment, now: now)
    note(.subscribed(again: false), record.transactionID, now: now)
    return record
  }

  /// Writes the transaction of a period that was just bought.
  mutating func write(
    _ subscription: Subscription, _ draft: StoreTransactionRecord, _ payment: StorePayment, now: Timestamp
  ) -> StoreTransactionRecord {
    var (draft, subscription) = (draft, subscription)
    // A code pays this period and no later one.
    if draft.offerCode != nil { subscription.last.price = draft.price }
    if subscription.periods.count > 1 { draft.originalTransactionID = subscription.originalTransactionID }
    draft.price = subscription.last.price.map { Self.price($0, of: draft.quantity) }
    fill(&draft, from: subscription)
    let record = append(draft)
    keep(subscription)
    settle(record, payment, now: now)
    return record
  }
}
