import CPurchaseSQLite

extension Connection {
  /// Runs `body` in an immediate transaction. When this returns, all of it is committed and durable; when it throws,
  /// nothing of it happened.
  ///
  /// IMMEDIATE takes the write lock first, so a reader never has to upgrade its lock and fail in the middle.
  package func transaction<R, E: Error>(
    failing wrap: (SQLiteError) -> E, _ body: () throws(E) -> R
  ) throws(E) -> R {
    try run(begin, wrap)
    let result: R
    do {
      result = try body()
    } catch {
      rollback()
      throw error
    }
    do throws(E) {
      try run(commit, wrap)
    } catch {
      // "If COMMIT fails with SQLITE_BUSY … the transaction remains active" (https://sqlite.org/lang_transaction.html).
      rollback()
      throw error
    }
    return result
  }

  /// Runs `body` as a part of the open transaction. When it throws, nothing of the part happened; the rest of the
  /// transaction is unchanged, unless the error has ended the transaction itself (`isInTransaction`).
  package func part<R, E: Error>(
    failing wrap: (SQLiteError) -> E, _ body: () throws(E) -> R
  ) throws(E) -> R {
    try run(savepoint, wrap)
    let result: R
    do {
      result = try body()
    } catch {
      // A full or failing disk can end the transaction by itself, and the savepoint with it.
      guard isInTransaction else { throw error }
      try run(rollbackToSavepoint, wrap)
      try run(release, wrap)
      throw error
    }
    try run(release, wrap)
    return result
  }

  private func run<E: Error>(_ statement: PreparedStatement, _ wrap: (SQLiteError) -> E) throws(E) {
    do throws(SQLiteError) {
      try statement.run()
    } catch {
      throw wrap(error)
    }
  }

  private func rollback() {
    // After some errors (full disk, I/O) SQLite has already rolled back by itself. A ROLLBACK that fails changes
    // nothing on disk: the next reader does not see uncommitted changes.
    guard isInTransaction else { return }
    unsafe _ = sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
  }
}
