import PurchaseSQLite

/// Copies the readable rows of a table: an unreadable page costs only the rows on it.
struct TableCopy {
  let name: String

  private typealias Values = [SQLValue]

  /// The tables of other modules, with their SQL.
  static func companions(
    of source: borrowing Connection
  ) throws(SQLiteError) -> [(name: String, sql: String)] {
    let ours = Set(QueueSchema.tables + ["totals"])
    let all = try source.prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'"
    ).allReadable { (name: $0.text(0), sql: $0.text(1)) }.rows
    return all.filter { !ours.contains($0.name) }
  }

  /// The SQL of the indexes, views and triggers of other modules.
  static func companionParts(
    of source: borrowing Connection, missingIn target: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let present = Set(try target.prepare("SELECT name FROM sqlite_schema").all { $0.text(0) })
    let all = try source.prepare(
      "SELECT name, sql FROM sqlite_schema WHERE type<>'table' AND sql IS NOT NULL"
    ).allReadable { (name: $0.text(0), sql: $0.text(1)) }.rows
    return all.filter { !present.contains($0.name) }.map(\.sql)
  }

  /// Returns how many rows arrived.
  func run(from source: borrowing Connection, to target: borrowing Connection) throws(SQLiteError) -> Int {
    let here = try Self.columns(of: name, in: target)
    let there = Set(try Self.columns(of: name, in: source))
    let columns = here.filter(there.contains)
    guard !columns.isEmpty else { return 0 }
    let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ",")
    // A damaged row that violates a constraint (a duplicate key, a wrong type) is left out.
    let insert = try target.prepare("INSERT OR IGNORE INTO \"\(name)\"(\(list)) VALUES(\(marks))")
    let keys = try Self.keyWithoutRowid(of: name, in: target)
    let rows =
      try keys.isEmpty
      ? byRowid(list, columns.count, in: source) : fromBothEnds(list, columns.count, by: keys, in: source)
    var copied = 0
    for row in rows {
      do throws(SQLiteError) {
        try insert.run(row)
        copied += target.changes
      } catch  where error.code.primary == .constraint {
        continue
      }
    }
    return copied
  }

  private func fromBothEnds(
    _ list: String, _ count: Int, by keys: [String], in source: borrowing Connection
  ) throws(SQLiteError) -> [Values] {
    var rows: [Values] = []
    for direction in ["ASC", "DESC"] {
      let order = keys.map { "\"\($0)\" \(direction)" }.joined(separator: ", ")
      let read = try source.prepare("SELECT \(list) FROM \"\(name)\" NOT INDEXED ORDER BY \(order)")
        .allReadable { row in (0..<Int32(count)).map { row.value($0) } }
      rows += read.rows
      if read.isComplete { break }
    }
    return rows
  }

  private static func columns(
    of table: String, in connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    try connection.prepare("SELECT name FROM pragma_table_info(?)").all([.text(table)]) { $0.text(0) }
  }

  /// The primary key of a table WITHOUT ROWID; empty for one with rowids.
  private static func keyWithoutRowid(
    of table: String, in connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let isWithout = try connection.prepare("SELECT wr FROM pragma_table_list(?) WHERE schema='main'")
      .first([.text(table)]) { $0.flag(0) }
    guard isWithout == true else { return [] }
    return try connection.prepare("SELECT name FROM pragma_table_info(?) WHERE pk>0 ORDER BY pk")
      .all([.text(table)]) { $0.text(0) }
  }
}

// MARK: Around pages that cannot be read

extension TableCopy {
  /// Reads up to an unreadable row, searches for the next readable one, and continues there.
  private func byRowid(
    _ list: String, _ count: Int, in source: borrowing Connection
  ) throws(SQLiteError) -> [Values] {
    let from = "FROM \"\(name)\" NOT INDEXED WHERE _rowid_>=? ORDER BY _rowid_"
    let select = try source.prepare("SELECT _rowid_, \(list) \(from)")
    let probe = try source.prepare("SELECT 1 \(from) LIMIT 1")
    var rows: [Values] = []
    var next: Int64? = .min
    while let start = next {
      let read = try select.allReadable([.integer(start)]) { row in
        (rowid: row.integer(0), values: (1...Int32(count)).map { row.value($0) })
      }
      rows += read.rows.map(\.values)
      guard !read.isComplete else { break }
      next = try Self.firstReadable(after: read.rows.last?.rowid ?? start) { (rowid) throws(SQLiteError) in
        try probe.allReadable([.integer(rowid)]) { _ in 0 }.isComplete
      }
    }
    return rows
  }

  /// The first rowid after the given one from which reading works. Tries the nearest rowids one by one, then growing
  /// strides, then bisects between the last failure and the first success.
  private static func firstReadable(
    after start: Int64, _ works: (Int64) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) -> Int64? {
    var failed = start
    var stride: UInt64 = 1
    while failed < .max {
      let candidate = stride >= failed.distanceToEnd ? .max : failed &+ Int64(bitPattern: stride)
      if try works(candidate) {
        var (low, high) = (failed, candidate)
        while low.distance(to: high, isMoreThan: 1) {
          let middle = low &+ Int64(bitPattern: UInt64(bitPattern: high &- low) / 2)
          if try works(middle) { high = middle } else { low = middle }
        }
        return high
      }
      failed = candidate
      if failed.isBeyond(start, by: 64) { stride = stride > 1 << 62 ? stride : stride * 2 }
    }
    return nil
  }
}

extension Int64 {
  fileprivate var distanceToEnd: UInt64 { UInt64(bitPattern: .max &- self) }

  fileprivate func distance(to other: Int64, isMoreThan limit: UInt64) -> Bool {
    UInt64(bitPattern: other &- self) > limit
  }

  fileprivate func isBeyond(_ start: Int64, by count: UInt64) -> Bool {
    UInt64(bitPattern: self &- start) >= count
  }
}
