public import PurchaseQueue

/// Changes of a subscription that somebody wishes for.
extension StoreModel {
  /// Wishes for another plan of the group, in the store's settings or by paying in the app.
  ///
  /// Charges at once or at the renewal; see ``SubscriptionPlan/effect(of:)``. Throws where there is no such
  /// subscription, or it is over and has to be bought again.
  @discardableResult
  public mutating func changePlan(
    transactionID: String, to productID: String, now: Timestamp
  ) throws(StoreModelError) -> PlanEffect {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard let product = products[productID], !withdrawn.contains(productID) else {
      throw .unknownProduct(productID)
    }
    guard let life = lives[record.originalTransactionID], life.isEntitled, life.plan.groupID != nil,
      let plan = pace.plan(of: product), plan.groupID == life.plan.groupID
    else { throw .noSubscription(transactionID) }
    let payment = StorePayment(
      productID: productID, accountToken: record.accountToken, storeAccount: life.storeAccount)
    var draft = record
    draft.productID = productID
    return try changePlan(of: record.originalTransactionID, to: plan, draft, payment, now: now)
  }

  /// The same with the transaction that a change at once is to become, but for what its period says.
  mutating func changePlan(
    of original: String, to plan: SubscriptionPlan, _ draft: StoreTransactionRecord, _ payment: StorePayment,
    now: Timestamp
  ) throws(StoreModelError) -> PlanEffect {
    guard var life = lives[original] else { throw .noSubscription(original) }
    if life.plan.effect(of: plan) == .atOnce, !account(life.storeAccount).billingWorks {
      throw .paymentDeclined
    }
    let old = life.last
    let effect = life.change(to: plan, transactionID: nextTransactionID, now: now)
    switch effect {
    case .atOnce:
      // Before the new transaction: its notification tells the old one as it is then.
      markUpgraded(old.transactionID, returning: life.unusedPrice(of: old, at: now))
      let record = write(life, fresh(draft), payment, now: now)
      note(.planChanged(effect), record.transactionID, now: now)
    case .atRenewal, .reverted:
      keep(life)
      note(.planChanged(effect), old.transactionID, now: now)
    case .unchanged: break
    }
    return effect
  }

  /// A transaction of its own, made from another one of its chain.
  func fresh(_ record: StoreTransactionRecord) -> StoreTransactionRecord {
    var draft = record
    draft.transactionID = ""
    draft.originalTransactionID = ""
    draft.isFinished = false
    draft.revokedAt = nil
    draft.isUpgraded = false
    draft.returnedPrice = 0
    draft.cause = .purchase
    return draft
  }

  mutating func markUpgraded(_ transactionID: String, returning price: Int64) {
    guard let position = positions[transactionID] else { return }
    transactions[position].isUpgraded = true
    transactions[position].returnedPrice = price
    announce(position)
    upgradeShares(of: transactionID)
  }

  /// Turns renewal off, as a person does in the store's settings, or on again; false if that changes nothing.
  @discardableResult
  public mutating func setRenewal(
    on isOn: Bool, transactionID: String, now: Timestamp
  ) throws(StoreModelError) -> Bool {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard lives[record.originalTransactionID] != nil else { throw .noSubscription(transactionID) }
    return turnRenewal(on: isOn, of: record.originalTransactionID, now: now)
  }

  @discardableResult
  mutating func turnRenewal(on isOn: Bool, of original: String, now: Timestamp) -> Bool {
    guard var life = lives[original], life.turnRenewal(on: isOn) else { return false }
    keep(life)
    note(.renewalTurned(on: isOn), life.last.transactionID, now: now)
    if case .expired(let intent) = life.phase { note(.expired(intent), life.last.transactionID, now: now) }
    return true
  }

  /// Breaks a store account's way of paying, or repairs it: then what could not be renewed is charged at once.
  public mutating func setBilling(works: Bool, storeAccount: String, now: Timestamp) {
    advance(to: now)
    accounts[storeAccount, default: StoreAccount()].billingWorks = works
    guard works else { return }
    for id in lives.keys.sorted() where lives[id]?.storeAccount == storeAccount {
      guard var life = lives[id], life.recover(transactionID: nextTransactionID, now: now) else { continue }
      note(.recovered, chargeLast(of: life, now: now).transactionID, now: now)
    }
  }

  /// Raises a product's price: new customers pay it at once, subscribers from their next renewal on, and only if they
  /// consent where consent is needed.
  public mutating func raisePrice(
    product productID: String, to price: Int64, needsConsent: Bool, now: Timestamp
  ) throws(StoreModelError) {
    advance(to: now)
    guard products[productID] != nil else { throw .unknownProduct(productID) }
    products[productID]?.price = price
    for id in lives.keys.sorted() {
      guard var life = lives[id], life.nextPlan.productID == productID,
        life.raisePrice(to: price, needsConsent: needsConsent)
      else { continue }
      keep(life)
      note(.priceRaised(isPending: needsConsent), life.last.transactionID, now: now)
    }
  }

  /// A subscriber's answer to a higher price; false if nobody asked.
  @discardableResult
  public mutating func answerPriceIncrease(
    transactionID: String, consents: Bool, now: Timestamp
  ) throws(StoreModelError) -> Bool {
    advance(to: now)
    let record = transactions[try position(of: transactionID)]
    guard var life = lives[record.originalTransactionID] else { throw .noSubscription(transactionID) }
    guard life.answerPriceIncrease(consents: consents) else { return false }
    keep(life)
    note(consents ? .priceRaised(isPending: false) : .priceDeclined, life.last.transactionID, now: now)
    return true
  }

  /// Takes a product from sale, or puts it back; its subscriptions end with their periods.
  public mutating func setForSale(_ isForSale: Bool, product productID: String) throws(StoreModelError) {
    guard products[productID] != nil else { throw .unknownProduct(productID) }
    if isForSale { withdrawn.remove(productID) } else { withdrawn.insert(productID) }
  }
}
