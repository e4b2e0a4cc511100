package import Foundation
package import PurchaseQueue

/// What matching needs to know of an order.
package struct OrderFacts: Sendable, Hashable {
  package var number: String
  package var account: String
  package var productID: String
  package var quantity: Int
  package var state: OrderState
  /// By the backend's clock.
  package var createdAt: Timestamp
  /// By the backend's clock.
  package var expiresAt: Timestamp?
  /// The transaction that it belongs to, if any. Never changes once it is set.
  package var boundTo: EntryKey?

  package init(
    number: String, account: String, productID: String, quantity: Int, state: OrderState = .open,
    createdAt: Timestamp, expiresAt: Timestamp? = nil, boundTo: EntryKey? = nil
  ) {
    self.number = number
    self.account = account
    self.productID = productID
    self.quantity = quantity
    self.state = state
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.boundTo = boundTo
  }

  package init(_ order: Order, expiresAt: Timestamp? = nil, boundTo: EntryKey? = nil) {
    self.init(
      number: order.number, account: order.account, productID: order.productID, quantity: order.quantity,
      state: order.state, createdAt: order.createdAt, expiresAt: expiresAt, boundTo: boundTo)
  }

  func agrees(with transaction: StoreTransaction) -> Bool {
    productID == transaction.productID && quantity == transaction.quantity
  }
}

/// What is known of a transaction that was here before.
package struct KnownTransaction: Sendable, Hashable {
  /// Where it waits, or waited.
  package var lane: Lane
  /// The order that it is bound to, if any. Never changes once it is set.
  package var orderNumber: String?

  package init(lane: Lane, orderNumber: String? = nil) {
    self.lane = lane
    self.orderNumber = orderNumber
  }
}

/// Asks for orders of one product and quantity that were made in a time.
package struct OrderQuery: Sendable, Hashable {
  package var productID: String
  package var quantity: Int
  /// From this moment, inclusive.
  package var from: Timestamp
  /// Through this moment, inclusive.
  package var through: Timestamp
  /// By `createdAt`, then by number; descending or ascending, both of them.
  package var isLatestFirst: Bool
  /// No more than so many.
  package var limit: Int
}

/// Whoever can tell what matching needs to know: the journal by queries, `OrderBook` from memory.
package protocol MatchSource {
  /// The order with this account token, in whatever state.
  func orderFacts(accountToken: UUID) throws(QueueError) -> OrderFacts?
  /// What is known of a transaction: from its entry, its tombstone, or the order that is bound to it.
  func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction?
  /// Orders that no transaction is bound to and that nobody cancelled: open, deferred and expired ones.
  func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts]
  /// Whether orders of more than one account were made in that time: all but cancelled ones that no transaction is
  /// bound to. Neither sequence nor limit of the query count.
  func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool
}

/// Within which time a transaction without a token can belong to an order, and how many candidates it gets.
///
/// The order's moments are by the backend's clock, the payment's by the store's. The device's clock has no say.
package struct MatchWindow: Sendable, Hashable {
  /// How much the two clocks may differ, in milliseconds.
  package var toleranceMilliseconds: Int64 = 60_000
  /// How long after it was made an order can be paid, unless it expires before that, in milliseconds. Approval (Ask to
  /// Buy) takes a day at most, a payment that the bank interrupted some days.
  package var lengthMilliseconds: Int64 = 7 * 86_400_000
  /// Candidates of one transaction.
  package var candidates = 16
  /// Orders that are looked at for candidates, before the payment and after it, where many had expired too early.
  package var scan = 64

  package init() {}

  /// Whether the order was open when the transaction was paid, by its times alone: an order that expired since then
  /// was paid in time all the same, and it must not matter when the transaction arrives.
  func holds(_ moment: Timestamp, of order: OrderFacts) -> Bool {
    guard order.createdAt <= moment.adding(milliseconds: toleranceMilliseconds) else { return false }
    let last = order.createdAt.adding(milliseconds: lengthMilliseconds)
    let end = min(order.expiresAt ?? last, last).adding(milliseconds: toleranceMilliseconds)
    guard moment <= end else { return false }
    // Without a moment of expiry there is nothing to tell whether it was in time.
    return order.state != .expired || order.expiresAt != nil
  }
}

/// What is known when a transaction arrives: all that the decision depends on.
package struct MatchFacts: Sendable, Hashable {
  /// The transaction itself, if it was here before.
  package var known: KnownTransaction?
  /// The order that its account token names.
  package var tokenOrder: OrderFacts?
  /// The account of its original transaction; nil for a first purchase.
  package var originalOwner: String?
  /// Orders that were open when it was paid and are unbound, the likeliest first. Only of what is proposed.
  package var candidates: [OrderFacts] = []
  /// Whether there are more.
  package var hasMoreCandidates = false
  /// Whether orders of several accounts were made for this product and quantity in the window, bound ones as well:
  /// which of them are bound depends on what happened to arrive first.
  package var hasSeveralAccounts = false

  package init() {}

  /// Asks a source for what the decision about this transaction needs, and no more.
  package init(
    of transaction: borrowing StoreTransaction, named key: EntryKey, classified: Classification,
    from source: some MatchSource, window: MatchWindow = MatchWindow()
  ) throws(QueueError) {
    known = try source.knownTransaction(key)
    if known?.orderNumber != nil { return }
    if let token = transaction.accountToken { tokenOrder = try source.orderFacts(accountToken: token) }
    if transaction.transactionID != transaction.originalTransactionID, let original = transaction.originalKey,
      case .account(let account)? = try source.knownTransaction(original)?.lane
    {
      originalOwner = account
    }
    guard transaction.accountToken == nil, classified.isProposed else { return }
    try propose(for: transaction, from: source, window: window)
  }

  private mutating func propose(
    for transaction: borrowing StoreTransaction, from source: some MatchSource, window: MatchWindow
  ) throws(QueueError) {
    let paid = transaction.purchasedAt
    let begin = paid.adding(milliseconds: -window.lengthMilliseconds - window.toleranceMilliseconds)
    let end = paid.adding(milliseconds: window.toleranceMilliseconds)
    var query = OrderQuery(
      productID: transaction.productID, quantity: transaction.quantity, from: begin, through: paid,
      isLatestFirst: true, limit: 0)
    try addCandidates(query, paid, from: source, window)
    query.from = paid.adding(milliseconds: 1)
    query.through = end
    query.isLatestFirst = false
    try addCandidates(query, paid, from: source, window)
    guard !candidates.isEmpty else { return }
    query.from = begin
    hasSeveralAccounts = try source.hasSeveralAccounts(query)
  }

  /// One more than is needed tells whether there are more. Only where some had expired before the payment, it takes a
  /// second and wider look.
  private mutating func addCandidates(
    _ query: OrderQuery, _ paid: Timestamp, from source: some MatchSource, _ window: MatchWindow
  ) throws(QueueError) {
    let room = window.candidates - candidates.count
    var query = query
    query.limit = room + 1
    var found = try source.unboundOrders(query)
    var isCut = found.count == query.limit
    found.removeAll { !window.holds(paid, of: $0) }
    if isCut, found.count < room {
      query.limit = max(window.scan, query.limit)
      found = try source.unboundOrders(query)
      isCut = found.count == query.limit
      found.removeAll { !window.holds(paid, of: $0) }
    }
    if isCut || found.count > room { hasMoreCandidates = true }
    if found.count > room { found.removeLast(found.count - room) }
    if candidates.isEmpty { candidates = found } else { candidates += found }
  }
}
