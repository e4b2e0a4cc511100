import AppStoreReceipts
import Foundation
import PurchaseQueue
import PurchaseSQLite

/// A type that one column stores.
protocol ColumnValue: Sendable {
  /// The type in the schema, such as `TEXT NOT NULL`.
  static var declaration: String { get }
  var sql: SQLValue { get }
  /// Nil for a value that this version does not write.
  static func read(_ row: borrowing Row, _ column: Int32) -> Self?
}

/// A column: its place in the schema, and how a record is written to it and read from it.
struct Column<Record: Sendable>: Sendable {
  let name: String
  let declaration: String
  let write: @Sendable (Record) -> SQLValue
  /// False for a value that this version does not write.
  let read: @Sendable (inout Record, borrowing Row, Int32) -> Bool

  init<Value: ColumnValue>(
    _ name: String, _ path: any WritableKeyPath<Record, Value> & Sendable, _ constraint: String = ""
  ) {
    self.init(name, constraint, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  init<Value: ColumnValue>(
    _ name: String, _ constraint: String = "", get: @escaping @Sendable (Record) -> Value,
    set: @escaping @Sendable (inout Record, Value) -> Void
  ) {
    self.name = name
    declaration = name + " " + Value.declaration + (constraint.isEmpty ? "" : " " + constraint)
    write = { get($0).sql }
    read = { record, row, column in
      guard let value = Value.read(row, column) else { return false }
      set(&record, value)
      return true
    }
  }

  /// A column that follows from the others.
  static func derived<Value: ColumnValue>(
    _ name: String, _ get: @escaping @Sendable (Record) -> Value
  ) -> Column {
    Column(name, get: get, set: { _, _ in })
  }
}

/// A table of the backend's file: one description gives the schema, the statements, and the records.
struct BackendTable<Record: Sendable>: Sendable {
  let name: String
  let columns: [Column<Record>]
  let schema: String
  private let insertion: String
  private let blank: Record
  private let isValid: @Sendable (Record) -> Bool

  /// - Parameters:
  ///   - blank: A record to read a row into.
  ///   - isValid: False for a record that no row can give.
  ///   - number: The name of a column of row numbers, by which `insert` returns the row's number.
  ///   - constraints: Further lines of the schema.
  ///   - key: The unique columns by which `insert` replaces a row; nil to append always.
  ///   - kept: The columns that a replacement does not change.
  init(
    _ name: String, blank: Record, isValid: @escaping @Sendable (Record) -> Bool = { _ in true },
    number: String? = nil, constraints: [String] = [], options: String = "STRICT", key: String? = nil,
    kept: Set<String> = [], _ columns: [Column<Record>]
  ) {
    (self.name, self.blank, self.isValid) = (name, blank, isValid)
    self.columns = columns
    let lines =
      (number.map { [$0 + " INTEGER PRIMARY KEY"] } ?? []) + columns.map(\.declaration) + constraints
    schema = "CREATE TABLE \(name) (\n  " + lines.joined(separator: ",\n  ") + "\n) \(options);\n"
    let isNumbered = key == "rowid"
    let names = (isNumbered ? ["rowid"] : []) + columns.map(\.name)
    var sql = "INSERT INTO \(name) (" + names.joined(separator: ", ") + ") VALUES ("
    sql += names.map { _ in "?" }.joined(separator: ", ") + ")"
    if let key {
      let changed = columns.map(\.name).filter { !kept.contains($0) }.map { "\($0) = excluded.\($0)" }
      sql += " ON CONFLICT (\(key)) DO UPDATE SET " + changed.joined(separator: ", ")
    }
    insertion = sql + (number.map { " RETURNING " + $0 } ?? "")
  }

  /// Writes a row, and returns its number if the table has such a column. `row` is the number of the row to write in a
  /// table with the key `rowid`.
  @discardableResult
  func insert(
    _ record: Record, row: Int64? = nil, _ connection: borrowing Connection, _ statements: StatementCache
  ) throws(SQLiteError) -> Int64? {
    let values = (row.map { [.integer($0)] } ?? []) + columns.map { $0.write(record) }
    return try statements.prepare(connection, insertion).first(values) { $0.integer(0) }
  }

  /// The names for a SELECT, each with this prefix. The columns in `hidden` read as empty text.
  private func selection(_ prefix: String, hiding hidden: Set<String> = []) -> String {
    columns.map { hidden.contains($0.name) ? "''" : prefix + $0.name }.joined(separator: ", ")
  }

  /// Reads this table's columns into the record; false for a row that this version does not write.
  private func read(_ record: inout Record, _ row: borrowing Row, from first: Int = 0) -> Bool {
    for (offset, column) in columns.enumerated() {
      guard column.read(&record, row, Int32(first + offset)) else { return false }
    }
    return isValid(record)
  }

  /// Every record, in the order of the rows, with the columns of a table that has the row numbers of this one. Throws
  /// for a row that this version does not write.
  func all(
    _ connection: borrowing Connection, joining other: BackendTable? = nil, hiding hidden: Set<String> = []
  ) throws(BackendStoreError) -> [Record] {
    var sql = "SELECT " + selection("one.", hiding: hidden)
    if let other { sql += ", " + other.selection("other.") }
    sql += " FROM \(name) AS one"
    if let other { sql += " JOIN \(other.name) AS other ON other.number = one.rowid" }
    if !schema.contains("WITHOUT ROWID") { sql += " ORDER BY one.rowid" }
    let found: [Record?]
    do throws(SQLiteError) {
      found = try connection.prepare(sql).all([]) { row in
        var record = blank
        let isRead = read(&record, row) && (other?.read(&record, row, from: columns.count) ?? true)
        return isRead ? record : nil
      }
    } catch {
      throw BackendStoreError(error)
    }
    let readable = found.compactMap(\.self)
    guard readable.count == found.count else { throw BackendStoreError(unreadable: "a row of \(name)") }
    return readable
  }
}

// MARK: Column types

extension String: ColumnValue {
  static var declaration: String { "TEXT NOT NULL" }
  var sql: SQLValue { .text(self) }
  static func read(_ row: borrowing Row, _ column: Int32) -> String? { row.text(column) }
}

extension Int64: ColumnValue {
  static var declaration: String { "INTEGER NOT NULL" }
  var sql: SQLValue { .integer(self) }
  static func read(_ row: borrowing Row, _ column: Int32) -> Int64? { row.integer(column) }
}

extension Int: ColumnValue {
  static var declaration: String { Int64.declaration }
  var sql: SQLValue { .integer(Int64(self)) }
  static func read(_ row: borrowing Row, _ column: Int32) -> Int? { Int(row.integer(column)) }
}

extension RefundedShare: ColumnValue {
  static var declaration: String { Int64.declaration }
  var sql: SQLValue { milliPercent.sql }
  static func read(_ row: borrowing Row, _ column: Int32) -> RefundedShare? {
    RefundedShare(milliPercent: row.integer(column))
  }
}

extension Bool: ColumnValue {
  static var declaration: String { Int64.declaration }
  var sql: SQLValue { .flag(self) }
  static func read(_ row: borrowing Row, _ column: Int32) -> Bool? { row.flag(column) }
}

extension Timestamp: ColumnValue {
  static var declaration: String { Int64.declaration }
  var sql: SQLValue { .integer(milliseconds) }
  static func read(_ row: borrowing Row, _ column: Int32) -> Timestamp? {
    Timestamp(milliseconds: row.integer(column))
  }
}

extension UUID: ColumnValue {
  static var declaration: String { String.declaration }
  var sql: SQLValue { .text(uuidString) }
  static func read(_ row: borrowing Row, _ column: Int32) -> UUID? { UUID(uuidString: row.text(column)) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
  static var declaration: String { Wrapped.declaration.replacing(" NOT NULL", with: "") }
  var sql: SQLValue { self?.sql ?? .null }
  static func read(_ row: borrowing Row, _ column: Int32) -> Wrapped?? {
    if row.isNull(column) { return .some(nil) }
    return Wrapped.read(row, column).map(Optional.some)
  }
}

extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
  static var declaration: String { RawValue.declaration }
  var sql: SQLValue { rawValue.sql }
  static func read(_ row: borrowing Row, _ column: Int32) -> Self? {
    RawValue.read(row, column).flatMap { Self(rawValue: $0) }
  }
}
