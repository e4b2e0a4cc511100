import PurchaseSQLite

/// Decodes values that were read without SQLite with the code that decodes rows: a statement hands them through.
struct RowDecoder {
  private let entries: PreparedStatement
  private let tombstones: PreparedStatement
  private let counts: PreparedStatement

  init(_ connection: borrowing Connection) {
    entries = Self.passing(StoredEntry.columnCount, connection)
    tombstones = Self.passing(12, connection)
    counts = Self.passing(Int(CapacityStatements.columnCount), connection)
  }

  private static func passing(_ columns: Int, _ connection: borrowing Connection) -> PreparedStatement {
    PreparedStatement(connection, "SELECT " + (1...columns).map { "?\($0)" }.joined(separator: ", "))
  }

  /// An entry; its place is the number of its row, which is not among the values of the record.
  func entry(_ values: [SQLValue], place: Int64) throws(SQLiteError) -> StoredEntry? {
    try entries.first([.integer(place)] + values.dropFirst()) { StoredEntry($0) }
  }

  func tombstone(_ values: [SQLValue]) throws(SQLiteError) -> StoredTombstone? {
    try tombstones.first(values) { StoredTombstone($0) }
  }

  /// Nil if the row does not match its checksum.
  func totals(_ values: [SQLValue]) throws(SQLiteError) -> Totals? {
    try counts.first(values) { Totals($0) } ?? nil
  }
}
