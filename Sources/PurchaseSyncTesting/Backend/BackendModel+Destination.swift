import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

extension BackendModel {
  /// The target of a grant.
  enum Destination {
    case order(BackendOrder)
    /// No order; the reason is for logs.
    case owner(Uploader, reason: String?)
    case contradiction(String)
  }

  /// Finds the order or the owner. The token in the verified transaction wins over what the claim says.
  ///
  /// `isTokenProven` is whether the proof contains the token, so that the app can know it.
  func destination(
    of claim: Claim, _ facts: VerifiedTransaction, isTokenProven: Bool, from uploader: Uploader
  ) -> Destination {
    if facts.originalTransactionID != facts.transactionID {
      return later(facts) ?? .owner(inheritedOwner(facts) ?? uploader, reason: nil)
    }
    if let token = facts.appAccountToken {
      return named(by: token, claim, facts, isProven: isTokenProven, from: uploader)
    }
    switch claim.match {
    case .bound: return bound(claim, facts, from: uploader)
    case .proposed: return proposed(claim, facts, from: uploader)
    default: return .owner(uploader, reason: nil)
    }
  }

  /// The destination by the account token, without guessing: the token names an order of this backend, or none.
  private func named(
    by token: String, _ claim: Claim, _ facts: VerifiedTransaction, isProven: Bool, from uploader: Uploader
  ) -> Destination {
    guard let order = UUID(uuidString: token).flatMap({ order(accountToken: $0) }) else {
      // The payment belongs to no order of this backend, so the uploader gets the grant. A claim for an order
      // contradicts: that order has another token.
      guard claim.match == .bound else { return .owner(uploader, reason: nil) }
      if isLost(claim, from: uploader) { return .owner(uploader, reason: Self.lost) }
      return .contradiction("the account token names none of our orders, the claim one")
    }
    // The binding may come from an earlier verdict without knowledge of the token; the token also wins then.
    if claim.match == .bound, isProven, claim.orderNumber != order.number {
      return .contradiction("the account token names another order than the claim")
    }
    // If only the backend knows the token, the app's proposal was a guess, and the token is right.
    if claim.match == .proposed, isProven, claim.candidates?.contains(order.number) != true {
      return .contradiction("the account token names an order that is none of the candidates")
    }
    return checked(order, facts)
  }

  /// Whether an account claims an order that this backend does not have: it was lost with a restored backup, or pruned.
  /// The payment is real, and no one else has a claim to it, so the account gets it without the order.
  private func isLost(_ claim: Claim, from uploader: Uploader) -> Bool {
    uploader.account != nil && claim.order == nil
      && claim.orderNumber.map { order(number: $0) == nil } ?? false
  }

  private static let lost = "the order is not known here"

  private func bound(_ claim: Claim, _ facts: VerifiedTransaction, from uploader: Uploader) -> Destination {
    guard let number = claim.orderNumber, let order = order(number: number) else {
      return isLost(claim, from: uploader)
        ? .owner(uploader, reason: Self.lost) : .contradiction("there is no such order")
    }
    return checked(order, facts)
  }

  /// An order takes one transaction, of its product and quantity.
  ///
  /// A second payment for a fulfilled order is real money, perhaps paid on two devices at once. A rejection would leave
  /// it stuck for ever, and a binding would fulfil the order twice. So the order's owner gets it without an order,
  /// which keeps the binding one to one.
  private func checked(_ order: BackendOrder, _ facts: VerifiedTransaction) -> Destination {
    guard agrees(order, with: facts) else {
      return .contradiction("the order is for another product or quantity")
    }
    guard order.fulfilledBy == nil else {
      return .owner(.account(order.account), reason: "another transaction had fulfilled the order")
    }
    return .order(order)
  }

  /// The first candidate that waits for a payment, has this product and quantity, and was open when the store charged.
  ///
  /// An account's upload never takes another account's order. A device's upload takes none if orders of several
  /// accounts fit: that would be a guess with money.
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
    // Receipts have whole seconds (StoreFacts b.4), so the order may seem to be up to one younger.
    let made = order.createdAt.milliseconds - order.createdAt.milliseconds % 1_000
    guard facts.purchaseDate >= made else { return false }
    return order.expiresAt.map { facts.purchaseDate < $0.milliseconds } ?? true
  }

  func agrees(_ order: BackendOrder, with facts: VerifiedTransaction) -> Bool {
    order.productID == facts.productID && order.quantity == facts.quantity
  }

  /// The destination of a later transaction of a chain by its account token; nil without a token of ours.
  ///
  /// Only what a customer bought fulfils the token's order: a subscription that is bought again keeps its original
  /// transaction id, and has a token of its own. A renewal repeats the token of the purchase that it renews, so it
  /// belongs to the account of that order, and fulfils none.
  func later(_ facts: VerifiedTransaction) -> Destination? {
    guard let order = tokenOrder(of: facts) else { return nil }
    let isBought = facts.reason == .purchase && facts.expiresDate != nil
    guard isBought, order.fulfilledBy == nil, agrees(order, with: facts) else {
      return .owner(.account(order.account), reason: nil)
    }
    return .order(order)
  }

  /// The order that the account token names. The token of a shared purchase is that of the family member who paid.
  func tokenOrder(of facts: VerifiedTransaction) -> BackendOrder? {
    guard facts.ownership != .familyShared else { return nil }
    return facts.appAccountToken.flatMap { UUID(uuidString: $0) }.flatMap { order(accountToken: $0) }
  }

  /// The owner of a later transaction of a chain: the account of its token's order. Without such a token, the owner of
  /// the nearest earlier period that was granted, else of the original transaction, else of any granted period.
  func inheritedOwner(_ facts: VerifiedTransaction) -> Uploader? {
    if let order = tokenOrder(of: facts) { return .account(order.account) }
    let isChain = facts.expiresDate != nil && !facts.environment.reusesTransactionIDs
    let granted = isChain ? periods(of: ChainKey(facts)).filter { !credits(for: $0.transaction).isEmpty } : []
    let place = Purchase(facts, at: Timestamp(milliseconds: 0)).place
    if let nearest = granted.last(where: { $0.place < place }) {
      return presentOwner(of: nearest.transaction)
    }
    var original = TransactionKey(facts)
    original.transactionID = facts.originalTransactionID
    if let owner = presentOwner(of: original) { return owner }
    if let token = facts.appAccountToken.flatMap({ UUID(uuidString: $0) }),
      let order = order(accountToken: token)
    {
      return .account(order.account)
    }
    return granted.first.flatMap { presentOwner(of: $0.transaction) }
  }

  /// The present owner of a transaction's credit; nil without a credit.
  func presentOwner(of transaction: TransactionKey) -> Uploader? {
    credits(for: transaction).first.map(owner(of:))
  }
}
