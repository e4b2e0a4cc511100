package import PurchaseQueue

/// Answers matching's questions by queries.
extension SyncFile: MatchSource {
  package func orders(_ query: TokenQuery) throws(QueueError) -> [OrderFacts] {
    try journal.rows(query).map(OrderFacts.init)
  }

  /// The binding is stored with the entry, its tombstone, or the order.
  package func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction? {
    let bound = try journal.row(boundTo: key)
    if let entry = try queue.entry(key) {
      return KnownTransaction(lane: entry.lane, orderNumber: entry.orderNumber ?? bound?.order.number)
    }
    if let tombstone = try queue.tombstone(key) {
      return KnownTransaction(lane: tombstone.lane, orderNumber: tombstone.orderNumber ?? bound?.order.number)
    }
    return bound.map { KnownTransaction(lane: .account($0.order.account), orderNumber: $0.order.number) }
  }

  package func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts] {
    try journal.orders(query, .unbound).map(OrderFacts.init)
  }

  package func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool {
    var all = query
    all.limit = .max
    let counted = try journal.orders(all, .counted)
    return Set(counted.map { Lane.account($0.order.account) }).count > 1
  }

  package func binding(by number: String, of key: EntryKey) throws(QueueError) -> VerdictBinding {
    guard let entry = try queue.entry(key) else { return .keep }
    let details = try EntryDetails(of: entry).required()
    let order = try journal.row(number: number).map(OrderFacts.init)
    // If the order was made elsewhere, only entries and tombstones name its transaction.
    let holder = order == nil ? try queue.holder(ofOrder: number, besides: key) : nil
    return VerdictBinding(
      verdictOrder: number, of: key, productID: details.productID, quantity: details.quantity,
      known: try knownTransaction(key), order: order, holder: holder)
  }
}

extension OrderFacts {
  init(_ row: OrderRow) {
    self.init(row.order, expiresAt: row.order.expiresAt, boundTo: row.boundTo)
  }
}
