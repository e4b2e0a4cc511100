public import PurchaseQueue

/// Changes of a subscription by the customer or the seller.
extension StoreModel {
  /// Changes to another plan of the group, as in the store's settings or by a payment in the app.
  ///
  /// Charges at once or at the renewal, depending on the levels. Throws if there is no such subscription, or if it has
  /// ended and must be bought again.
  @discardableResult
  public mutating func changePlan(
    transactionID: String, to productID: String, now: Timestamp
  ) throws(StoreModelError) -> PlanEffect {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard let product = products[productID], !withdrawn.contains(productID) else {
      throw .unknownProduct(productID)
    }
    guard let subscription = subscriptions[record.originalTransactionID], subscription.isEntitled,
      subscription.plan.groupID != nil,
      let plan = pace.plan(of: product), plan.groupID == subscription.plan.groupID
    else { throw .noSubscription(transactionID) }
    // A backend may have set another token since this period.
    var draft = latest(of: record.originalTransactionID) ?? record
    let payment = StorePayment(
      productID: productID, accountToken: draft.accountToken, storeAccount: subscription.storeAccount)
    draft.productID = productID
    return try changePlan(of: record.originalTransactionID, to: plan, draft, payment, now: now)
  }

  /// The same, with a draft of the transaction for a change at once. The period fills in the rest of the draft.
  mutating func changePlan(
    of original: String, to plan: SubscriptionPlan, _ draft: StoreTransactionRecord, _ payment: StorePayment,
    now: Timestamp
  ) throws(StoreModelError) -> PlanEffect {
    guard var subscription = subscriptions[original] else { throw .noSubscription(original) }
    if subscription.plan.effect(of: plan) == .atOnce, !account(subscription.storeAccount).billingWorks {
      throw .paymentDeclined
    }
    let old = subscription.last
    let effect = subscription.change(to: plan, transactionID: nextTransactionID, now: now)
    let change: StoreChange = draft.offerCode == nil ? .planChanged(effect) : .offerRedeemed(effect)
    switch effect {
    case .atOnce:
      // Before the new transaction, because its notification includes the old one in this state.
      markUpgraded(old.transactionID, returning: subscription.unusedPrice(of: old, at: now))
      let record = write(subscription, fresh(draft), payment, now: now)
      note(change, record.transactionID, now: now)
    case .atRenewal, .reverted:
      keep(subscription)
      note(change, old.transactionID, now: now)
    case .unchanged: break
    }
    return effect
  }

  /// A draft of a new transaction, copied from another one of its chain.
  func fresh(_ record: StoreTransactionRecord) -> StoreTransactionRecord {
    var draft = record
    draft.transactionID = ""
    draft.originalTransactionID = ""
    (draft.isFinished, draft.finishedAt, draft.finisher) = (false, nil, nil)
    (draft.revokedAt, draft.refundedShare) = (nil, nil)
    (draft.revokedSeats, draft.isOneOfSeveral) = (0, false)
    draft.isUpgraded = false
    draft.returnedPrice = 0
    draft.cause = .purchase
    return draft
  }

  mutating func markUpgraded(_ transactionID: String, returning price: Int64) {
    guard let position = log.positions[transactionID] else { return }
    amend(position) { record in
      record.isUpgraded = true
      record.returnedPrice = price
    }
    announce(position)
    upgradeShares(of: transactionID)
  }

  /// Turns renewal on or off, as in the store's settings; false if that changes nothing.
  @discardableResult
  public mutating func setRenewal(
    on isOn: Bool, transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> Bool {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard subscriptions[record.originalTransactionID] != nil else { throw .noSubscription(transactionID) }
    return turnRenewal(on: isOn, of: record.originalTransactionID, now: now)
  }

  @discardableResult
  mutating func turnRenewal(on isOn: Bool, of original: String, now: Timestamp) -> Bool {
    guard var subscription = subscriptions[original], subscription.turnRenewal(on: isOn) else { return false }
    keep(subscription)
    note(.renewalTurned(on: isOn), subscription.last.transactionID, now: now)
    if case .expired(let intent) = subscription.phase {
      note(.expired(intent), subscription.last.transactionID, now: now)
    }
    return true
  }

  /// Sets whether a store account can be charged. A repaired account is charged at once for failed renewals.
  public mutating func setBilling(works: Bool, storeAccount: String, now: Timestamp) {
    advance(to: now)
    settings[storeAccount, default: StoreAccount()].billingWorks = works
    guard works else { return }
    for id in subscriptions.keys.sorted() where subscriptions[id]?.storeAccount == storeAccount {
      guard var subscription = subscriptions[id],
        subscription.recover(transactionID: nextTransactionID, now: now)
      else { continue }
      note(.recovered, chargeLast(of: subscription, now: now).transactionID, now: now)
    }
  }

  /// Raises a product's price. New customers pay it at once, subscribers from the next renewal on, and only with
  /// consent if consent is needed.
  public mutating func raisePrice(
    product productID: String, to price: Int64, needsConsent: Bool, now: Timestamp
  ) throws(StoreModelError) {
    advance(to: now)
    guard products[productID] != nil else { throw .unknownProduct(productID) }
    products[productID]?.price = price
    raisedPrices[productID] = price
    for id in subscriptions.keys.sorted() {
      guard var subscription = subscriptions[id], subscription.nextPlan.productID == productID,
        subscription.raisePrice(to: price, needsConsent: needsConsent)
      else { continue }
      keep(subscription)
      note(.priceRaised(isPending: needsConsent), subscription.last.transactionID, now: now)
    }
  }

  /// Records a subscriber's answer to a higher price; false if there was no question.
  @discardableResult
  public mutating func answerPriceIncrease(
    transactionID: String, consents: Bool, now: Timestamp
  ) throws(StoreModelError) -> Bool {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard var subscription = subscriptions[record.originalTransactionID] else {
      throw .noSubscription(transactionID)
    }
    guard subscription.answerPriceIncrease(consents: consents) else { return false }
    keep(subscription)
    note(
      consents ? .priceRaised(isPending: false) : .priceDeclined, subscription.last.transactionID, now: now)
    return true
  }

  /// Removes a product from sale, or puts it back. Subscriptions to a removed product end with their period.
  public mutating func setForSale(_ isForSale: Bool, product productID: String) throws(StoreModelError) {
    guard products[productID] != nil else { throw .unknownProduct(productID) }
    if isForSale { withdrawn.remove(productID) } else { withdrawn.insert(productID) }
  }
}
