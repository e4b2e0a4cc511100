package import Foundation
package import PurchaseQueue
package import PurchaseSync

/// Orders and transactions in memory. Matching one transaction takes time in proportion to log n.
///
/// It holds the same facts as the journal: if both are filled from the same orders and the same known
/// transactions, both give the same answers. For simulations, tests and measurements; the product uses the
/// journal's queries.
package struct OrderBook: MatchSource, Sendable {
  private struct Product: Hashable {
    var productID: String
    var quantity: Int
  }

  /// The orders of one product and quantity.
  private struct Shelf {
    /// Orders that can be proposed.
    var unbound = OrderTimeline()
    /// Orders that count for `hasSeveralAccounts`.
    var byAccount: [String: OrderTimeline] = [:]
  }

  private struct TokenShelf: Hashable {
    var token: UUID
    var product: Product?
  }

  private var orders: [OrderFacts] = []
  private var tokens: [UUID] = []
  /// The shelf of each order, by the order's slot.
  private var shelfOfOrder: [Int] = []
  private var slotByNumber: [String: Int] = [:]
  /// The first order of each token.
  private var slotByToken: [UUID: Int] = [:]
  /// Of a token that several orders have: all of its orders, and those of each product.
  private var shared: [TokenShelf: [OrderTimeline]] = [:]
  private var shelves: [Shelf] = []
  private var shelfByProduct: [Product: Int] = [:]
  private var transactions: [EntryKey: KnownTransaction] = [:]
  /// Of subscriptions in a bundle, the payment of the bundle.
  private var bundlePayments: [EntryKey: String] = [:]
  /// For orders that are not in this book: the transaction that has the order.
  private var foreign: [String: EntryKey] = [:]

  package init() {}

  // MARK: Orders

  /// Adds an order, or takes over the newer state of a known one. A binding never changes.
  ///
  /// A number names one order permanently, so product and account of a known order never change. A token names one order,
  /// or the orders of one account.
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
    tokens.append(accountToken)
    slotByNumber[order.number] = slot
    if let first = slotByToken[accountToken] {
      if shared[TokenShelf(token: accountToken)] == nil { share(first) }
      share(slot)
    } else {
      slotByToken[accountToken] = slot
    }
    let product = Product(productID: order.productID, quantity: order.quantity)
    let shelf = shelfByProduct[product] ?? shelves.count
    if shelf == shelves.count {
      shelves.append(Shelf())
      shelfByProduct[product] = shelf
    }
    shelfOfOrder.append(shelf)
    arrange(slot, wasUnbound: false, wasCounted: false)
  }

  /// The order with this number.
  package func order(_ number: String) -> OrderFacts? { slotByNumber[number].map { orders[$0] } }

  /// Sets the state that follows from a verdict: fulfilled, or refunded.
  package mutating func set(_ state: OrderState, of number: String) {
    guard let slot = slotByNumber[number], orders[slot].state != state else { return }
    update(slot) { $0.state = state }
  }

  private mutating func share(_ slot: Int) {
    let (shelves, mark, place) = (tokenShelves(of: slot), mark(of: slot), orders[slot].boundTo == nil ? 0 : 1)
    for shelf in shelves { shared[shelf, default: [OrderTimeline(), OrderTimeline()]][place].insert(mark) }
  }

  private func tokenShelves(of slot: Int) -> [TokenShelf] {
    let product = Product(productID: orders[slot].productID, quantity: orders[slot].quantity)
    return [TokenShelf(token: tokens[slot]), TokenShelf(token: tokens[slot], product: product)]
  }

  private func mark(of slot: Int) -> OrderTimeline.Mark {
    OrderTimeline.Mark(createdAt: orders[slot].createdAt, number: orders[slot].number, slot: slot)
  }

  private mutating func update(_ slot: Int, _ change: (inout OrderFacts) -> Void) {
    let (wasUnbound, wasCounted) = (orders[slot].canBeProposed, orders[slot].isCounted)
    let wasFree = orders[slot].boundTo == nil
    change(&orders[slot])
    if wasFree, orders[slot].boundTo != nil, !shared.isEmpty {
      let (shelves, mark) = (tokenShelves(of: slot), mark(of: slot))
      for shelf in shelves where shared[shelf] != nil {
        shared[shelf]?[0].remove(mark)
        shared[shelf]?[1].insert(mark)
      }
    }
    arrange(slot, wasUnbound: wasUnbound, wasCounted: wasCounted)
  }

  /// Moves an order to its place on its shelf.
  private mutating func arrange(_ slot: Int, wasUnbound: Bool, wasCounted: Bool) {
    let (isUnbound, isCounted) = (orders[slot].canBeProposed, orders[slot].isCounted)
    let mark = mark(of: slot)
    let shelf = shelfOfOrder[slot]
    if isUnbound, !wasUnbound { shelves[shelf].unbound.insert(mark) }
    if wasUnbound, !isUnbound { shelves[shelf].unbound.remove(mark) }
    let account = orders[slot].account
    if isCounted, !wasCounted { shelves[shelf].byAccount[account, default: OrderTimeline()].insert(mark) }
    if wasCounted, !isCounted { shelves[shelf].byAccount[account]?.remove(mark) }
  }

  // MARK: Transactions

  /// Takes over the facts that a storage has about a transaction. If its order is in this book, the order's
  /// `boundTo` agrees.
  package mutating func insert(_ known: KnownTransaction, of key: EntryKey) { transactions[key] = known }

  /// The transaction is part of this payment of a bundle.
  package mutating func note(bundlePayment: String, of key: EntryKey) { bundlePayments[key] = bundlePayment }

  /// Forgets the transaction, except for the order that is bound to it, if this book has that order.
  package mutating func forget(_ key: EntryKey) {
    let number = transactions.removeValue(forKey: key)?.orderNumber
    bundlePayments[key] = nil
    if let number, foreign[number] == key { foreign[number] = nil }
    guard let number, let order = order(number), order.boundTo == key else { return }
    transactions[key] = KnownTransaction(lane: .account(order.account), orderNumber: number)
  }

  /// Applies the commit of a match: the transaction is known from now on, and bound if the match says so.
  ///
  /// Throws and changes nothing if an order would get two transactions, or a transaction two orders.
  package mutating func record(_ match: OrderMatch, of key: EntryKey) throws(QueueError) {
    if let number = match.orderNumber { try bind(key, to: number, lane: match.lane) }
    if transactions[key] == nil { transactions[key] = KnownTransaction(lane: match.lane) }
  }

  /// Binds a transaction to an order permanently. The order need not be in this book.
  ///
  /// Throws and changes nothing if either is bound to another.
  package mutating func bind(_ key: EntryKey, to number: String, lane: Lane) throws(QueueError) {
    try bind(key, to: number, lane: lane, isVerdict: false)
  }

  /// - Parameter isVerdict: a verdict may name another order than the known one, if that is not in this book.
  package mutating func bind(
    _ key: EntryKey, to number: String, lane: Lane, isVerdict: Bool
  ) throws(QueueError) {
    var known = transactions[key] ?? KnownTransaction(lane: lane)
    if let bound = known.orderNumber {
      if bound == number { return }
      // The journal of a file does not list the orders of other devices, and a verdict about those is believed.
      let isForeign = slotByNumber[bound] == nil
      let other = slotByNumber[number].flatMap { orders[$0].boundTo }
      guard isForeign, isVerdict || other != nil else {
        throw .invalid(what: "transaction \(key) is bound to order \(bound), not to \(number)")
      }
    }
    let slot = slotByNumber[number]
    if let holder = slot.map({ orders[$0].boundTo }) ?? foreign[number], holder != key {
      throw .invalid(what: "order \(number) is bound to transaction \(holder), not to \(key)")
    }
    if let slot {
      update(slot) { order in
        order.boundTo = key
        if ![.delivered, .refunded, .partlyRefunded].contains(order.state) { order.state = .paid }
      }
    } else {
      foreign[number] = key
    }
    if let bound = known.orderNumber, foreign[bound] == key { foreign[bound] = nil }
    known.orderNumber = number
    transactions[key] = known
  }

  /// The transaction that has an order that is not in this book, such as one made on another device; nil if
  /// none has.
  package func holder(ofForeign number: String) -> EntryKey? {
    slotByNumber[number] == nil ? foreign[number] : nil
  }

  // MARK: MatchSource

  package func orders(_ query: TokenQuery) -> [OrderFacts] {
    guard let first = slotByToken[query.token], query.limit > 0 else { return [] }
    func isMeant(_ order: OrderFacts) -> Bool {
      guard let product = query.product else { return true }
      return order.productID == product.id && product.quantity.map { $0 == order.quantity } ?? true
    }
    guard shared[TokenShelf(token: query.token)] != nil else {
      return isMeant(orders[first]) ? [orders[first]] : []
    }
    // The orders of each quantity have a shelf; without a quantity all of the token are read.
    let product = query.product.flatMap { product in
      product.quantity.map { Product(productID: product.id, quantity: $0) }
    }
    var found: [OrderFacts] = []
    for timeline in shared[TokenShelf(token: query.token, product: product)] ?? [] {
      timeline.forEach(
        from: Timestamp(milliseconds: .min), through: Timestamp(milliseconds: .max), isLatestFirst: true
      ) { slot in
        guard found.count < query.limit else { return false }
        if isMeant(orders[slot]) { found.append(orders[slot]) }
        return found.count < query.limit
      }
    }
    return found
  }

  package func knownTransaction(_ key: EntryKey) -> KnownTransaction? { transactions[key] }

  package func unboundOrders(_ query: OrderQuery) -> [OrderFacts] {
    guard query.limit > 0, let shelf = shelf(query) else { return [] }
    var found: [OrderFacts] = []
    shelves[shelf].unbound.forEach(
      from: query.from, through: query.through, isLatestFirst: query.isLatestFirst
    ) { slot in
      found.append(orders[slot])
      return found.count < query.limit
    }
    return found
  }

  package func payer(ofBundle payment: String, _ query: OrderQuery) -> String? {
    let keys = bundlePayments.filter { $0.value == payment }.keys.sorted { $0.rawValue < $1.rawValue }
    for order in keys.compactMap({ transactions[$0]?.orderNumber }).compactMap({ order($0) })
    where order.boundTo != nil && order.productID == query.productID && order.quantity == query.quantity
      && query.from <= order.createdAt && order.createdAt <= query.through
    {
      return order.account
    }
    return nil
  }

  package func hasSeveralAccounts(_ query: OrderQuery) -> Bool {
    guard let shelf = shelf(query), shelves[shelf].byAccount.count > 1 else { return false }
    var count = 0
    for orders in shelves[shelf].byAccount.values
    where orders.hasAny(from: query.from, through: query.through) {
      count += 1
      if count > 1 { return true }
    }
    return false
  }

  private func shelf(_ query: OrderQuery) -> Int? {
    shelfByProduct[Product(productID: query.productID, quantity: query.quantity)]
  }

  /// `OrderMatcher.match` with this book as its source.
  package func match(
    _ transaction: StoreTransaction, window: MatchWindow = MatchWindow()
  ) throws(QueueError) -> OrderMatch {
    try OrderMatcher.match(transaction, from: self, window: window)
  }
}

extension OrderFacts {
  /// Whether the order is unbound and a transaction may be bound to it: `MatchSource.unboundOrders`. An
  /// unknown state counts as open.
  fileprivate var canBeProposed: Bool {
    boundTo == nil && state != .cancelled && state != .alreadyOwned && state != .paid && state != .delivered
      && state != .refunded && state != .partlyRefunded
  }

  /// Whether the order counts for `MatchSource.hasSeveralAccounts`.
  fileprivate var isCounted: Bool { boundTo != nil || state != .cancelled && state != .alreadyOwned }
}
