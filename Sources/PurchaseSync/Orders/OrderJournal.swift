import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The orders of this device, in the queue's file (`JournalSchema`). Each function that writes is for the inside of a
/// transaction of the file.
struct OrderJournal {
  let file: QueueFile
  let statements: OrderStatements

  init(_ file: QueueFile) throws(QueueError) {
    self.file = file
    try JournalSchema.prepare(file)
    statements = OrderStatements(file)
  }

  // MARK: Reading

  func row(number: String) throws(QueueError) -> OrderRow? {
    try rows(statements.byNumber, [.text(number)]).first
  }

  func row(boundTo key: EntryKey) throws(QueueError) -> OrderRow? {
    try rows(statements.byTransaction, [.text(key.rawValue)]).first
  }

  func rows(_ query: TokenQuery) throws(QueueError) -> [OrderRow] {
    let (token, limit) = (SQLValue.text(query.token.uuidString), SQLValue.integer(Int64(query.limit)))
    guard let product = query.product else { return try rows(statements.byToken, [token, limit]) }
    return try rows(
      statements.byTokenAndProduct,
      [token, .text(product.id), product.quantity.map { .integer(Int64($0)) } ?? .null, limit])
  }

  /// All orders, by the time at which they were made.
  func orders() throws(QueueError) -> [OrderRow] { try rows(statements.all) }

  /// The orders without a transaction, by the time at which they were made.
  func unbound() throws(QueueError) -> [OrderRow] { try rows(statements.unbound) }

  /// The orders of one product and quantity in a span of time that pass the filter.
  func orders(_ query: OrderQuery, _ which: OrderFilter.Which) throws(QueueError) -> [OrderRow] {
    guard let statement = statements.found[OrderFilter(which: which, isLatestFirst: query.isLatestFirst)]
    else {
      return []
    }
    return try rows(
      statement,
      [
        .text(query.productID), .integer(Int64(query.quantity)), .integer(query.from.milliseconds),
        .integer(query.through.milliseconds), .integer(Int64(query.limit)),
      ])
  }

  /// The orders whose state the backend has not acknowledged, by their numbers.
  func withNotice(limit: Int) throws(QueueError) -> [OrderRow] {
    try rows(statements.noticed, [.integer(Int64(limit))])
  }

  /// The orders that the store answered with this transaction; with any transaction if `key` is nil.
  func rows(answeredWith key: EntryKey?) throws(QueueError) -> [OrderRow] {
    guard let key else { return try rows(statements.answered) }
    return try rows(statements.answeredWith, [.text(key.rawValue)])
  }

  private func rows(
    _ statement: PreparedStatement, _ values: [SQLValue] = []
  ) throws(QueueError) -> [OrderRow] {
    try file.all(statement, values) { OrderRow($0) }.compactMap { $0 }
  }

  // MARK: Writing

  /// Writes a row that is new, or that was read in the same transaction.
  func write(_ row: OrderRow) throws(QueueError) {
    // `bind` has looked: another row with this transaction is a damaged one, which counts as absent.
    if let key = row.boundTo {
      try file.run(statements.dropDamaged, [.text(key.rawValue), .text(row.order.number)])
    }
    try file.run(statements.insert, row.values())
  }

  /// Changes an order by a transition. Returns it as it is now; nil if there is none of that number.
  @discardableResult
  func update(_ number: String, _ transition: (inout OrderRow) -> Void) throws(QueueError) -> OrderRow? {
    guard let before = try row(number: number) else { return nil }
    var row = before
    transition(&row)
    if row != before { try write(row) }
    return row
  }

  /// Binds a transaction to an order permanently. If the order is not in this journal (made on another
  /// device, or of an old list), the entry alone holds the binding. Throws if either is bound to another; the
  /// surrounding transaction is then rolled back.
  func bind(_ key: EntryKey, to number: String) throws(QueueError) {
    if let obstacle = try obstacle(to: key, number) { throw .invalid(what: obstacle) }
    try update(number) { $0.bind(key) }
  }

  /// Why the transaction cannot be bound to the order; nil if it can, or is. Of an order that is not in this journal,
  /// only the entries and tombstones of its transactions know.
  func obstacle(to key: EntryKey, _ number: String) throws(QueueError) -> String? {
    if let other = try row(boundTo: key), other.order.number != number {
      return "transaction \(key) is bound to order \(other.order.number), not to \(number)"
    }
    let holder =
      if let row = try row(number: number) { row.boundTo } else {
        try file.holder(ofOrder: number, excluding: key)
      }
    guard let holder, holder != key else { return nil }
    return "order \(number) is bound to transaction \(holder), not to \(key)"
  }

  /// The newest order that was made for the same purchase since `madeFrom`, is open, and stays open until `expiry`. None
  /// whose number is in `excluding`, none with a reservation, and only one that this installation has begun itself, and
  /// last before `lastBegun`.
  func openOrder(
    _ wanted: OrderWish, madeFrom: Timestamp, lastBegun: Timestamp, openUntil expiry: Timestamp,
    excluding: Set<String>, now: Timestamp
  ) throws(QueueError) -> OrderRow? {
    let rows = try rows(
      statements.reusable,
      [
        .text(wanted.product), .integer(Int64(wanted.quantity)), .integer(madeFrom.milliseconds),
        .text(wanted.account), .integer(lastBegun.milliseconds), .integer(.max),
        .integer(expiry.milliseconds), .integer(now.milliseconds),
      ])
    return rows.first { !excluding.contains($0.order.number) }
  }
}
