import PurchaseSQLite

/// The totals as this connection knows them, so that not every transaction has to read their row.
///
/// They are valid only in a transaction, and only if no other connection has committed since. SQLite's data version
/// shows that (<https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion>).
final class TotalsCache {
  private enum State {
    case unknown
    /// As they were at a data version.
    case committed(Totals, UInt32)
    /// As they are in the open transaction.
    case open(Totals)
  }

  private var state = State.unknown

  /// The totals in a transaction that is open at that data version; nil if the row has to be read.
  func totals(at version: UInt32) -> Totals? {
    switch state {
    case .unknown: return nil
    case .open(let totals): return totals
    case .committed(let totals, let known):
      guard known == version else { return nil }
      state = .open(totals)
      return totals
    }
  }

  /// The row was read or written in the open transaction.
  func keep(_ totals: Totals) { state = .open(totals) }

  /// The transaction was committed; that is the data version afterwards.
  func committed(_ version: UInt32) {
    if case .open(let totals) = state { state = .committed(totals, version) } else { state = .unknown }
  }

  /// The transaction or a part of it was undone.
  func forget() { state = .unknown }
}

/// The statement that writes the row of the totals.
struct SetTotals {
  let statement: PreparedStatement
  let cache: TotalsCache

  func run(_ totals: Totals) throws(SQLiteError) {
    cache.forget()
    try statement.run(totals.values)
    cache.keep(totals)
  }
}
