import PurchaseQueue
import PurchaseSQLite
import PurchaseSync

/// The content of a file. Two files that differ only in their layout have the same state.
struct LogicalState: Hashable, Sendable {
  /// Of every row of every table.
  var all: Int64
  /// Of the same, without what an error of the vault may leave: the flag that an entry has no copy there, the lines
  /// of history about it, and the last place. A number for each table.
  var essence: [Int64]

  private struct Source {
    var table: String
    var columns: String
    var order: String
    /// Columns at the end that are no part of the essence.
    var incidental: Int32 = 0

    var sql: String { "SELECT \(columns) FROM \(table) ORDER BY \(order)" }
  }

  private static let sources = [
    Source(
      table: "entries",
      columns:
        "place, key, lane, state, ready_at, order_number, attempts, attempted_at, enqueued_at, payloads, "
        + "details, reason, notes, unprotected, history",
      order: "place", incidental: 2),
    Source(table: "payloads", columns: "id, uses, bytes", order: "id"),
    Source(
      table: "tombstones",
      columns:
        "key, lane, order_number, outcome, details, enqueued_at, attempts, settled_at, finish_pending, "
        + "unconfirmed, history",
      order: "key", incidental: 1),
    Source(table: "reservations", columns: "name, bytes, until", order: "name"),
    Source(
      table: "totals",
      columns:
        "queued, bytes, quarantined, quarantined_bytes, reserved, reserved_bytes, tombstones, unconfirmed, "
        + "last_place",
      order: "id", incidental: 1),
    // The totals hold the last place that a salvage records.
    Source(table: "facts WHERE name<>'last_place'", columns: "name, value", order: "name"),
    Source(
      table: "orders",
      columns:
        "number, account_token, account, product, quantity, state, created_at, expires_at, note, maker, "
        + "origin, begun_at, bound_to, notice, existing_key, existing_outcome, existing_settled_at",
      order: "number"),
    Source(table: "pending_updates", columns: "place, key, details", order: "place"),
    Source(table: "device_adoptions", columns: "account, through_place", order: "sequence"),
  ]

  init(of file: SyncFile) throws(QueueError) {
    var all = RowHash()
    essence = []
    // Counts that are missing are counted at the first use.
    _ = try file.queue.count()
    for source in Self.sources {
      let rows = try QueueError.wrap(file.queue.path) { () throws(SQLiteError) in
        try file.queue.connection.prepare(source.sql).all { Self.hashes($0, without: source.incidental) }
      }
      all.add(Int64(rows.count))
      for (whole, _) in rows { all.add(whole) }
      essence.append(RowHash.of(rows.map(\.1)))
    }
    self.all = all.value
  }

  /// The tables that are in none of these states as they are in this one; for people.
  static func differences(_ essence: [Int64], from states: Set<[Int64]>) -> String {
    let names = sources.indices.filter { index in !states.contains { $0[index] == essence[index] } }
      .map { sources[$0].table }
    return names.isEmpty ? "the tables do not go together" : names.joined(separator: ", ")
  }

  /// Hashes of the whole row, and of its columns that are not incidental.
  private static func hashes(_ row: borrowing Row, without incidental: Int32) -> (Int64, Int64) {
    var (whole, main) = (RowHash(), RowHash())
    for column in 0..<row.count {
      let value = row.value(column)
      add(value, to: &whole)
      if column < row.count - incidental { add(value, to: &main) }
    }
    return (whole.value, main.value)
  }

  private static func add(_ value: SQLValue, to hash: inout RowHash) {
    switch value {
    case .null: hash.add(nil as Int64?)
    case .integer(let integer): hash.add(integer)
    case .text(let text): hash.add(text)
    case .bytes(let bytes): hash.add(Checksum.of(bytes))
    }
  }
}
