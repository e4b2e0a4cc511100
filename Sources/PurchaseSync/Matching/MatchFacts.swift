import AppStoreReceipts
package import PurchaseQueue

/// The properties of an order that matching uses. An order of a bundle has the bundle's product; the store makes a
/// transaction for each subscription in it.
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
  /// The transaction that the order belongs to, if any. Never changes once it is set.
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

  package init(_ order: PurchaseOrder, expiresAt: Timestamp? = nil, boundTo: EntryKey? = nil) {
    self.init(
      number: order.number, account: order.account, productID: order.productID, quantity: order.quantity,
      state: order.state, createdAt: order.createdAt, expiresAt: expiresAt, boundTo: boundTo)
  }

  /// Whether the transaction is for what the order is for. Of a subscription the order says how many seats there will be, and
  /// the store charges those that are missing: any number of them pays it.
  func agrees(with transaction: borrowing StoreTransaction) -> Bool {
    productID == transaction.soldProductID && (quantity == transaction.quantity || transaction.isSubscription)
  }
}

/// The facts about a transaction that arrived before.
package struct KnownTransaction: Sendable, Hashable {
  /// The lane in which it waits or waited.
  package var lane: Lane
  /// The order to which it is bound, if any. Never changes once it is set.
  package var orderNumber: String?

  package init(lane: Lane, orderNumber: String? = nil) {
    self.lane = lane
    self.orderNumber = orderNumber
  }
}

/// A query for the orders of one product and quantity that were made in a span of time.
package struct OrderQuery: Sendable, Hashable {
  package var productID: String
  package var quantity: Int
  /// From this moment, inclusive.
  package var from: Timestamp
  /// Through this moment, inclusive.
  package var through: Timestamp
  /// The sequence: by `createdAt`, then by number, both descending if true, both ascending if false.
  package var isLatestFirst: Bool
  /// The greatest number of orders in the result.
  package var limit: Int
}

/// A source of the facts that matching needs. The journal answers by queries; `OrderBook` of MemoryModels
/// answers from memory.
package protocol MatchSource {
  /// The orders with an account token, in any state: those without a transaction first, then the latest first.
  func orders(_ query: TokenQuery) throws(QueueError) -> [OrderFacts]
  /// The facts about a transaction: from its entry, its tombstone, or the order that is bound to it.
  func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction?
  /// Orders without a bound transaction that are not cancelled: open, deferred and expired ones.
  func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts]
  /// The account of the order to which another transaction of this payment of a bundle is bound: one of the query's orders.
  func payer(ofBundle payment: String, _ query: OrderQuery) throws(QueueError) -> String?
  /// Whether orders of more than one account were made in the span. A cancelled order counts only if a
  /// transaction is bound to it. The query's sequence and limit do not matter.
  func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool
}

/// The span of time in which a transaction without a token can belong to an order, and the number of
/// candidates.
///
/// The order's moments are by the backend's clock, the payment's by the store's. The device's clock is not
/// used.
package struct MatchWindow: Sendable, Hashable {
  /// How much the two clocks may differ, in milliseconds.
  package var toleranceMilliseconds: Int64 = 60_000
  /// The same for a payment with a token that only one order has: the token says more than two clocks.
  package var tokenToleranceMilliseconds: Int64 = 86_400_000
  /// How long an order can be paid after it was made, in milliseconds, unless it expires earlier. Approval
  /// (Ask to Buy) takes a day at most; a payment that the bank interrupted may take some days.
  package var lengthMilliseconds: Int64 = 7 * 86_400_000
  /// The greatest number of candidates for one transaction.
  package var candidateLimit = 16
  /// The number of orders that the second search reads, before the payment and after it, if many of the first
  /// search had expired too early.
  package var searchLimit = 64

  package init() {}

  /// Whether the order was open at the moment of the payment, by its times alone. An order that has expired
  /// since then was paid in time, and the result must not depend on when the transaction arrives.
  func wasOpen(_ order: OrderFacts, at moment: Timestamp) -> Bool {
    guard order.createdAt <= moment.adding(milliseconds: toleranceMilliseconds) else { return false }
    let last = order.createdAt.adding(milliseconds: lengthMilliseconds)
    let end = min(order.expiresAt ?? last, last).adding(milliseconds: toleranceMilliseconds)
    guard moment <= end else { return false }
    // An expired order without a moment of expiry: nothing shows that the payment was in time.
    return order.state != .expired || order.expiresAt != nil
  }
}

/// The known facts when a transaction arrives. The decision depends on nothing else.
package struct MatchFacts: Sendable, Hashable {
  /// The facts about the transaction itself, if it arrived before.
  package var known: KnownTransaction?
  /// The orders that its account token names.
  package var tokenOrders: TokenOrders?
  /// The account that owns its original transaction; nil for a first purchase, and for a transaction that has a token:
  /// the token may name an order of another account that was made on another device.
  package var originalOwner: String?
  /// The account that paid for the bundle, if the transaction is part of one and names no owner: another transaction of the
  /// payment is bound to its order.
  package var bundleOwner: String?
  /// Unbound orders that were open when it was paid, the most likely first. Only for a transaction that can
  /// be proposed.
  package var candidates: [OrderFacts] = []
  /// Whether there are more candidates than that, or orders that were not read and may be some.
  package var hasMoreCandidates = false
  /// Whether orders of several accounts were made for this product and quantity in the window. Bound orders
  /// count as well: which of them are bound depends on the order of arrival.
  package var hasSeveralAccounts = false

  package init() {}

  /// Asks a source for the facts that the decision about this transaction needs, and no more.
  package init(
    of transaction: borrowing StoreTransaction, named key: EntryKey, classified: Classification,
    isFromSheet: Bool = false, from source: some MatchSource, window: MatchWindow = MatchWindow()
  ) throws(QueueError) {
    known = try source.knownTransaction(key)
    if known?.orderNumber != nil { return }
    if let token = transaction.ownToken {
      tokenOrders = try TokenOrders(of: token, for: transaction, from: source, window)
    }
    if Self.inheritsByOriginal(transaction) {
      // The store may have given the chain another first id since.
      for original in [transaction.originalKey, transaction.previousOriginalKey] where originalOwner == nil {
        if let original { originalOwner = try source.knownTransaction(original)?.lane.account }
      }
    }
    guard transaction.ownToken == nil else { return }
    try findBundleOwner(of: transaction, from: source, window: window)
    guard bundleOwner == nil, classified.isProposed(isFromSheet: isFromSheet) else { return }
    try propose(for: transaction, from: source, window: window)
  }

  /// Whether the owner of the original transaction decides. Not if the transaction has an account token of its own: a
  /// subscription that another account buys again keeps the original's id. The token of a shared purchase is that of the
  /// family member who paid. Not of an assigned seat: its original may be its purchaser's.
  private static func inheritsByOriginal(_ transaction: borrowing StoreTransaction) -> Bool {
    (transaction.transactionID != transaction.originalTransactionID || transaction.previousOriginalKey != nil)
      && transaction.ownToken == nil && transaction.ownership != .assigned
  }

  /// The order of a bundle has one transaction of its payment. The others belong to the same account.
  private mutating func findBundleOwner(
    of transaction: borrowing StoreTransaction, from source: some MatchSource, window: MatchWindow
  ) throws(QueueError) {
    guard let payment = transaction.bundle?.transactionID, !transaction.environment.reusesTransactionIDs,
      !transaction.isOfAnotherPayer
    else { return }
    let paid = transaction.purchasedAt
    let query = OrderQuery(
      productID: transaction.soldProductID, quantity: transaction.quantity,
      from: paid.adding(milliseconds: -window.lengthMilliseconds - window.toleranceMilliseconds),
      through: paid.adding(milliseconds: window.toleranceMilliseconds), isLatestFirst: true,
      limit: window.searchLimit)
    bundleOwner = try source.payer(ofBundle: payment, query)
  }

  private mutating func propose(
    for transaction: borrowing StoreTransaction, from source: some MatchSource, window: MatchWindow
  ) throws(QueueError) {
    let paid = transaction.purchasedAt
    let begin = paid.adding(milliseconds: -window.lengthMilliseconds - window.toleranceMilliseconds)
    let end = paid.adding(milliseconds: window.toleranceMilliseconds)
    var query = OrderQuery(
      productID: transaction.soldProductID, quantity: transaction.quantity, from: begin, through: paid,
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

  /// Reads one order more than needed, to know whether there are more. A second, wider search is needed
  /// only if some of the found orders had expired before the payment.
  private mutating func addCandidates(
    _ query: OrderQuery, _ paid: Timestamp, from source: some MatchSource, _ window: MatchWindow
  ) throws(QueueError) {
    let remaining = window.candidateLimit - candidates.count
    var query = query
    query.limit = remaining + 1
    var found = try source.unboundOrders(query)
    var isCut = found.count == query.limit
    found.removeAll { !window.wasOpen($0, at: paid) }
    if isCut, found.count <= remaining {
      query.limit = max(window.searchLimit, query.limit)
      found = try source.unboundOrders(query)
      isCut = found.count == query.limit
      found.removeAll { !window.wasOpen($0, at: paid) }
    }
    if isCut || found.count > remaining { hasMoreCandidates = true }
    if found.count > remaining { found.removeLast(found.count - remaining) }
    if candidates.isEmpty { candidates = found } else { candidates += found }
  }
}
