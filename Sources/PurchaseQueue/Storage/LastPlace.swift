import PurchaseSQLite

/// The last place that was given, of a file whose counts are counted anew: a place is never given twice, also when the
/// entry that had it is settled. A claim of the device's purchases reaches to a place.
enum LastPlace {
  static let fact = "last_place"

  /// From the counts of a damaged file to the facts of the salvaged one, if they are what was written.
  static func take(from old: borrowing Connection, to fresh: borrowing Connection) throws(SQLiteError) {
    guard let totals = try totals(of: old) else { return }
    let value = String(totals.lastPlace)
    try fresh.prepare("INSERT OR REPLACE INTO facts VALUES(?,?,?)").run([
      .text(fact), .text(value), .integer(RowHash.of(fact, value)),
    ])
  }

  /// Nil if the table is lost or another version's, or if the row is not what was written.
  private static func totals(of old: borrowing Connection) throws(SQLiteError) -> Totals? {
    do throws(SQLiteError) {
      let rows = try old.prepare("SELECT \(RoomStatements.columns) FROM totals").allReadable { Totals($0) }
        .rows
      return rows.first ?? nil
    } catch  where error.code.primary == .error || error.code.primary == .corrupt {
      return nil
    }
  }
}
