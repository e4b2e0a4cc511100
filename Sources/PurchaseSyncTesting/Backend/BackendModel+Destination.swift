import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

extension BackendModel {
  /// Where a grant goes.
  enum Destination {
    case order(BackendOrder)
    /// No order; the reason is for logs, if there is anything to say.
    case owner(Uploader, reason: String?)
    case contradiction(String)
  }

  /// Finds the order or the owner. The token in the verified transaction wins over what the claim says.
  ///
  /// `isTokenProven` is whether the proof itself tells the token, so that the app can have known it.
  func destination(
    of claim: Claim, _ facts: VerifiedTransaction, isTokenProven: Bool, from uploader: Uploader
  ) -> Destination {
    if facts.originalTransactionID != facts.transactionID {
      return .owner(inheritedOwner(facts) ?? uploader, reason: nil)
    }
    if let token = facts.appAccountToken {
      return named(by: token, claim, facts, isProven: isTokenProven, from: uploader)
    }
    switch claim.match {
    case .bound: return bound(claim, facts)
    case .proposed: return proposed(claim, facts, from: uploader)
    default: return .owner(uploader, reason: nil)
    }
  }

  /// A transaction with a token is never guessed about: it names its order, or has none here.
  private func named(
    by token: String, _ claim: Claim, _ facts: VerifiedTransaction, isProven: Bool, from uploader: Uploader
  ) -> Destination {
    guard let order = UUID(uuidString: token).flatMap({ order(accountToken: $0) }) else {
      // Someone paid, and no order of ours asked for it: the grant is the uploader's, unless the claim
      // says that it is for an order, which has another token then.
      return claim.match == .bound
        ? .contradiction("the account token names none of our orders, the claim one")
        : .owner(uploader, reason: nil)
    }
    // A binding may follow from an earlier verdict, which did not know the token: then it wins as well.
    if claim.match == .bound, isProven, claim.orderNumber != order.number {
      return .contradiction("the account token names another order than the claim")
    }
    // Where only the backend knows the token, the app guessed in good faith, and the token is right.
    if claim.match == .proposed, isProven, claim.candidates?.contains(order.number) != true {
      return .contradiction("the account token names an order that is none of the candidates")
    }
    return checked(order, facts)
  }

  private func bound(_ claim: Claim, _ facts: VerifiedTransaction) -> Destination {
    guard let number = claim.orderNumber, let order = order(number: number) else {
      return .contradiction("there is no such order")
    }
    return checked(order, facts)
  }

  /// An order takes one transaction, of its product and quantity.
  ///
  /// A second payment for a fulfilled order is a person's money all the same, perhaps paid on two devices at
  /// once. Rejecting it would leave it stuck for ever, and binding it would fulfil the order twice; so the order's
  /// owner gets it without an order, which also keeps the binding one to one.
  private func checked(_ order: BackendOrder, _ facts: VerifiedTransaction) -> Destination {
    guard agrees(order, with: facts) else {
      return .contradiction("the order is for another product or quantity")
    }
    guard order.fulfilledBy == nil else {
      return .owner(.account(order.account), reason: "another transaction had fulfilled the order")
    }
    return .order(order)
  }

  /// The first candidate that waits for a payment, agrees, and was waiting when the store charged.
  ///
  /// An account's upload never takes another account's order, and a device's none if several accounts' orders would
  /// do: that would be a guess with money.
  private func proposed(_ claim: Claim, _ facts: VerifiedTransaction, from uploader: Uploader) -> Destination
  {
    var fitting: [BackendOrder] = []
    for number in claim.candidates ?? [] {
      guard let order = order(number: number), isWaiting(order, for: facts) else { continue }
      if case .account(let account) = uploader, account != order.account { continue }
      fitting.append(order)
    }
    guard let first = fitting.first else { return .owner(uploader, reason: nil) }
    guard fitting.allSatisfy({ $0.account == first.account }) else {
      return .owner(uploader, reason: "the candidates belong to several accounts")
    }
    return .order(first)
  }

  private func isWaiting(_ order: BackendOrder, for facts: VerifiedTransaction) -> Bool {
    let waiting: Set<OrderState> = [.open, .deferred, .paid]
    guard order.fulfilledBy == nil, waiting.contains(order.state), agrees(order, with: facts) else {
      return false
    }
    // Receipts have whole seconds (receipt-facts, b.4), so the order may seem to be up to one younger.
    let made = order.createdAt.milliseconds - order.createdAt.milliseconds % 1_000
    guard facts.purchaseDate >= made else { return false }
    return order.expiresAt.map { facts.purchaseDate < $0.milliseconds } ?? true
  }

  private func agrees(_ order: BackendOrder, with facts: VerifiedTransaction) -> Bool {
    order.productID == facts.productID && order.quantity == facts.quantity
  }

  /// Renewals and restores belong to whom the original belongs to, and fulfil no order. Where the original was never
  /// granted, an earlier period that was granted says whose the subscription is.
  func inheritedOwner(_ facts: VerifiedTransaction) -> Uploader? {
    var original = TransactionKey(facts)
    original.transactionID = facts.originalTransactionID
    if let credit = credits(for: original).first { return owner(of: credit) }
    let token = facts.appAccountToken.flatMap { UUID(uuidString: $0) }
    if let order = token.flatMap({ order(accountToken: $0) }) { return .account(order.account) }
    guard facts.expiresDate != nil, !facts.environment.reusesTransactionIDs else { return nil }
    let granted = periods(of: ChainKey(facts)).lazy.compactMap { credits(for: $0.transaction).first }.first
    return granted.map(owner(of:))
  }
}
