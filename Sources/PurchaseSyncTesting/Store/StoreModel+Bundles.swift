import AppStoreReceipts
public import Foundation
public import PurchaseQueue

/// Bundles and suites of subscriptions: one payment, and a transaction for each subscription of this app. Those of other apps
/// are in their stores.
extension StoreModel {
  /// A bundle that another app has sold, or the App Store: this app gets the transactions of its own subscriptions, and has
  /// sold nothing. Its products need not be for sale here.
  ///
  /// - Parameters:
  ///   - bundle: The bundle. Its id is that of the app that sells it.
  ///   - storeAccount: The store account that buys it.
  ///   - accountToken: The token that the other app paid with.
  ///   - now: The moment of the payment.
  /// - Returns: This app's transactions. Throws if the bundle has no subscription of this app.
  @discardableResult
  public mutating func receive(
    _ bundle: StoreProduct, soldElsewhereTo storeAccount: String, accountToken: UUID? = nil, now: Timestamp
  ) throws(StoreModelError) -> [StoreTransactionRecord] {
    advance(to: now)
    let payment = StorePayment(
      productID: bundle.id, accountToken: accountToken, storeAccount: storeAccount)
    let first = try sell(bundle, draft(of: bundle, payment, now: now), payment, now: now)
    return [first] + siblings(of: first)
  }

  /// Records that the customer takes a subscription out of its bundle, at the end of the period. `keeps`: it renews as a
  /// product of its own; else it ends.
  ///
  /// - Returns: False if that changes nothing.
  @discardableResult
  public mutating func leaveBundle(
    transactionID: String, keeps: Bool, now: Timestamp
  ) throws(StoreModelError) -> Bool {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard var subscription = subscriptions[record.originalTransactionID] else {
      throw .noSubscription(transactionID)
    }
    let alone = products[record.productID].flatMap { pace.plan(of: $0) }
    guard subscription.leaveBundle(keeps ? .alone : .ends, alone: alone) else { return false }
    keep(subscription)
    note(.renewalTurned(on: keeps), subscription.last.transactionID, now: now)
    return true
  }

  /// Sells a bundle, and returns the first transaction of its payment.
  mutating func sell(
    _ bundle: StoreProduct, _ draft: StoreTransactionRecord, _ payment: StorePayment, now: Timestamp
  ) throws(StoreModelError) -> StoreTransactionRecord {
    let own = bundle.members.filter { $0.bundleID ?? forge.bundleID == forge.bundleID }
    guard !own.isEmpty, let plan = pace.plan(of: bundle) else { throw .unknownProduct(bundle.id) }
    if let running = running(bundle.id, of: payment.storeAccount) {
      guard faults.repeatsTransactions else { throw .alreadySubscribed(bundle.id) }
      return running
    }
    let membership = BundleMembership(
      productID: bundle.id, groupID: bundle.groupID, originalTransactionID: Self.bundleID(nextTransactionID))
    var first: StoreTransactionRecord?
    for member in own {
      var draft = draft
      (draft.productID, draft.kind, draft.price) = (member.productID, .autoRenewable, nil)
      if !hasToken(isFirst: first == nil) { draft.accountToken = nil }
      let record = begin(self.plan(of: member, in: plan), draft, membership, payment, now: now)
      first = first ?? record
    }
    guard let first else { throw .unknownProduct(bundle.id) }
    return first
  }

  private func hasToken(isFirst: Bool) -> Bool {
    switch bundleTokens {
    case .all: true
    case .first: isFirst
    case .none: false
    }
  }

  /// A member's plan has the bundle's periods and price: what it costs alone says nothing of it.
  private func plan(of member: StoreProduct.Member, in bundle: SubscriptionPlan) -> SubscriptionPlan {
    let own = products[member.productID]
    var plan = bundle
    (plan.productID, plan.groupID, plan.level) = (member.productID, own?.groupID, own?.level ?? 1)
    (plan.price, plan.trialMilliseconds) = (nil, nil)
    return plan
  }

  private mutating func begin(
    _ plan: SubscriptionPlan, _ draft: StoreTransactionRecord, _ membership: BundleMembership,
    _ payment: StorePayment, now: Timestamp
  ) -> StoreTransactionRecord {
    if let groupID = plan.groupID {
      let member = GroupMember(storeAccount: payment.storeAccount, groupID: groupID)
      if let original = groupSubscriptions[member] { replaceByBundle(original, now: now) }
      groupSubscriptions[member] = nextTransactionID
    }
    var subscription = Subscription(
      storeAccount: payment.storeAccount, plan: plan, transactionID: nextTransactionID, now: now)
    subscription.bundle = membership
    let record = write(subscription, draft, payment, now: now)
    note(.subscribed(again: false), record.transactionID, now: now)
    return record
  }

  /// The customer switches from a subscription to a bundle: it is revoked, and the price of the rest is returned.
  private mutating func replaceByBundle(_ original: String, now: Timestamp) {
    guard var subscription = subscriptions[original], subscription.isEntitled,
      let position = log.positions[subscription.last.transactionID]
    else { return }
    let left = subscription.unusedPrice(of: subscription.last, at: now)
    subscription.endForBundle()
    keep(subscription)
    amend(position) { record in
      (record.revokedAt, record.revocationReason) = (now, .upgradedToBundle)
      record.returnedPrice = left
    }
    announce(position)
    revokeShares(of: log[position], now: now)
    note(.revoked, log[position].transactionID, now: now)
  }

  // MARK: Payments

  /// The other transactions of the same payment of a bundle.
  func siblings(of record: StoreTransactionRecord) -> [StoreTransactionRecord] {
    guard let payment = record.bundle?.transactionID else { return [] }
    return transactions(storeAccount: record.storeAccount).filter {
      $0.bundle?.transactionID == payment && $0.transactionID != record.transactionID && $0.isCharge
    }
  }

  /// The payment of the last period of a subscription in a bundle, which its transactions have in common.
  func bundlePayment(of subscription: Subscription) -> BundlePurchase? {
    guard let membership = subscription.bundle else { return nil }
    let begin = subscription.last.startsAt
    let known = transactions(storeAccount: subscription.storeAccount).last {
      $0.bundle?.originalTransactionID == membership.originalTransactionID && $0.purchasedAt == begin
    }
    let isFirst = subscription.periods.count == 1
    let new = isFirst ? membership.originalTransactionID : Self.bundleID(nextTransactionID)
    return membership.purchase(known?.bundle?.transactionID ?? new)
  }

  /// The newest transaction of a running subscription that is part of the bundle.
  private func running(_ bundle: String, of storeAccount: String) -> StoreTransactionRecord? {
    subscriptions.values.filter {
      $0.storeAccount == storeAccount && $0.bundle?.productID == bundle && $0.isEntitled
    }.map(\.originalTransactionID).min().flatMap { latest(of: $0) }
  }

  /// Whether the next renewal can be sold: of a bundle, what counts is the bundle. One of another app is not in this table.
  func isForSale(_ subscription: Subscription) -> Bool {
    if let bundle = subscription.bundle, bundle.leaving == nil {
      return !withdrawn.contains(bundle.productID)
    }
    let next = subscription.nextPlan.productID
    return products[next] != nil && !withdrawn.contains(next)
  }

  /// The id of a bundle's payment: it is no transaction of an app, and its id is like those.
  private static func bundleID(_ transactionID: String) -> String { "9" + transactionID }
}
