import Foundation
import PurchaseQueue
import PurchaseSync

/// The baseline of `bench match`: the same decision on the same facts, by a search through all orders each time.
struct OrderList: MatchSubject {
  private var orders: [MatchLoad.Placed] = []
  private var transactions: [EntryKey: KnownTransaction] = [:]

  mutating func insert(_ order: OrderFacts, accountToken: UUID) {
    orders.append(MatchLoad.Placed(order: order, accountToken: accountToken))
  }

  mutating func record(_ match: OrderMatch, of key: EntryKey) throws(QueueError) {
    if let number = match.orderNumber { try bind(key, to: number, lane: match.lane) }
    if transactions[key] == nil { transactions[key] = KnownTransaction(lane: match.lane) }
  }

  mutating func bind(_ key: EntryKey, to number: String, lane: Lane) throws(QueueError) {
    guard let index = orders.firstIndex(where: { $0.order.number == number }) else { return }
    orders[index].order.boundTo = key
    transactions[key] = KnownTransaction(lane: lane, orderNumber: number)
  }

  func orders(_ query: TokenQuery) -> [OrderFacts] {
    orders.first { $0.accountToken == query.token }.map { [$0.order] } ?? []
  }

  func knownTransaction(_ key: EntryKey) -> KnownTransaction? { transactions[key] }

  func unboundOrders(_ query: OrderQuery) -> [OrderFacts] {
    var found: [OrderFacts] = []
    for placed in orders where placed.order.boundTo == nil && isMeant(placed.order, query) {
      found.append(placed.order)
    }
    found.sort {
      let isBefore = ($0.createdAt, $0.number) < ($1.createdAt, $1.number)
      return query.isLatestFirst ? !isBefore : isBefore
    }
    return Array(found.prefix(query.limit))
  }

  /// The load has no bundles.
  func payer(ofBundle payment: String, _ query: OrderQuery) -> String? { nil }

  func hasSeveralAccounts(_ query: OrderQuery) -> Bool {
    var account: String?
    for placed in orders where isMeant(placed.order, query) {
      if let account, account != placed.order.account { return true }
      account = placed.order.account
    }
    return false
  }

  func match(_ transaction: StoreTransaction) throws(QueueError) -> OrderMatch {
    try OrderMatcher.match(transaction, from: self)
  }

  private func isMeant(_ order: OrderFacts, _ query: OrderQuery) -> Bool {
    order.createdAt >= query.from && order.createdAt <= query.through && order.quantity == query.quantity
      && order.productID == query.productID
  }
}
