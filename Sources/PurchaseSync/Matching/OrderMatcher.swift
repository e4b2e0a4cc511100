package import PurchaseQueue

/// Decides to which order a transaction belongs (R4.5): classify, bind exactly, propose.
///
/// A pure function of the transaction and the facts, without a clock and without state: a restart changes
/// nothing. The rules, in this order:
///
/// 1. The transaction was bound before: it keeps its order, whatever the other facts say.
/// 2. A customer paid, and the transaction has a token that is known here: its account owns the transaction, whatever was
///    bought. Of the token's orders, the one gets it that has no other transaction and agrees in product and quantity. A
///    cancelled or expired order counts as well. If several agree, because the backend gives each account one token, the
///    one whose sheet returned the transaction gets it; without a sheet they are proposed, in the account's name.
/// 3. A purchase without a token, of an interface that can lose it: the order whose sheet returned it, or else candidates
///    that are found by the times of orders and payment alone.
/// 4. Everything else fulfils no order, and has an owner if one is known.
///
/// **A bundle.** The order names the bundle, and each transaction of its payment one subscription. The first that comes gets
/// the order, by its token, by the sheet or by the times; the others belong to the order's account: by the token, or
/// because a transaction of the same payment is bound to the order. So the order is fulfilled once.
///
/// **An order that differs.** The token of an order came with a payment for another product or quantity: a fault of the
/// store. The account gets what the proof holds. The order stays as it is: it waits for a payment
/// that agrees, and ends as each unpaid order does. Seats agree in any number: the order says how many there will be, and
/// the store charges those that are missing.
///
/// **What another person has paid.** An assigned seat and a family share pay no order, and their token, if they have one, is
/// the payer's: it is not looked at.
///
/// **One token on two payments.** The transaction that is committed first gets the order. The second gets the
/// order's account as its owner, because the token proves the account; only the order is taken. The result
/// has to depend on arrival here: a binding is immutable and is committed when the first transaction arrives,
/// before the second is known. The effect is the same either way: both payments agree with the order in
/// product, quantity and account, so the order is fulfilled once and the account gets both.
///
/// **Arrival.** In all other cases the result follows from orders and transactions, not from their sequence.
/// Only the amount of known facts can differ: an order that is taken is no longer a candidate, and the owner
/// of a renewal is unknown if the renewal arrives before its original, or if its token names an order that was made on
/// another device. Such a renewal is in the device lane instead of the account's lane, never in another account's. The
/// backend knows the owner, grants it to that account, and says whose it is (`PurchaseOwner`).
package enum OrderMatcher {
  /// Matches a transaction by the facts of a source. Pass `key` if the transaction's key is already computed.
  package static func match(
    _ transaction: StoreTransaction, named key: EntryKey? = nil, from source: some MatchSource,
    window: MatchWindow = MatchWindow(), user: AppUser = .none
  ) throws(QueueError) -> OrderMatch {
    let classified = Classification(transaction)
    let facts = try MatchFacts(
      of: transaction, named: key ?? transaction.key, classified: classified,
      isFromSheet: user.paidOrder != nil, from: source, window: window)
    var match = decide(transaction, classified: classified, facts, user)
    if transaction.ownToken?.isGuest == true, match.lane == .device { match.evidence.append(.guest) }
    return match
  }

  /// Sorts a batch for intake: by time of payment, and the first of a chain before its followers. Each owner
  /// that can be inherited is then known.
  package static func sorted(_ batch: [StoreTransaction]) -> [StoreTransaction] {
    batch.sorted { left, right in
      if left.purchasedAt != right.purchasedAt { return left.purchasedAt < right.purchasedAt }
      let isFirst = left.transactionID == left.originalTransactionID
      if isFirst != (right.transactionID == right.originalTransactionID) { return isFirst }
      return EntryKey.isBefore(left.key, right.key)
    }
  }

  /// Makes the decision from the facts.
  package static func decide(
    _ transaction: StoreTransaction, classified: Classification, _ facts: MatchFacts,
    _ user: AppUser = .none
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
    if classified.fulfilsTokenOrder, transaction.ownToken != nil {
      owner = bind(&match, facts, user)
    } else if classified.isProposed(isFromSheet: user.paidOrder != nil) {
      propose(&match, facts, user)
    } else {
      match.evidence = [classified.transactionClass == .purchase ? .notFromSheet : .fulfilsNoOrder]
    }
    guard match.kind == .none else { return match }
    inherit(&match, owner, classified, facts)
    let isUnclaimed = match.lane == .device && facts.known == nil && facts.tokenOrders == nil
    // A guest's purchase is the device's, whichever account is signed in.
    let isOthers = classified.isOfAnotherPayer || transaction.ownToken?.isGuest == true
    guard isUnclaimed, !isOthers else { return match }
    if transaction.ownToken != nil, user.isAskedAboutTokens {
      match.evidence.append(.appIsAsked)
    } else if let owner = user.ownerByPolicy {
      match.lane = owner.lane
      match.evidence.append(owner.evidence)
    }
    return match
  }

  /// Binds or proposes, or records why not. Returns the owner if the token proves one without an order.
  private static func bind(_ match: inout OrderMatch, _ facts: MatchFacts, _ user: AppUser) -> String? {
    guard let named = facts.tokenOrders else {
      match.evidence = [.tokenUnknown]
      return nil
    }
    guard let first = named.payable.first else {
      match.evidence = [named.hasAgreeing ? .tokenOrderTaken : .tokenOrderDiffers]
      return named.account
    }
    // The transaction may wait in the device lane since before its order was known here. It stays there, and
    // the backend grants it to the order's account. A claim is never uploaded in the name of another account.
    let lane = facts.known?.lane ?? .account(named.account)
    guard lane == .device || lane == .account(named.account) else {
      match.evidence = [.tokenOrderOfAnotherAccount]
      return nil
    }
    match.lane = lane
    match.evidence = [.accountToken]
    let paid = named.payable.count == 1 ? first : named.payable.first { $0.number == user.paidOrder }
    if let paid {
      match.kind = .bound(orderNumber: paid.number)
    } else {
      let most = MatchWindow().candidateLimit
      match.kind = .proposed(candidates: named.payable.prefix(most).map(\.number))
      match.evidence.append(.positionByTime)
      if named.payable.count > most { match.evidence.append(.moreCandidates) }
    }
    return nil
  }

  private static func propose(_ match: inout OrderMatch, _ facts: MatchFacts, _ user: AppUser) {
    var candidates = facts.candidates
    if let paid = candidates.first(where: { $0.number == user.paidOrder }), facts.known == nil {
      match.kind = .proposed(candidates: [paid.number])
      match.lane = .account(paid.account)
      match.evidence = [.window, .onlyOpenOrder]
      return
    }
    if let account = facts.known?.lane.account {
      candidates.removeAll { !$0.account.hasSameBytes(as: account) }
    }
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
    } else if let account = owner ?? (classified.inheritsByToken ? facts.tokenOrders?.account : nil) {
      // Before the original's owner: the token is in the transaction itself, so no other transaction has to
      // arrive first.
      match.lane = .account(account)
      match.evidence.append(.ownerByToken)
    } else if let account = facts.originalOwner {
      match.lane = .account(account)
      match.evidence.append(.ownerByOriginal)
    } else if let account = facts.bundleOwner {
      match.lane = .account(account)
      match.evidence.append(.ownerByBundle)
    }
  }

}

extension AppUser {
  /// The owner of an unclaimed purchase by the app's policy, and the evidence for it. Nil: it stays the device's.
  var ownerByPolicy: (lane: Lane, evidence: MatchEvidence)? {
    switch policy {
    case .device: return nil
    case .ask: return (.device, .ownerAsked)
    case .signedInAccount:
      // A name that is too long to be queued would keep the purchase out of the queue for good.
      guard let account, account.utf8.count <= Self.longestAccount else { return nil }
      return (.account(account), .ownerSignedIn)
    }
  }

  /// The most bytes of an account's name for which purchases are queued that no order was made for.
  static var longestAccount: Int { 1_024 }
}
