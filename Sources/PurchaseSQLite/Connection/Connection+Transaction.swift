import CPurchaseSQLite

/// When a commit that has returned survives a power cut. Each survives a kill at once.
package enum CommitPromise: Sendable {
  /// With the next durable commit to the file, or with `syncDeferred`. Until then, a power cut loses such commits from
  /// the end.
  case soon
  /// Now.
  case durable
}

extension Connection {
  /// Runs `body` in an immediate transaction. When this returns, all of it is committed as promised; when it throws,
  /// nothing of it happened.
  ///
  /// IMMEDIATE takes the write lock first, so a reader never has to upgrade its lock and fail in the middle.
  ///
  /// - Parameter promise: Asked after `body`, which may have come to know it.
  package func transaction<R, E: Error>(
    failing wrap: (SQLiteError) -> E, promising promise: () -> CommitPromise = { .durable },
    _ body: () throws(E) -> R
  ) throws(E) -> R {
    try run(begin, wrap)
    let result: R
    do {
      result = try body()
    } catch {
      rollback()
      throw error
    }
    let isSoon = promise() == .soon
    if isSoon { _ = ask(.deferNext) }
    defer { if isSoon { _ = ask(.deferNone) } }
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

  /// Makes the commits durable that were promised soon; nothing if there is none.
  package func syncDeferred() throws(SQLiteError) {
    try unsafe SQLiteError.check(ask(.syncDeferred), handle, sql: nil)
  }

  /// Whether a power cut may still lose a commit of this connection.
  package var hasDeferredSync: Bool {
    var answer: Int32 = 0
    unsafe _ = sqlite3_file_control(handle, nil, LogSyncs.Request.hasDeferred.rawValue, &answer)
    return answer != 0
  }

  /// What this connection has made durable in the log.
  package var durableLog: LogNote {
    var note = LogNote.none
    unsafe _ = sqlite3_file_control(handle, nil, LogSyncs.Request.durable.rawValue, &note)
    return note
  }

  /// Without the layer over the log there is nothing to ask, and each commit is synced.
  private func ask(_ request: LogSyncs.Request) -> Int32 {
    let result = unsafe sqlite3_file_control(handle, nil, request.rawValue, nil)
    return result == SQLITE_NOTFOUND ? SQLITE_OK : result
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
