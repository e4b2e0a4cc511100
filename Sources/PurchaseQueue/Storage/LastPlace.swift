import PurchaseSQLite

/// Keeps the last place over a salvage, which counts the totals again. A place is never given twice, even if its entry
/// is settled: an adoption of the device's purchases covers all entries up to a place.
enum LastPlace {
  static let fact = "last_place"

  /// Copies the last place from the totals of a damaged file to the facts of the salvaged one, if the totals match
  /// their checksum.
  static func take(from old: borrowing Connection, to fresh: borrowing Connection) throws(SQLiteError) {
    guard let totals = try totals(of: old) else { return }
    let value = String(totals.lastPlace)
    try fresh.prepare("INSERT OR REPLACE INTO facts VALUES(?,?,?)").run([
      .text(fact), .text(value), .integer(RowHash.of(fact, value)),
    ])
  }

  /// Nil if the table is lost or of another version, or if the row does not match its checksum.
  private static func totals(of old: borrowing Connection) throws(SQLiteError) -> Totals? {
    do throws(SQLiteError) {
      let rows = try old.prepare("SELECT \(CapacityStatements.columns) FROM totals").allReadable {
        Totals($0)
      }
      .rows
      return rows.first ?? nil
    } catch  where error.code.primary == .error || error.code.primary == .corrupt {
      return nil
    }
  }
}
