import Foundation
import PurchaseSQLite
package import PurchaseSync

/// The model of the backend in one SQLite file.
///
/// The writes of a request are on disk before it is answered, or none of them happened. After a kill at any point, the
/// next process that opens the file has every answered request.
///
/// The owner's lock guards everything except `commit`: while one batch of requests is written to the disk, the next
/// ones are judged. `@unchecked` because the compiler cannot see that. The connection has a lock of its own, which is
/// always taken after the owner's. It is an `NSLock` because `take` locks it and `commit` unlocks it.
package final class BackendStore: @unchecked Sendable {
  /// Declared before the connection, so that the statements are finalized first.
  private let statements = StatementCache()
  private let connection: Connection
  private let connectionLock = NSLock()
  private var identity: BackendIdentity
  /// Whether this value made the file, and its first block of ids is free.
  private var isNew: Bool
  /// Called before each row of a transaction is written, and before the commit. Tests kill the process there.
  package var beforeWrite: (() -> Void)?
  /// Nil during a change and after one that failed halfway; then the file is read again.
  private var cached: BackendModel?
  /// How often the file was read. Tests see by it that a refusal costs no reading.
  private(set) var loads = 0
  /// Whether `perform` leaves the commit to `GroupCommit`.
  var isGathering = false
  /// The writes of judged requests that are not in the file yet.
  private var gathered: [BackendWrite] = []
  /// The store's changes that are not in the file yet.
  private var gatheredRows: [StoreRowWrite] = []
  /// Why the store's changes could not be written, until the owner has set the store back to the file: rows that are
  /// based on lost ones must not be written. Guarded by the connection's lock.
  private var loss: BackendStoreError?
  /// Whether the backend's writes are refused. Guarded by the connection's lock.
  private var refusesWrites = false
  /// The failure of gathered writes whose waiting requests were not informed yet.
  private var unpublished: BackendStoreError?
  /// The failure of the last commit, until `abandon`. Guarded by the connection's lock.
  private var broken: BackendStoreError?
  /// The number of gathered changes so far, which is the number of the last one.
  private(set) var lastGathered = 0

  /// Opens or creates the file. An existing file keeps its seed.
  ///
  /// Throws, and changes nothing, for a file that is not a backend's, or one of another version.
  package init(path: String, bundleID: String, seed: UInt64) throws(BackendStoreError) {
    try BackendFile.prepare(path)
    let version: Int64
    do throws(SQLiteError) {
      connection = try Connection(path: path)
      try connection.applyConnectionSettings()
      version = try connection.userVersion
      // The file keeps these settings, so only a new one needs them.
      if version == 0 { try connection.applyNewFileSettings() }
    } catch {
      throw BackendStoreError(error)
    }
    isNew = version == 0
    identity = try BackendIdentity.openOrCreate(connection, bundleID: bundleID, seed: seed)
    cached = try Self.load(connection, identity)
  }

  /// Gathered writes on the way to the file.
  struct Batch {
    var writes: [BackendWrite]
    var rows: [StoreRowWrite]
    /// The number of the last change in it.
    var through: Int
    /// The failure of an earlier batch, which makes this one fail too.
    var failure: BackendStoreError?
  }

  /// The judged state. Gathered parts of it may not be in the file yet (`flush`).
  package func model() throws(BackendStoreError) -> BackendModel {
    if let cached { return cached }
    // The file lacks the gathered writes.
    if !gathered.isEmpty { try flush() }
    let model = try alone { () throws(BackendStoreError) in try Self.load(connection, identity) }
    loads += 1
    cached = model
    return model
  }

  /// The newest proof of a subscription (table B), which the model does not keep; nil without one.
  package func newestProof(of chain: ChainKey) throws(BackendStoreError) -> ProofDocument? {
    try flush()
    return try alone { () throws(BackendStoreError) in
      do throws(SQLiteError) {
        return try connection.newestProof(of: chain)
      } catch {
        throw BackendStoreError(error)
      }
    }
  }

  /// The newest rows of tables A, B and C, at most this many of each.
  func newestRows(_ limit: Int) throws(BackendStoreError) -> [TableRows] {
    try flush()
    return try alone { () throws(BackendStoreError) in
      do throws(SQLiteError) {
        return try connection.newestRows(limit)
      } catch {
        throw BackendStoreError(error)
      }
    }
  }

  /// Changes the model, and commits the writes of `body` before it returns. While `isGathering`, the caller has to wait
  /// for `lastGathered` before it sends the result.
  ///
  /// If `body` or the commit throws, nothing has changed.
  package func perform<R>(
    _ body: (inout BackendModel) throws -> (result: R, writes: [BackendWrite])
  ) throws -> R {
    var model = try self.model()
    // Released here, so that the model is changed in place and not copied.
    cached = nil
    let changes = model.changes.number
    let result: R
    let writes: [BackendWrite]
    do {
      (result, writes) = try body(&model)
    } catch {
      // Most refusals come before any change. After another one the file is read again.
      if model.changes.number == changes { cached = model }
      throw error
    }
    if !writes.isEmpty, isGathering {
      gathered += writes
      lastGathered += 1
    } else if !writes.isEmpty {
      // Commits the other requests' writes first, so that a failure of this one does not reach them.
      if !gathered.isEmpty { try flush() }
      try commitAlone(writes)
    }
    cached = model
    return result
  }

  /// The same for a change without a result.
  package func change(_ body: (inout BackendModel) throws -> [BackendWrite]) throws {
    try perform { model in ((), try body(&model)) }
  }

  /// Makes the file refuse writes, as on a full disk, or accept them again.
  func refuseWrites(_ refuses: Bool) throws(BackendStoreError) {
    try alone { () throws(BackendStoreError) in
      try setReadOnly(refuses)
      refusesWrites = refuses
    }
  }

  private func setReadOnly(_ isReadOnly: Bool) throws(BackendStoreError) {
    do throws(SQLiteError) {
      try connection.execute("PRAGMA query_only=\(isReadOnly ? "ON" : "OFF")")
    } catch {
      throw BackendStoreError(error)
    }
  }

  // MARK: Commits

  /// Takes the gathered writes, and locks the connection until `commit` on the same thread.
  func take() -> Batch {
    connectionLock.lock()
    defer { (gathered, gatheredRows, unpublished) = ([], [], nil) }
    return Batch(writes: gathered, rows: gatheredRows, through: lastGathered, failure: unpublished)
  }

  /// Commits a batch from `take` in one transaction, on the same thread and without the owner's lock. After a failure
  /// every commit fails until `abandon`: the requests judged in the meantime depend on writes that are not in the file.
  func commit(_ batch: Batch) throws(BackendStoreError) {
    defer { connectionLock.unlock() }
    do throws(BackendStoreError) {
      try write(batch)
    } catch {
      broken = error
      throw error
    }
  }

  /// Writes a batch under the connection's lock, in one transaction: a payment that cannot be kept is not charged.
  ///
  /// If only the backend's writes are refused (`refuseWrites`), the store's part is written: the store is another
  /// company's, and what it charged stays charged.
  private func write(_ batch: Batch) throws(BackendStoreError) {
    if let loss { throw loss }
    let failure = batch.failure ?? broken
    var rows = batch.rows
    do throws(BackendStoreError) {
      if refusesWrites, !rows.isEmpty {
        try insertRows(rows)
        rows = []
      }
      if let failure { throw failure }
      if !batch.writes.isEmpty || !rows.isEmpty { try insert(rows, batch.writes) }
    } catch {
      if !rows.isEmpty { loss = error }
      throw error
    }
  }

  private func insertRows(_ rows: [StoreRowWrite]) throws(BackendStoreError) {
    try setReadOnly(false)
    do throws(BackendStoreError) {
      try insert(rows, [])
    } catch {
      try setReadOnly(true)
      throw error
    }
    try setReadOnly(true)
  }

  /// Whether the store in memory has changes that could not be written. The owner sets it back to `storeRows`.
  var hasLostRows: Bool { alone { loss != nil } }

  /// The store in memory is what the file has.
  func forgetLoss() {
    gatheredRows = []
    alone { loss = nil }
  }

  /// Discards, after a failed commit, every judged request that is not in the file. Returns the number of the last
  /// discarded change. With lost rows, the owner has to set the store back.
  func abandon() -> Int {
    alone {
      // Their requests fail with the others, so that the store must not have them either.
      if loss == nil, !refusesWrites, !gatheredRows.isEmpty { loss = broken }
      broken = nil
    }
    (gathered, unpublished, cached) = ([], nil, nil)
    // Later requests wait for a higher number than those that fail now.
    defer { lastGathered += 1 }
    return lastGathered
  }

  /// Writes all gathered changes to the file, under the owner's lock. If it throws, none of them happened, and the
  /// requests that wait for them fail.
  func flush() throws(BackendStoreError) {
    let hadWaiting = !gathered.isEmpty || !gatheredRows.isEmpty
    let batch = take()
    defer { connectionLock.unlock() }
    do throws(BackendStoreError) {
      try write(batch)
    } catch {
      cached = nil
      if hadWaiting || batch.failure != nil { unpublished = error }
      throw error
    }
  }

  private func commitAlone(_ writes: [BackendWrite]) throws(BackendStoreError) {
    try alone { () throws(BackendStoreError) in
      if let broken { throw broken }
      try insert([], writes)
    }
  }

  private func alone<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    connectionLock.lock()
    defer { connectionLock.unlock() }
    return try body()
  }

  /// The content of the file, for `restore(_:)`.
  package func backUp() throws(BackendStoreError) -> BackendBackup {
    try flush()
    return try alone { () throws(BackendStoreError) in
      BackendBackup(writes: try connection.readWrites(holdingProofs: true))
    }
  }

  /// Sets the file back to a backup and changes the ledger epoch. The log of verdicts, which belongs to the tests,
  /// stays.
  package func restore(_ backup: BackendBackup) throws(BackendStoreError) {
    try flush()
    var restored = identity
    restored.restorations += 1
    connectionLock.lock()
    defer { connectionLock.unlock() }
    do throws(SQLiteError) {
      try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
        for table in BackendTables.restored { try connection.execute("DELETE FROM \(table)") }
        for write in backup.writes {
          if case .verdict = write { continue }
          try connection.insert(write, statements)
        }
        try connection.prepare("UPDATE identity SET restorations = ?")
          .run([.integer(Int64(restored.restorations))])
      }
    } catch {
      throw BackendStoreError(error)
    }
    identity = restored
    cached = nil
  }

  /// Writes the store's rows and the backend's in one transaction.
  private func insert(_ rows: [StoreRowWrite], _ writes: [BackendWrite]) throws(BackendStoreError) {
    do throws(SQLiteError) {
      try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
        for row in rows {
          beforeWrite?()
          try connection.write(row, statements)
        }
        for write in writes {
          beforeWrite?()
          try connection.insert(write, statements)
        }
        beforeWrite?()
      }
    } catch {
      throw BackendStoreError(error)
    }
  }

  // MARK: The store

  /// Lets the file grow by no page, as on a full disk, or by any number again.
  func limitFile(_ isFull: Bool) throws(BackendStoreError) {
    try alone { () throws(BackendStoreError) in
      do throws(SQLiteError) {
        try connection.execute("PRAGMA max_page_count=\(isFull ? 1 : 0x7fff_fffe)")
      } catch {
        throw BackendStoreError(error)
      }
    }
  }

  /// Adds changes of the store to the next commit. The caller waits for `lastGathered` before it answers, or calls
  /// `flush`.
  func gather(_ rows: [StoreRowWrite]) {
    guard !rows.isEmpty else { return }
    gatheredRows += rows
    lastGathered += 1
  }

  /// The store's rows in the file, without gathered ones.
  func storeRows() throws(BackendStoreError) -> [(part: String, key: String, value: String)] {
    try alone { () throws(BackendStoreError) in
      do throws(SQLiteError) {
        return try connection.prepare("SELECT part, key, value FROM store_rows").all([]) {
          (part: $0.text(0), key: $0.text(1), value: $0.text(2))
        }
      } catch {
        throw BackendStoreError(error)
      }
    }
  }

  /// Takes a block of transaction ids for a store that is not in the file. A new file's first block has the number 0.
  func takeIDBlock() throws(BackendStoreError) -> Int {
    defer { isNew = false }
    // The file was made with the first block given away.
    if isNew { return 0 }
    let block = identity.idBlocks
    identity.idBlocks += 1
    try alone { () throws(BackendStoreError) in
      do throws(SQLiteError) {
        try connection.prepare("UPDATE identity SET id_blocks = ?").run([.integer(Int64(block + 1))])
      } catch {
        throw BackendStoreError(error)
      }
    }
    return block
  }

  private static func load(
    _ connection: borrowing Connection, _ identity: BackendIdentity
  ) throws(BackendStoreError) -> BackendModel {
    var model = BackendModel(
      bundleID: identity.bundleID, seed: identity.seed, restorations: identity.restorations)
    for write in try connection.readWrites(holdingProofs: false) { model.apply(write) }
    return model
  }
}
