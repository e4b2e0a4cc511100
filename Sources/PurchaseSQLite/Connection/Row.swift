import CPurchaseSQLite

/// One row of a result, valid during a closure. Every read copies.
///
/// Tables are STRICT, so a column has the type of its declaration or is NULL.
@safe package struct Row: ~Copyable {
  private let statement: OpaquePointer

  init(statement: OpaquePointer) { unsafe self.statement = statement }

  /// How many columns it has.
  package var count: Int32 { unsafe sqlite3_column_count(statement) }

  package func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(statement, column) == SQLITE_NULL
  }

  package func integer(_ column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(statement, column)
  }

  package func optionalInteger(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }

  package func flag(_ column: Int32) -> Bool { integer(column) != 0 }

  package func text(_ column: Int32) -> String {
    guard let base = unsafe sqlite3_column_text(statement, column) else { return "" }
    let count = unsafe Int(sqlite3_column_bytes(statement, column))
    return unsafe String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)
  }

  package func optionalText(_ column: Int32) -> String? {
    isNull(column) ? nil : text(column)
  }

  package func bytes(_ column: Int32) -> [UInt8] {
    guard let base = unsafe sqlite3_column_blob(statement, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(statement, column))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
  }

  /// The column as it is stored. A real number, which none of our tables holds, is read as NULL.
  package func value(_ column: Int32) -> SQLValue {
    switch unsafe sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .bytes(bytes(column))
    default: .null
    }
  }
}
