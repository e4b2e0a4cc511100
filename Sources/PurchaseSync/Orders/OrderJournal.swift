import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The orders of this device, in the queue's file (`JournalSchema`). Each function that writes is for the inside of a
/// transaction of the file.
struct OrderJournal {
  let file: QueueFile
  private let insert: PreparedStatement
  private let dropDamaged: PreparedStatement
  private let byNumber: PreparedStatement
  private let byToken: PreparedStatement
  private let byTokenAndProduct: PreparedStatement
  private let byTransaction: PreparedStatement
  private let byExisting: PreparedStatement
  private let noticed: PreparedStatement
  /// Statements for the orders of one product and quantity in a span of time. Kept compiled, because matching
  /// runs one for every transaction without a token.
  private let found: [OrderFilter: PreparedStatement]

  private static let columns = OrderRow.columns.joined(separator: ", ")
  private static let select = "SELECT \(columns) FROM orders WHERE "
  /// Only the order of that number is written over. Another one that stands in the way is an error.
  private static let write =
    "INSERT INTO orders(\(columns)) VALUES(\(OrderRow.columns.map { _ in "?" }.joined(separator: ","))) "
    + "ON CONFLICT(number) DO UPDATE SET "
    + OrderRow.columns.dropFirst().map { "\($0)=excluded.\($0)" }.joined(separator: ", ")

  init(_ file: QueueFile) throws(QueueError) {
    self.file = file
    try JournalSchema.prepare(file)
    func statement(_ condition: String) -> PreparedStatement {
      PreparedStatement(file.connection, Self.select + condition)
    }
    insert = PreparedStatement(file.connection, Self.write)
    dropDamaged = PreparedStatement(
      file.connection, "DELETE FROM orders WHERE bound_to=? AND number<>?")
    byNumber = statement("number=?")
    let sequence = " ORDER BY bound_to IS NOT NULL, created_at DESC, number DESC LIMIT ?"
    byToken = statement("account_token=?" + sequence)
    byTokenAndProduct = statement(
      "account_token=? AND product=? AND quantity=coalesce(?, quantity)" + sequence)
    byTransaction = statement("bound_to=?")
    byExisting = statement("existing_key=?")
    noticed = statement("notice IS NOT NULL ORDER BY number LIMIT ?")
    found = Dictionary(uniqueKeysWithValues: OrderFilter.all.map { ($0, statement($0.sql)) })
  }

  // MARK: Reading

  func row(number: String) throws(QueueError) -> OrderRow? { try rows(byNumber, [.text(number)]).first }

  func row(boundTo key: EntryKey) throws(QueueError) -> OrderRow? {
    try rows(byTransaction, [.text(key.rawValue)]).first
  }

  func rows(_ query: TokenQuery) throws(QueueError) -> [OrderRow] {
    let (token, limit) = (SQLValue.text(query.token.uuidString), SQLValue.integer(Int64(query.limit)))
    guard let product = query.product else { return try rows(byToken, [token, limit]) }
    return try rows(
      byTokenAndProduct,
      [token, .text(product.id), product.quantity.map { .integer(Int64($0)) } ?? .null, limit])
  }

  /// All orders, by the time at which they were made.
  func orders() throws(QueueError) -> [OrderRow] { try rows(where: "true ORDER BY created_at, number") }

  /// The orders of one product and quantity in a span of time that pass the filter.
  func orders(_ query: OrderQuery, _ which: OrderFilter.Which) throws(QueueError) -> [OrderRow] {
    guard let statement = found[OrderFilter(which: which, isLatestFirst: query.isLatestFirst)] else {
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
    try rows(noticed, [.integer(Int64(limit))])
  }

  /// The orders that the store answered with this transaction; with any transaction if `key` is nil.
  func rows(answeredWith key: EntryKey?) throws(QueueError) -> [OrderRow] {
    guard let key else { return try rows(where: "existing_key IS NOT NULL ORDER BY number") }
    return try rows(byExisting, [.text(key.rawValue)])
  }

  private func rows(_ statement: PreparedStatement, _ values: [SQLValue]) throws(QueueError) -> [OrderRow] {
    try file.all(statement, values) { OrderRow($0) }.compactMap { $0 }
  }

  private func rows(where condition: String, _ values: [SQLValue] = []) throws(QueueError) -> [OrderRow] {
    try file.read { () throws(SQLiteError) in
      try file.connection.prepare(Self.select + condition).all(values) { OrderRow($0) }
    }.compactMap { $0 }
  }

  // MARK: Writing

  /// Writes a row that is new, or that was read in the same transaction.
  func write(_ row: OrderRow) throws(QueueError) {
    // `bind` has looked: another row with this transaction is a damaged one, which counts as absent.
    if let key = row.boundTo {
      try file.run(dropDamaged, [.text(key.rawValue), .text(row.order.number)])
    }
    try file.run(insert, row.values())
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
      where: """
        product=? AND quantity=? AND created_at>=? AND account=? AND state='open' AND bound_to IS NULL
        AND origin='begun' AND begun_at<=? AND ifnull(expires_at, ?)>=?
        AND NOT EXISTS (SELECT 1 FROM reservations WHERE name=number AND until>?)
        ORDER BY created_at DESC, number DESC
        """,
      [
        .text(wanted.product), .integer(Int64(wanted.quantity)), .integer(madeFrom.milliseconds),
        .text(wanted.account), .integer(lastBegun.milliseconds), .integer(.max),
        .integer(expiry.milliseconds), .integer(now.milliseconds),
      ])
    return rows.first { !excluding.contains($0.order.number) }
  }
}

/// The orders that matching asks for, and their sequence.
struct OrderFilter: Hashable {
  enum Which: CaseIterable {
    /// Orders to which a transaction can still be bound.
    case unbound
    /// Orders that count when the accounts of a span of time are compared.
    case counted
    /// Orders with a transaction.
    case bound
  }

  var which: Which
  var isLatestFirst: Bool

  static var all: [OrderFilter] {
    Which.allCases.flatMap { which in
      [true, false].map { OrderFilter(which: which, isLatestFirst: $0) }
    }
  }

  /// The SQL after WHERE. Its values are product, quantity, from, through, limit.
  var sql: String {
    let condition =
      switch which {
      case .unbound:
        // The sheet of an owned order is closed: no later payment is its own.
        "bound_to IS NULL AND existing_key IS NULL "
          + "AND state NOT IN ('requested', 'cancelled', 'alreadyOwned', 'paid', 'delivered', 'refunded', "
          + "'partlyRefunded')"
      case .counted: "(bound_to IS NOT NULL OR state NOT IN ('requested', 'cancelled', 'alreadyOwned'))"
      case .bound: "bound_to IS NOT NULL"
      }
    // A copied file's orders were made on another device. That device has them, and gets their payments.
    let isOfThisDevice = "origin<>'copied'"
    let direction = isLatestFirst ? "DESC" : "ASC"
    return """
      product=? AND quantity=? AND created_at BETWEEN ? AND ? AND \(condition) AND \(isOfThisDevice)
      ORDER BY created_at \(direction), number \(direction) LIMIT ?
      """
  }
}
