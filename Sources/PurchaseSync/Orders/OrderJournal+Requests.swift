import PurchaseQueue
import PurchaseSQLite

/// Orders that the backend was asked for, and the end of old ones. For the inside of a transaction of the file.
///
/// The row of a request has a name in place of a number, no token, and the state `requested`. It is none of the
/// journal's orders.
extension OrderJournal {
  /// No order has this number: a backend may use the key of a request as the number of its order.
  private static func name(_ key: String) -> String { "request:" + key }

  /// The key of a request whose answer never came, or else the proposed key, committed before it is sent.
  /// Requests in `waiting` still wait for their answer and are not reused: a second purchase of the same
  /// product is another order.
  func request(
    _ wish: OrderWish, proposing key: String, waiting: Set<String>, now: Timestamp
  ) throws(QueueError) -> String {
    let unanswered = try file.all(
      statements.unanswered, [.text(wish.product), .integer(Int64(wish.quantity)), .text(wish.account)]
    ) { OrderRow.isWhole($0) ? String($0.text(0).dropFirst(Self.name("").count)) : nil }
    if let found = unanswered.lazy.compactMap({ $0 }).first(where: { !waiting.contains($0) }) { return found }
    var fields: [SQLValue] = [
      .text(Self.name(key)), .null, .text(wish.account), .text(wish.product), .integer(Int64(wish.quantity)),
      .text(OrderStatements.requested), .integer(now.milliseconds), .null, .null,
      .text(OrderRow.Maker.backend.rawValue),
      .text(OrderRow.Origin.begun.rawValue),
    ]
    while fields.count < OrderRow.columns.count - 1 { fields.append(.null) }
    try file.run(statements.insert, OrderRow.withChecksum(fields))
    return key
  }

  /// Whether the number is the name of a request.
  func isRequest(_ number: String) throws(QueueError) -> Bool {
    try file.first(statements.isRequest, [.text(number)]) { $0.integer(0) } != nil
  }

  /// Ends a request: answered, or refused for good. Returns false if it has already ended.
  func endRequest(_ key: String) throws(QueueError) -> Bool {
    try file.run(statements.endRequest, [.text(Self.name(key))])
    return file.connection.changes > 0
  }

  /// Removes old orders, and returns their numbers.
  ///
  /// An order with a transaction is kept as long as an entry or a tombstone of the transaction, and for `age.bound`. Of
  /// the others the newest 20 stay, whatever their age; of the rest those within `age.unpaid`, 200 in all. A payment that
  /// comes later is credited by its account token all the same. Requests whose answer never came are kept.
  func prune(keeping count: Int, _ age: (bound: Timestamp, unpaid: Timestamp)) throws(QueueError) -> [String]
  {
    let isUnpaid = "bound_to IS NULL AND state<>'\(OrderStatements.requested)'"
    let newestUnpaid =
      "(SELECT number FROM orders WHERE \(isUnpaid) ORDER BY created_at DESC, number DESC LIMIT -1 OFFSET ?)"
    return try file.read { () throws(SQLiteError) in
      let unpaid = try file.connection.prepare(
        """
        DELETE FROM orders WHERE \(isUnpaid) AND number IN \(newestUnpaid)
          AND (created_at<? OR number IN \(newestUnpaid))
        RETURNING number
        """
      ).all([.integer(20), .integer(age.unpaid.milliseconds), .integer(200)]) { $0.text(0) }
      let paid = try file.connection.prepare(
        """
        DELETE FROM orders WHERE bound_to IS NOT NULL AND (created_at<? OR number IN (
          SELECT number FROM orders WHERE state<>'\(OrderStatements.requested)' ORDER BY created_at DESC LIMIT -1 OFFSET ?))
          AND NOT EXISTS (SELECT 1 FROM entries WHERE key=bound_to)
          AND NOT EXISTS (SELECT 1 FROM tombstones WHERE key=bound_to)
        RETURNING number
        """
      ).all([.integer(age.bound.milliseconds), .integer(Int64(count))]) { $0.text(0) }
      return unpaid + paid
    }
  }
}
