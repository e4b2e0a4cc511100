package import Foundation
package import PurchaseQueue

/// Orders and transactions in memory, arranged so that matching one transaction takes time in proportion to log n.
///
/// Holds what a journal holds durably and nothing more: one that is filled from the same orders and the same known
/// transactions answers the same. For simulations, tests and measurements; the journal answers by queries.
package struct OrderBook: MatchSource, Sendable {
  private struct Product: Hashable {
    var productID: String
    var quantity: Int
  }

  /// The orders of one product and quantity.
  private struct Shelf {
    /// Unbound and not cancelled.
    var unbound = OrderTimeline()
    /// All but cancelled ones that no transaction is bound to.
    var byAccount: [String: OrderTimeline] = [:]
  }

  private var orders: [OrderFacts] = []
  private var slotByNumber: [String: Int] = [:]
  private var slotByToken: [UUID: Int] = [:]
  private var shelves: [Product: Shelf] = [:]
  private var transactions: [EntryKey: KnownTransaction] = [:]

  package init() {}

  // MARK: Orders

  /// Adds an order, or takes over the newer state of one that is here. Its binding stays: it never changes.
  ///
  /// A number or a token names one order for ever, so neither product nor account of a known one change.
  package mutating func insert(_ order: OrderFacts, accountToken: UUID) {
    if let slot = slotByNumber[order.number] {
      update(slot) { known in
        known.state = order.state
        known.expiresAt = order.expiresAt
        known.boundTo = known.boundTo ?? order.boundTo
      }
      return
    }
    let slot = orders.count
    orders.append(order)
    slotByNumber[order.number] = slot
    slotByToken[accountToken] = slot
    arrange(slot, isAdded: true)
  }

  /// The order with this number.
  package func order(_ number: String) -> OrderFacts? { slotByNumber[number].map { orders[$0] } }

  private mutating func update(_ slot: Int, _ change: (inout OrderFacts) -> Void) {
    arrange(slot, isAdded: false)
    change(&orders[slot])
    arrange(slot, isAdded: true)
  }

  /// Puts an order on its shelf or takes it from there.
  private mutating func arrange(_ slot: Int, isAdded: Bool) {
    let order = orders[slot]
    let isUnbound = order.boundTo == nil && !order.state.isPastOrTaken
    guard order.boundTo != nil || order.state != .cancelled else { return }
    let mark = OrderTimeline.Mark(createdAt: order.createdAt, number: order.number, slot: slot)
    let product = Product(productID: order.productID, quantity: order.quantity)
    if isAdded {
      if isUnbound { shelves[product, default: Shelf()].unbound.insert(mark) }
      shelves[product, default: Shelf()].byAccount[order.account, default: OrderTimeline()].insert(mark)
    } else {
      if isUnbound { shelves[product]?.unbound.remove(mark) }
      shelves[product]?.byAccount[order.account]?.remove(mark)
    }
  }

  // MARK: Transactions

  /// Takes over what a storage knows of a transaction. Its order, if it is here, says the same in `boundTo`.
  package mutating func insert(_ known: KnownTransaction, of key: EntryKey) { transactions[key] = known }

  /// What a commit makes of a match: the transaction is known, and bound if the match says so.
  ///
  /// Throws, and changes nothing, if that would give an order two transactions or a transaction two orders.
  package mutating func record(_ match: OrderMatch, of key: EntryKey) throws(QueueError) {
    if let number = match.orderNumber { try bind(key, to: number, lane: match.lane) }
    if transactions[key] == nil { transactions[key] = KnownTransaction(lane: match.lane) }
  }

  /// Binds a transaction to an order, for ever; the order may be one that is not known here.
  ///
  /// Throws, and changes nothing, if either is bound to another.
  package mutating func bind(_ key: EntryKey, to number: String, lane: Lane) throws(QueueError) {
    var known = transactions[key] ?? KnownTransaction(lane: lane)
    if let bound = known.orderNumber {
      guard bound == number else {
        throw .invalid(what: "transaction \(key) is bound to order \(bound), not to \(number)")
      }
      return
    }
    if let slot = slotByNumber[number] {
      if let other = orders[slot].boundTo, other != key {
        throw .invalid(what: "order \(number) is bound to transaction \(other), not to \(key)")
      }
      update(slot) { order in
        order.boundTo = key
        if order.state != .delivered { order.state = .paid }
      }
    }
    known.orderNumber = number
    transactions[key] = known
  }

  // MARK: MatchSource

  package func orderFacts(accountToken: UUID) -> OrderFacts? { slotByToken[accountToken].map { orders[$0] } }

  package func knownTransaction(_ key: EntryKey) -> KnownTransaction? { transactions[key] }

  package func unboundOrders(_ query: OrderQuery) -> [OrderFacts] {
    let product = Product(productID: query.productID, quantity: query.quantity)
    guard query.limit > 0, let shelf = shelves[product] else { return [] }
    var found: [OrderFacts] = []
    shelf.unbound.forEach(from: query.from, through: query.through, isLatestFirst: query.isLatestFirst) {
      found.append(orders[$0.slot])
      return found.count < query.limit
    }
    return found
  }

  package func accounts(_ query: OrderQuery) -> Set<String> {
    let product = Product(productID: query.productID, quantity: query.quantity)
    var found: Set<String> = []
    for (account, orders) in shelves[product]?.byAccount ?? [:]
    where orders.hasAny(from: query.from, through: query.through) {
      found.insert(account)
      if found.count > 1 { break }
    }
    return found
  }
}

extension OrderState {
  /// Whether nobody expects a payment for the order, or it has one. Words that are not known count as open.
  fileprivate var isPastOrTaken: Bool { self == .cancelled || self == .paid || self == .delivered }
}
