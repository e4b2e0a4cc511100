import Foundation
import PurchaseQueue
import PurchaseSQLite

/// The orders of this device, in the queue's file (`JournalSchema`).
struct OrderJournal {
  let file: QueueFile
  private let insert: PreparedStatement
  private let dropDamaged: PreparedStatement
  private let byNumber: PreparedStatement
  private let byToken: PreparedStatement
  private let byTokenAndProduct: PreparedStatement
  private let byTransaction: PreparedStatement
  /// Statements for the orders of one product and quantity in a span of time. Kept compiled, because matching
  /// runs one for every transaction without a token.
  private let found: [OrderFilter: PreparedStatement]

  init(_ file: QueueFile) throws(QueueError) {
    self.file = file
    try JournalSchema.prepare(file)
    let select = "SELECT \(JournalRow.columns) FROM orders WHERE "
    // Only the order of that number is written over. Another one that stands in the way is an error.
    insert = PreparedStatement(
      file.connection,
      """
      INSERT INTO orders(\(JournalRow.columns)) VALUES(?,?,?,?,?,?,?,?,?,?)
      ON CONFLICT(number) DO UPDATE SET account_token=excluded.account_token, account=excluded.account,
        product=excluded.product, quantity=excluded.quantity, state=excluded.state,
        created_at=excluded.created_at, expires_at=excluded.expires_at, bound_to=excluded.bound_to,
        checksum=excluded.checksum
      """)
    dropDamaged = PreparedStatement(
      file.connection, "DELETE FROM orders WHERE bound_to=? AND number<>?")
    byNumber = PreparedStatement(file.connection, select + "number=?")
    let sequence = " ORDER BY bound_to IS NOT NULL, created_at DESC, number DESC LIMIT ?"
    byToken = PreparedStatement(file.connection, select + "account_token=?" + sequence)
    byTokenAndProduct = PreparedStatement(
      file.connection, select + "account_token=? AND product=? AND quantity=?" + sequence)
    byTransaction = PreparedStatement(file.connection, select + "bound_to=?")
    var found: [OrderFilter: PreparedStatement] = [:]
    for filter in OrderFilter.all { found[filter] = PreparedStatement(file.connection, select + filter.sql) }
    self.found = found
  }

  // MARK: Reading

  func row(number: String) throws(QueueError) -> JournalRow? { try row(byNumber, number) }

  func rows(_ query: TokenQuery) throws(QueueError) -> [JournalRow] {
    let (token, limit) = (SQLValue.text(query.token.uuidString), SQLValue.integer(Int64(query.limit)))
    guard let product = query.product else { return try rows(byToken, [token, limit]) }
    return try rows(byTokenAndProduct, [token, .text(product.id), .integer(Int64(product.quantity)), limit])
  }

  private func rows(_ statement: PreparedStatement, _ values: [SQLValue]) throws(QueueError) -> [JournalRow] {
    let rows = try wrap { () throws(SQLiteError) in try statement.all(values) { JournalRow($0) } }
    return rows.compactMap { $0 }.filter(\.isWhole)
  }

  func row(boundTo key: EntryKey) throws(QueueError) -> JournalRow? { try row(byTransaction, key.rawValue) }

  private func row(_ statement: PreparedStatement, _ value: String) throws(QueueError) -> JournalRow? {
    let found = try wrap { () throws(SQLiteError) in try statement.first([.text(value)]) { JournalRow($0) } }
    guard let row = found ?? nil, row.isWhole else { return nil }
    return row
  }

  /// All orders, by the time at which they were made.
  func orders() throws(QueueError) -> [JournalRow] {
    let sql = "SELECT \(JournalRow.columns) FROM orders ORDER BY created_at, number"
    let rows = try wrap { () throws(SQLiteError) in try file.connection.prepare(sql).all { JournalRow($0) } }
    return rows.compactMap { $0 }.filter(\.isWhole)
  }

  /// The orders of one product and quantity in a span of time that pass the filter.
  func orders(_ query: OrderQuery, _ which: OrderFilter.Which) throws(QueueError) -> [JournalRow] {
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

  // MARK: Writing, inside a transaction of the file

  func write(_ row: JournalRow) throws(QueueError) {
    try wrap { () throws(SQLiteError) in
      // `bind` has looked: another row with this transaction is a damaged one, which counts as absent.
      if let key = row.boundTo { try dropDamaged.run([.text(key.rawValue), .text(row.order.number)]) }
      try insert.run(row.values)
    }
  }

  /// Binds a transaction to an order permanently. If the order is not in this journal (made on another
  /// device, or of an old list), the entry alone holds the binding. Throws if either is bound to another; the surrounding
  /// transaction is then rolled back.
  func bind(_ key: EntryKey, to number: String) throws(QueueError) {
    if let obstacle = try obstacle(to: key, number) { throw .invalid(what: obstacle) }
    guard var row = try row(number: number), row.boundTo == nil else { return }
    row.boundTo = key
    if row.order.state != .delivered, row.order.state != .refunded { row.order.state = .paid }
    try write(row)
  }

  /// Why the transaction cannot be bound to the order; nil if it can, or is. Of an order that is not in this journal, only
  /// the entries and tombstones of its transactions know.
  func obstacle(to key: EntryKey, _ number: String) throws(QueueError) -> String? {
    if let other = try row(boundTo: key), other.order.number != number {
      return "transaction \(key) is bound to order \(other.order.number), not to \(number)"
    }
    let holder =
      if let row = try row(number: number) { row.boundTo } else {
        try file.holder(ofOrder: number, besides: key)
      }
    guard let holder, holder != key else { return nil }
    return "order \(number) is bound to transaction \(holder), not to \(key)"
  }

  func set(_ state: OrderState, of number: String) throws(QueueError) {
    guard var row = try row(number: number), row.order.state != state else { return }
    row.order.state = state
    try write(row)
  }

  /// The newest order that was made for the same purchase since `madeFrom`, is open, and stays open until `expiry`. None
  /// whose number is in `excluding`, none with a reservation, and only one that this installation made itself and that no
  /// process of it has handed out after `lastHandedOut`.
  func openOrder(
    _ wanted: OrderWish, madeFrom: Timestamp, lastHandedOut: Timestamp, openUntil expiry: Timestamp,
    excluding: Set<String>, now: Timestamp
  ) throws(QueueError) -> PurchaseOrder? {
    let rows = try wrap { () throws(SQLiteError) in
      try file.connection.prepare(
        """
        SELECT \(JournalRow.columns) FROM orders
        WHERE product=? AND quantity=? AND created_at>=? AND account=? AND state='open'
          AND bound_to IS NULL AND ifnull(expires_at, ?)>=?
          AND NOT EXISTS (SELECT 1 FROM reservations WHERE name=number AND until>?)
          AND number IN (SELECT number FROM own_orders WHERE is_restored=0 AND handed_out_at<=?)
        ORDER BY created_at DESC, number DESC
        """
      ).all([
        .text(wanted.product), .integer(Int64(wanted.quantity)), .integer(madeFrom.milliseconds),
        .text(wanted.account), .integer(.max), .integer(expiry.milliseconds), .integer(now.milliseconds),
        .integer(lastHandedOut.milliseconds),
      ]) { JournalRow($0) }
    }
    return rows.lazy.compactMap { $0 }.first { $0.isWhole && !excluding.contains($0.order.number) }?.order
  }

  /// Removes old orders, and returns their numbers.
  ///
  /// An order with a transaction is kept as long as an entry or a tombstone of the transaction, and for `age.bound`. Of
  /// the others the newest 20 are kept in any case, at most 200, and none for longer than `age.unpaid`: a payment that
  /// comes later is credited by its account token all the same.
  func prune(keeping count: Int, _ age: (bound: Timestamp, unpaid: Timestamp)) throws(QueueError) -> [String]
  {
    try wrap { () throws(SQLiteError) in
      let unpaid = try file.connection.prepare(
        """
        DELETE FROM orders WHERE bound_to IS NULL AND number IN (
          SELECT number FROM orders WHERE bound_to IS NULL ORDER BY created_at DESC, number DESC LIMIT -1 OFFSET ?)
          AND (created_at<? OR number IN (
            SELECT number FROM orders WHERE bound_to IS NULL ORDER BY created_at DESC, number DESC
            LIMIT -1 OFFSET ?))
        RETURNING number
        """
      ).all([.integer(20), .integer(age.unpaid.milliseconds), .integer(200)]) { $0.text(0) }
      let paid = try file.connection.prepare(
        """
        DELETE FROM orders WHERE bound_to IS NOT NULL AND (created_at<? OR number IN (
          SELECT number FROM orders ORDER BY created_at DESC LIMIT -1 OFFSET ?))
          AND NOT EXISTS (SELECT 1 FROM entries WHERE key=bound_to)
          AND NOT EXISTS (SELECT 1 FROM tombstones WHERE key=bound_to)
        RETURNING number
        """
      ).all([.integer(age.bound.milliseconds), .integer(Int64(count))]) { $0.text(0) }
      return unpaid + paid
    }
  }

  // MARK: Requests

  /// The key of a request whose answer never came, or else the proposed key, committed before it is sent.
  /// Requests in `waiting` still wait for their answer and are not reused: a second purchase of the same
  /// product is another order.
  func request(
    account: String, product: String, quantity: Int, proposing key: String, waiting: Set<String>
  ) throws(QueueError) -> String {
    try wrap { () throws(SQLiteError) in
      let values: [SQLValue] = [.text(account), .text(product), .integer(Int64(quantity))]
      let unanswered = try file.connection.prepare(
        """
        SELECT idempotency_key FROM order_requests WHERE account=? AND product=? AND quantity=?
        ORDER BY idempotency_key
        """
      ).all(values) { $0.text(0) }
      if let found = unanswered.first(where: { !waiting.contains($0) }) { return found }
      try file.connection.prepare("INSERT INTO order_requests VALUES(?,?,?,?)").run([.text(key)] + values)
      return key
    }
  }

  /// Ends a request: answered, or refused for good. Returns false if it has already ended.
  func endRequest(_ key: String) throws(QueueError) -> Bool {
    try wrap { () throws(SQLiteError) in
      try file.connection.prepare("DELETE FROM order_requests WHERE idempotency_key=?").run([.text(key)])
      return file.connection.changes > 0
    }
  }

  func wrap<R>(_ body: () throws(SQLiteError) -> R) throws(QueueError) -> R {
    try file.read(body)
  }
}
