import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSync

extension BackendModel {
  /// The target of a grant. A genuine payment always has one.
  enum Destination {
    case order(BackendOrder)
    /// No order; the reason is for logs.
    case owner(Uploader, reason: String?)
  }

  /// Finds the order or the owner. The token in the verified transaction wins over what the claim says.
  func destination(of claim: Claim, _ facts: VerifiedTransaction, from uploader: Uploader) -> Destination {
    let found = claimed(claim, facts, from: uploader)
    return facts.bundle == nil ? found : inBundle(found, of: claim, facts)
  }

  private func claimed(_ claim: Claim, _ facts: VerifiedTransaction, from uploader: Uploader) -> Destination {
    if facts.originalTransactionID != facts.transactionID {
      return later(facts) ?? .owner(inheritedOwner(facts) ?? uploader, reason: nil)
    }
    // Whatever the claim says, what another person has paid pays no order here.
    guard !facts.isOfAnotherPayer else { return .owner(uploader, reason: nil) }
    if let named = named(claim, facts) { return named }
    switch claim.match {
    case .bound: return bound(claim, facts, from: uploader)
    case .proposed: return proposed(claim, facts, from: uploader)
    default: return .owner(uploader, reason: nil)
    }
  }

  /// The destination by the account token: its account gets what the proof holds, whatever the claim says. Nil for a token
  /// that names none of this backend's orders: it is none.
  private func named(_ claim: Claim, _ facts: VerifiedTransaction) -> Destination? {
    let orders = tokenOrders(of: facts)
    guard let first = orders.first else { return nil }
    let account = Uploader.account(first.account)
    if let order = payable(orders, claim, facts) { return .order(order) }
    return .owner(
      account, reason: orders.contains { agrees($0, with: facts) } ? Self.fulfilled : Self.differs)
  }

  /// The order of a token that the transaction pays for: without a transaction, of its product and quantity. If several
  /// have the token, the one that the claim names, or else the latest that was made before the payment.
  private func payable(
    _ orders: [BackendOrder], _ claim: Claim?, _ facts: VerifiedTransaction
  ) -> BackendOrder? {
    let free = orders.filter { $0.fulfilledBy == nil && agrees($0, with: facts) }
    guard orders.count > 1 else { return free.first }
    let names = [claim?.orderNumber].compactMap { $0 } + (claim?.candidates ?? [])
    for name in names {
      if let order = free.first(where: { $0.number == name }) { return order }
    }
    let made = free.filter { isMade($0, before: facts) }
    return made.last { $0.quantity == facts.quantity && $0.state != .cancelled }
      ?? made.last { $0.state != .cancelled } ?? made.last
  }

  private static let fulfilled = "another transaction had fulfilled the order"
  private static let differs = "the order is for another product or quantity"

  /// The order of a claim without a token of ours: the device's word is all there is.
  ///
  /// An order that this backend does not have was lost with a restored backup, or pruned; one that differs was not paid.
  /// The payment is real, and no one else has a claim to it, so the uploader gets it without the order. A second payment
  /// for a fulfilled order is real money, too, perhaps paid on two devices at once: the order's owner gets it without an
  /// order, which keeps the binding one to one.
  private func bound(_ claim: Claim, _ facts: VerifiedTransaction, from uploader: Uploader) -> Destination {
    guard let order = claim.orderNumber.flatMap({ order(number: $0) }) else {
      return .owner(uploader, reason: "the order is not known here")
    }
    guard agrees(order, with: facts) else { return .owner(uploader, reason: Self.differs) }
    guard order.fulfilledBy == nil else { return .owner(.account(order.account), reason: Self.fulfilled) }
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
    guard isMade(order, before: facts) else { return false }
    return order.expiresAt.map { facts.purchaseDate < $0.milliseconds } ?? true
  }

  /// Receipts have whole seconds (StoreFacts b.4), so an order may seem to be up to one younger.
  private func isMade(_ order: BackendOrder, before facts: VerifiedTransaction) -> Bool {
    facts.purchaseDate >= order.createdAt.milliseconds - order.createdAt.milliseconds % 1_000
  }

  /// The order of a bundle names the bundle, and each transaction of its payment one subscription. Of a subscription the order
  /// says how many seats there will be, and the store charges those that are missing: any number of them pays it.
  func agrees(_ order: BackendOrder, with facts: VerifiedTransaction) -> Bool {
    order.productID == facts.soldProductID && (order.quantity == facts.quantity || facts.expiresDate != nil)
  }

  /// The destination of a later transaction of a chain by its account token; nil without a token of ours.
  ///
  /// Only what a customer bought fulfils the token's order: a subscription that is bought again keeps its original
  /// transaction id, and has a token of its own. A renewal repeats the token of the purchase that it renews, so it
  /// belongs to the account of that order, and fulfils none.
  func later(_ facts: VerifiedTransaction) -> Destination? {
    let orders = tokenOrders(of: facts)
    guard let first = orders.first else { return nil }
    let isBought = facts.reason == .purchase && facts.expiresDate != nil
    guard isBought, let order = payable(orders, nil, facts) else {
      return .owner(.account(first.account), reason: nil)
    }
    return .order(order)
  }

  /// The order that the account token names: the one that the transaction pays for, if there are several. The token of what
  /// another person has paid is none of this customer's.
  func tokenOrder(of facts: VerifiedTransaction) -> BackendOrder? {
    let orders = tokenOrders(of: facts)
    return payable(orders, nil, facts) ?? orders.first
  }

  private func tokenOrders(of facts: VerifiedTransaction) -> [BackendOrder] {
    facts.ownToken.map { orders(accountToken: $0) } ?? []
  }

  /// The owner of a later transaction of a chain: the account of its token's order. Without such a token, the owner of
  /// the nearest earlier period that was granted, else of the original transaction, else of any granted period.
  func inheritedOwner(_ facts: VerifiedTransaction) -> Uploader? {
    if let order = tokenOrder(of: facts) { return .account(order.account) }
    guard !isApart(facts) else { return nil }
    let isChain = facts.expiresDate != nil && !facts.environment.reusesTransactionIDs
    let granted = isChain ? periods(of: ChainKey(facts)).filter { !credits(for: $0.transaction).isEmpty } : []
    let place = Purchase(facts, at: Timestamp(milliseconds: 0)).place
    if let nearest = granted.last(where: { $0.place < place }) {
      return presentOwner(of: nearest.transaction)
    }
    // The store may have given the chain another first id since.
    for id in [facts.originalTransactionID, facts.previousOriginalTransactionID] {
      var original = TransactionKey(facts)
      guard let id else { continue }
      original.transactionID = id
      if let owner = presentOwner(of: original) { return owner }
    }
    return granted.first.flatMap { presentOwner(of: $0.transaction) } ?? payer(ofBundle: facts)
  }

  /// Whether a transaction is an assigned seat that says nothing of its subscription's owner: its first transaction is the
  /// purchaser's, or is not known. The sources do not say whose id a seat has, so only a first transaction that is a seat
  /// itself makes the others the same member's.
  func isApart(_ facts: VerifiedTransaction) -> Bool {
    guard facts.ownership == .assigned, facts.originalTransactionID != facts.transactionID else {
      return false
    }
    var first = TransactionKey(facts)
    first.transactionID = facts.originalTransactionID
    return purchase(first)?.facts.ownership != .assigned
  }

  /// The present owner of a transaction's credit; nil without a credit.
  func presentOwner(of transaction: TransactionKey) -> Uploader? {
    credits(for: transaction).first.map(owner(of:))
  }
}
