package import PurchaseQueue

/// Decides to which order a transaction belongs (R4.5): classify, bind exactly, propose.
///
/// A pure function of the transaction and the facts, without a clock and without a state of its own: a restart changes
/// nothing. In this order:
///
/// 1. Bound before: the same order, whatever else is said.
/// 2. A token, on what a customer paid for: its order, if no other transaction has it and product and quantity agree;
///    also a cancelled or expired one. A transaction with a token is never proposed.
/// 3. No token, and a purchase: candidates, from the times of orders and payment alone.
/// 4. Everything else fulfils no order, and has an owner where one is known.
///
/// **One token on two payments.** The first that is committed has the order, the second has its owner: the account
/// of the token is beyond doubt, only the order is taken. No rule could do without arrival here: a binding is
/// immutable and is committed when the first arrives, when nobody can know of the second. Nothing that counts
/// depends on it: both payments agree with the order in product, quantity and account, so whichever has it, the
/// order is fulfilled once and the account gets both.
///
/// **Arrival.** Otherwise the result follows from orders and transactions, not from their sequence. What can differ is
/// how much is known: an order that is taken is no candidate any longer, and of a renewal that arrives before its
/// original nobody knows the owner. Then it is in the device lane instead of the account's, never in another account's;
/// the backend, which knows the original, grants it to the owner (`otherOwner`).
package enum OrderMatcher {
  /// Matches a transaction by what a source knows. `key` is its name, for whoever has it already.
  package static func match(
    _ transaction: StoreTransaction, named key: EntryKey? = nil, from source: some MatchSource,
    window: MatchWindow = MatchWindow()
  ) throws(QueueError) -> OrderMatch {
    let classified = Classification(transaction)
    let facts = try MatchFacts(
      of: transaction, named: key ?? transaction.key, classified: classified, from: source, window: window)
    return decide(transaction, classified: classified, facts)
  }

  /// What the store hands over at once, in the order in which it is best taken in: as it was paid, the first of a
  /// chain before what follows it, so that every owner that can be inherited is known.
  package static func sorted(_ batch: [StoreTransaction]) -> [StoreTransaction] {
    batch.sorted { left, right in
      if left.purchasedAt != right.purchasedAt { return left.purchasedAt < right.purchasedAt }
      let isFirst = left.transactionID == left.originalTransactionID
      if isFirst != (right.transactionID == right.originalTransactionID) { return isFirst }
      return left.key.rawValue < right.key.rawValue
    }
  }

  /// The decision itself.
  package static func decide(
    _ transaction: StoreTransaction, classified: Classification, _ facts: MatchFacts
  ) -> OrderMatch {
    var match = OrderMatch(
      kind: .none, lane: .device, transactionClass: classified.transactionClass, evidence: [])
    if let known = facts.known, let number = known.orderNumber {
      match.kind = .bound(orderNumber: number)
      match.lane = known.lane
      match.evidence = [.boundBefore]
      return match
    }
    var owner: String?
    if classified.fulfilsTokenOrder, transaction.accountToken != nil {
      owner = bind(&match, transaction, facts)
      if match.orderNumber != nil { return match }
    } else if classified.isProposed {
      propose(&match, facts)
      if !match.candidates.isEmpty { return match }
    } else {
      match.evidence = [.fulfilsNoOrder]
    }
    inherit(&match, owner, classified, facts)
    return match
  }

  /// Binds, or says why not, and whose it is in spite of that.
  private static func bind(
    _ match: inout OrderMatch, _ transaction: StoreTransaction, _ facts: MatchFacts
  ) -> String? {
    guard let order = facts.tokenOrder else {
      match.evidence = [.tokenUnknown]
      return nil
    }
    guard order.agrees(with: transaction) else {
      match.evidence = [.tokenOrderDiffers]
      return nil
    }
    if let other = order.boundTo, other != transaction.key {
      match.evidence = [.tokenOrderTaken]
      return order.account
    }
    // It may wait in the device lane since before the order was known here. It stays there, and the backend
    // grants it to the order's account; but nobody's claim goes up in the name of another account.
    let lane = facts.known?.lane ?? .account(order.account)
    guard lane == .device || lane == .account(order.account) else {
      match.evidence = [.tokenOrderOfAnotherAccount]
      return nil
    }
    match.kind = .bound(orderNumber: order.number)
    match.lane = lane
    match.evidence = [.accountToken]
    return nil
  }

  private static func propose(_ match: inout OrderMatch, _ facts: MatchFacts) {
    var candidates = facts.candidates
    if case .account(let account)? = facts.known?.lane { candidates.removeAll { $0.account != account } }
    guard let first = candidates.first else {
      match.evidence = [.noOpenOrder]
      return
    }
    match.kind = .proposed(candidates: candidates.map(\.number))
    match.evidence = [.window]
    if candidates.count > 1 {
      match.evidence.append(.positionByTime)
    } else if !facts.hasMoreCandidates {
      match.evidence.append(.onlyOpenOrder)
    }
    if facts.hasMoreCandidates { match.evidence.append(.moreCandidates) }
    if facts.hasSeveralAccounts { match.evidence.append(.severalAccounts) }
    match.lane = facts.known?.lane ?? (facts.hasSeveralAccounts ? .device : .account(first.account))
  }

  private static func inherit(
    _ match: inout OrderMatch, _ owner: String?, _ classified: Classification, _ facts: MatchFacts
  ) {
    if let known = facts.known {
      match.lane = known.lane
      match.evidence.append(.ownerBefore)
    } else if let account = owner ?? (classified.inheritsByToken ? facts.tokenOrder?.account : nil) {
      // Before the original: the token is in the transaction itself, so this does not wait for another to arrive.
      match.lane = .account(account)
      match.evidence.append(.ownerByToken)
    } else if let account = facts.originalOwner {
      match.lane = .account(account)
      match.evidence.append(.ownerByOriginal)
    }
  }
}
