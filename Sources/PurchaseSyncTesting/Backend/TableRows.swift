import PurchaseSQLite

/// The newest rows of table A, B or C (R3.5 to R3.7), as people read them. A proof is shown by its length only.
struct TableRows: Encodable {
  /// "table_a", "table_b" or "table_c".
  var name: String
  /// The names of the columns.
  var columns: [String]
  /// The newest rows first; nil is NULL.
  var rows: [[String?]]
  /// How many rows the table has.
  var count: Int
}

extension Connection {
  /// The newest rows of the three tables, at most this many of each.
  func newestRows(_ limit: Int) throws(SQLiteError) -> [TableRows] {
    [
      try newestRows(of: BackendTables.seenProofs, limit),
      try newestRows(of: BackendTables.newestProofs, limit),
      try newestRows(of: BackendTables.purchases, limit),
    ]
  }

  private func newestRows<Record>(
    of table: BackendTable<Record>, _ limit: Int
  ) throws(SQLiteError) -> TableRows {
    let names = table.columns.map(\.name)
    let selected = names.map {
      $0.hasPrefix("receipt") ? "length(\($0)) || ' characters, not shown'" : $0
    }
    let sql = "SELECT \(selected.joined(separator: ", ")) FROM \(table.name) ORDER BY rowid DESC LIMIT ?"
    let rows = try prepare(sql).all([.integer(Int64(limit))]) { row in
      var cells: [String?] = []
      for column in names.indices.map(Int32.init) {
        cells.append(row.isNull(column) ? nil : row.text(column))
      }
      return cells
    }
    let count = try prepare("SELECT count(*) FROM \(table.name)").first([]) { Int($0.integer(0)) }
    return TableRows(name: table.name, columns: names, rows: rows, count: count ?? 0)
  }
}
