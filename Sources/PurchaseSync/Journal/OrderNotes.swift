import PurchaseQueue
import PurchaseSQLite

/// What is kept of an order next to its row in the journal.
struct OrderExtras: Hashable {
  /// The value that the app gave at `begin`.
  var context: PurchaseContext?
  /// This installation, or an earlier one, made the order.
  var isDeviceMade = false
}

/// The state of an order, which the backend has not acknowledged yet.
struct OrderNotice: Hashable {
  var number: String
  var account: String
  /// The order's state when the notice was written.
  var state: OrderState
}

/// The tables next to the order journal (`JournalSchema.orderNotes`). All writes are for the inside of a transaction.
struct OrderNotes {
  let file: QueueFile
  private let readExtras: PreparedStatement
  private let writeExtras: PreparedStatement
  private let readNotices: PreparedStatement
  private let ownedByKey: PreparedStatement
  private let endNotice: PreparedStatement

  init(_ file: QueueFile) {
    self.file = file
    readExtras = PreparedStatement(
      file.connection, "SELECT context, is_device_made FROM order_extras WHERE number=?")
    writeExtras = PreparedStatement(file.connection, "INSERT OR REPLACE INTO order_extras VALUES(?,?,?)")
    readNotices = PreparedStatement(
      file.connection,
      "SELECT number, account, state FROM order_notices WHERE number>? ORDER BY number LIMIT ?")
    endNotice = PreparedStatement(file.connection, "DELETE FROM order_notices WHERE number=?")
    ownedByKey = PreparedStatement(
      file.connection, Self.owned + " WHERE key=?")
  }

  // MARK: Extras

  func extras(of number: String) throws(QueueError) -> OrderExtras {
    let found = try file.read { () throws(SQLiteError) in
      try readExtras.first([.text(number)]) {
        OrderExtras(context: $0.optionalText(0).map(PurchaseContext.init(_:)), isDeviceMade: $0.flag(1))
      }
    }
    return found ?? OrderExtras()
  }

  func keep(_ extras: OrderExtras, of number: String) throws(QueueError) {
    guard try extras != self.extras(of: number) else { return }
    try file.read { () throws(SQLiteError) in
      try writeExtras.run([.text(number), .text(extras.context?.text), .flag(extras.isDeviceMade)])
    }
  }

  // MARK: Made on this device

  /// This installation made the order, and the app gets it now.
  func noteOwn(_ number: String, handedOutAt now: Timestamp) throws(QueueError) {
    try run(
      "INSERT OR REPLACE INTO own_orders VALUES(?,?,?)",
      [.text(number), .integer(0), .integer(now.milliseconds)])
  }

  /// An earlier installation made the order, and it came back from the vault.
  func noteRestored(_ number: String) throws(QueueError) {
    try run(
      "INSERT OR REPLACE INTO own_orders VALUES(?,?,?)",
      [.text(number), .integer(1), .integer(nil as Int64?)])
  }

  func isOwn(_ number: String) throws(QueueError) -> Bool {
    let found = try file.read { () throws(SQLiteError) in
      try file.connection.prepare("SELECT 1 FROM own_orders WHERE number=? AND is_restored<2").first([
        .text(number)
      ]) {
        $0.integer(0)
      }
    }
    return found != nil
  }

  /// Another device made the orders: the file is a copy. An order's token still names its owner, and no payment without
  /// a token is taken for one of these orders.
  func disownOrders() throws(QueueError) {
    try file.read { () throws(SQLiteError) in
      try file.connection.execute(
        "INSERT OR REPLACE INTO own_orders SELECT number, 2, NULL FROM orders WHERE bound_to IS NULL")
    }
  }

  // MARK: Notices

  /// The notices of the orders whose numbers come after `number`.
  func notices(after number: String, limit: Int) throws(QueueError) -> [OrderNotice] {
    try file.read { () throws(SQLiteError) in
      try readNotices.all([.text(number), .integer(Int64(limit))]) {
        OrderNotice(number: $0.text(0), account: $0.text(1), state: OrderState(rawValue: $0.text(2)))
      }
    }
  }

  func owe(_ notice: OrderNotice) throws(QueueError) {
    try run(
      "INSERT OR REPLACE INTO order_notices VALUES(?,?,?)",
      [.text(notice.number), .text(notice.account), .text(notice.state.rawValue)])
  }

  /// The backend acknowledged it. A newer state of the order stays pending.
  func end(_ notice: OrderNotice) throws(QueueError) {
    try run(
      "DELETE FROM order_notices WHERE number=? AND state=?",
      [.text(notice.number), .text(notice.state.rawValue)])
  }

  /// The order's transaction has a verdict: the backend knows the order, and its state.
  func endNotices(of number: String) throws(QueueError) {
    try file.read { () throws(SQLiteError) in try endNotice.run([.text(number)]) }
  }

  func owes(noticeOf number: String) throws(QueueError) -> Bool {
    let found = try file.read { () throws(SQLiteError) in
      try file.connection.prepare("SELECT 1 FROM order_notices WHERE number=?").first([.text(number)]) {
        $0.integer(0)
      }
    }
    return found != nil
  }

  // MARK: Orders that were answered with an earlier transaction

  func ownedOrders(by key: EntryKey) throws(QueueError) -> [OwnedOrder] {
    try file.read { () throws(SQLiteError) in
      try ownedByKey.all([.text(key.rawValue)]) { OwnedOrder($0) }
    }
  }

  func ownedOrders() throws(QueueError) -> [OwnedOrder] {
    try file.read { () throws(SQLiteError) in
      try file.connection.prepare(Self.owned + " ORDER BY number").all { OwnedOrder($0) }
    }
  }

  func keep(_ owned: OwnedOrder) throws(QueueError) {
    try run(
      "INSERT OR REPLACE INTO owned_orders VALUES(?,?,?)",
      [.text(owned.number), .text(owned.account), .text(owned.key.rawValue)])
  }

  /// Keeps what the backend said for this order.
  func keep(_ answer: OwnedOrder.Answer, of number: String) throws(QueueError) {
    try run(
      "INSERT OR REPLACE INTO owned_answers VALUES(?,?,?)",
      [.text(number), .text(answer.outcome), .integer(answer.settledAt.milliseconds)])
  }

  func endOwned(_ number: String) throws(QueueError) {
    for table in ["owned_orders", "owned_answers"] {
      try run("DELETE FROM \(table) WHERE number=?", [.text(number)])
    }
  }

  private static let owned = """
    SELECT number, account, key, outcome, settled_at FROM owned_orders LEFT JOIN owned_answers USING(number)
    """

  // MARK: The end

  /// Forgets all of these orders.
  func forget(_ numbers: [String]) throws(QueueError) {
    for number in numbers {
      for table in ["order_extras", "own_orders", "order_notices", "owned_orders", "owned_answers"] {
        try run("DELETE FROM \(table) WHERE number=?", [.text(number)])
      }
    }
  }

  private func run(_ sql: String, _ values: [SQLValue]) throws(QueueError) {
    try file.read { () throws(SQLiteError) in try file.connection.prepare(sql).run(values) }
  }
}

extension OwnedOrder {
  fileprivate init(_ row: borrowing Row) {
    self.init(number: row.text(0), account: row.text(1), key: EntryKey(rawValue: row.text(2)))
    guard let outcome = row.optionalText(3), let moment = row.optionalInteger(4) else { return }
    answer = Answer(outcome: outcome, settledAt: Timestamp(milliseconds: moment))
  }
}
