import AppStoreReceipts
public import PurchaseQueue

/// A life's next step. Those of one moment are taken in the order of their names.
private struct DueStep: Comparable {
  var moment: Timestamp
  var id: String

  static func < (left: DueStep, right: DueStep) -> Bool {
    (left.moment, left.id) < (right.moment, right.id)
  }
}

/// Subscriptions as time passes: every step of a life becomes a transaction, a change of one, or a notification.
extension StoreModel {
  /// At most so many steps are taken at once, so that a clock that jumps by centuries does not hang the store; the
  /// rest follow with the next call.
  static let stepsAtOnce = 10_000

  /// Does what was due until this moment: renewals, failures to charge, grace periods that end, expiries.
  public mutating func advance(to now: Timestamp) {
    guard let earliestStep, earliestStep <= now else { return }
    // The earliest last. A step makes no other life due, so that only its own next step has to be put in.
    var due = steps.filter { $0.moment <= now }.sorted { $1 < $0 }
    for _ in 0..<Self.stepsAtOnce {
      guard let next = due.popLast() else { break }
      step(next.id, now: next.moment)
      guard let moment = lives[next.id]?.dueAt, moment <= now else { continue }
      let later = DueStep(moment: moment, id: next.id)
      due.insert(later, at: Self.place(of: later, in: due))
    }
    self.earliestStep = nextStepAt
  }

  /// When something happens by itself next; nil if nothing does.
  public var nextStepAt: Timestamp? { steps.map(\.moment).min() }

  private var steps: [DueStep] {
    lives.compactMap { id, life in life.dueAt.map { DueStep(moment: $0, id: id) } }
  }

  /// Where it belongs among others, of which the latest is first.
  private static func place(of step: DueStep, in due: [DueStep]) -> Int {
    var (low, high) = (0, due.count)
    while low < high {
      let middle = (low + high) / 2
      if step < due[middle] { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func step(_ id: String, now: Timestamp) {
    guard var life = lives[id] else { return }
    let terms = SubscriptionLife.RenewalTerms(
      isChargeable: account(life.storeAccount).billingWorks,
      isForSale: products[life.nextPlan.productID] != nil && !withdrawn.contains(life.nextPlan.productID),
      renewalLimit: pace.renewalLimit)
    let taken = life.elapse(transactionID: nextTransactionID, terms: terms)
    lives[id] = life
    switch taken {
    case .renewed: note(.renewed, chargeLast(of: life, now: now).transactionID, now: now)
    case .chargeFailed(let hasGrace):
      note(.chargeFailed(hasGrace: hasGrace), life.last.transactionID, now: now)
    case .graceEnded: note(.graceEnded, life.last.transactionID, now: now)
    case .expired(let intent): note(.expired(intent), life.last.transactionID, now: now)
    case nil: break
    }
  }

  /// Keeps what became of a life.
  mutating func keep(_ life: SubscriptionLife) {
    lives[life.originalTransactionID] = life
    if let due = life.dueAt { earliestStep = min(earliestStep ?? due, due) }
  }

  /// Writes the transaction of the period that a life has just added by itself.
  @discardableResult
  mutating func chargeLast(
    of life: SubscriptionLife, cause: StoreTransactionRecord.Cause = .renewal, now: Timestamp
  ) -> StoreTransactionRecord {
    let record = append(draft(of: life, after: latest(of: life.originalTransactionID), cause: cause))
    keep(life)
    foreseeReceipt(with: record)
    share(record, now: now)
    return record
  }

  /// The newest transaction of a chain that is in the log.
  func latest(of originalTransactionID: String) -> StoreTransactionRecord? {
    lives[originalTransactionID]?.periods.last { positions[$0.transactionID] != nil }
      .flatMap { transaction($0.transactionID) } ?? transaction(originalTransactionID)
  }

  private func draft(
    of life: SubscriptionLife, after previous: StoreTransactionRecord?,
    cause: StoreTransactionRecord.Cause
  ) -> StoreTransactionRecord {
    var draft = StoreTransactionRecord(
      transactionID: "", originalTransactionID: life.originalTransactionID, storeAccount: life.storeAccount,
      productID: life.last.productID, kind: .autoRenewable, quantity: 1,
      accountToken: previous?.accountToken, purchasedAt: life.last.startsAt, environment: environment,
      delivery: previous?.delivery ?? delivery)
    draft.cause = cause
    draft.price = life.last.price
    fill(&draft, from: life)
    return draft
  }

  /// What a period's transaction says beyond who paid for what.
  func fill(_ draft: inout StoreTransactionRecord, from life: SubscriptionLife) {
    draft.purchasedAt = life.last.startsAt
    draft.originalPurchasedAt = life.periods[0].startsAt
    draft.expiresAt = life.last.endsAt
    draft.isTrial = life.last.isTrial
    draft.groupID = life.plan.groupID
    draft.webOrderLineItemID = lineItem
  }

  /// Names the purchase that the next transaction is about.
  private var lineItem: String { String(1_000_000_000_000_001 + Int64(transactions.count)) }
}

/// Buying, and what follows from what somebody has.
extension StoreModel {
  /// The payment for a subscription: the first of its group, another plan, or the same again after the end.
  mutating func subscribe(
    to plan: SubscriptionPlan, _ draft: StoreTransactionRecord, _ payment: StorePayment, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    guard let groupID = plan.groupID else { return begin(plan, draft, payment, now: now) }
    let member = GroupMember(storeAccount: payment.storeAccount, groupID: groupID)
    guard let original = groupLives[member], var life = lives[original] else {
      let record = begin(plan, draft, payment, now: now)
      groupLives[member] = record.transactionID
      return record
    }
    if life.isEntitled {
      let effect = try changePlan(of: original, to: plan, draft, payment, now: now)
      if effect == .unchanged, life.willRenew { throw .alreadySubscribed(payment.productID) }
      if effect == .unchanged { turnRenewal(on: true, of: original, now: now) }
      guard let record = latest(of: original) else { throw .unknownTransaction(original) }
      return record
    }
    life.resubscribe(to: plan, transactionID: nextTransactionID, now: now)
    let record = write(life, draft, payment, now: now)
    note(.subscribed(again: true), record.transactionID, now: now)
    return record
  }

  private mutating func begin(
    _ plan: SubscriptionPlan, _ draft: StoreTransactionRecord, _ payment: StorePayment, now: Timestamp
  ) -> StoreTransactionRecord {
    let life = SubscriptionLife(
      storeAccount: payment.storeAccount, plan: plan, isTrial: draft.offerCode == nil,
      transactionID: nextTransactionID, now: now)
    let record = write(life, draft, payment, now: now)
    note(.subscribed(again: false), record.transactionID, now: now)
    return record
  }

  /// Writes the transaction of the period that somebody has just bought.
  mutating func write(
    _ life: SubscriptionLife, _ draft: StoreTransactionRecord, _ payment: StorePayment, now: Timestamp
  ) -> StoreTransactionRecord {
    var (draft, life) = (draft, life)
    // A code pays this period, and no later one.
    if draft.offerCode != nil { life.last.price = draft.price }
    if life.periods.count > 1 { draft.originalTransactionID = life.originalTransactionID }
    draft.price = life.last.price
    fill(&draft, from: life)
    let record = append(draft)
    keep(life)
    settle(record, payment, now: now)
    return record
  }
}
