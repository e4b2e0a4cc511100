import PurchaseSQLite

/// Copies the rows of a table that can be read, from both ends: a page that cannot be read costs what stands in it.
struct TableCopy {
  let name: String

  /// Tables that other modules keep in the file, with the SQL that makes them.
  static func companions(
    of source: borrowing Connection
  ) throws(SQLiteError) -> [(name: String, sql: String)] {
    let ours = Set(QueueSchema.tables + ["totals"])
    let all = try source.prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'"
    ).allReadable { (name: $0.text(0), sql: $0.text(1)) }
    return all.filter { !ours.contains($0.name) }
  }

  /// Returns how many rows arrived.
  func run(from source: borrowing Connection, to target: borrowing Connection) throws(SQLiteError) -> Int {
    let here = try Self.columns(of: name, in: target)
    let there = Set(try Self.columns(of: name, in: source))
    let columns = here.filter(there.contains)
    guard !columns.isEmpty else { return 0 }
    let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ",")
    // What a damaged row breaks (a duplicate key, a wrong type) is left out.
    let insert = try target.prepare("INSERT OR IGNORE INTO \"\(name)\"(\(list)) VALUES(\(marks))")
    var copied = 0
    for direction in ["ASC", "DESC"] {
      let order = "\"\(columns[0])\" \(direction)"
      let select = try source.prepare("SELECT \(list) FROM \"\(name)\" NOT INDEXED ORDER BY \(order)")
      let rows = select.allReadable { row in (0..<Int32(columns.count)).map { row.value($0) } }
      for row in rows {
        do throws(SQLiteError) {
          try insert.run(row)
          copied += target.changes
        } catch  where error.code.primary == .constraint {
          continue
        }
      }
    }
    return copied
  }

  private static func columns(
    of table: String, in connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    try connection.prepare("SELECT name FROM pragma_table_info(?)").all([.text(table)]) { $0.text(0) }
  }
}
