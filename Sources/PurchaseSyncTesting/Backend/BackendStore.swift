import Foundation
import PurchaseSQLite
package import PurchaseSync

/// The model of the backend, made durable in one SQLite file.
///
/// What a request wrote is on disk before it is answered, or none of it happened. A process may be killed at any point;
/// the next one to open the file has every request that was answered.
///
/// It belongs to one lock, its owner's, but for `commit`: while one batch of requests is on its way to the disk, the
/// next ones are judged. `@unchecked` because the compiler cannot see that; the connection has a lock of its own, which
/// is taken after the owner's, never before.
package final class BackendStore: @unchecked Sendable {
  /// Before the connection, so that they go first.
  private let statements = StatementCache()
  private let connection: Connection
  private let connectionLock = NSLock()
  private var identity: BackendIdentity
  /// Called before each row of a transaction is written, and once more before it is committed: where tests kill the
  /// process. Nil in every other use.
  package var beforeWrite: (() -> Void)?
  /// Nil while a change is under way, and after one that failed: then the file is the truth.
  private var cached: BackendModel?
  /// Whether `perform` leaves the commit to `GroupCommit`.
  var isGathering = false
  /// What was decided and is not in the file yet.
  private var gathered: [BackendWrite] = []
  /// Why something gathered did not happen, of which those who wait for it were not told yet.
  private var untold: BackendStoreError?
  /// Why the last commit failed, until it is abandoned; with the connection's lock.
  private var broken: BackendStoreError?
  /// How many changes were gathered so far, which is the number of the last of them.
  private(set) var lastGathered = 0

  /// Opens or creates the file. An existing one keeps the seed it was made with.
  package init(path: String, bundleID: String, seed: UInt64) throws(BackendStoreError) {
    let version: Int64
    do throws(SQLiteError) {
      connection = try Connection(path: path)
      try connection.applyConnectionSettings()
      version = try connection.userVersion
      // Settings that the file keeps are for new ones.
      if version == 0 { try connection.applyNewFileSettings() }
    } catch {
      throw BackendStoreError(error)
    }
    guard version == 0 || version == BackendSchema.version else {
      throw BackendStoreError(version: version)
    }
    identity = try BackendIdentity.openOrCreate(connection, bundleID: bundleID, seed: seed)
    cached = try Self.load(connection, identity)
  }

  /// A part of what was gathered, on its way to the file.
  struct Batch {
    var writes: [BackendWrite]
    /// The number of the last change in it.
    var through: Int
    /// Why it cannot happen any more.
    var failure: BackendStoreError?
  }

  /// The state as it was decided; what was gathered of it may not be in the file yet (`flush`).
  package func model() throws(BackendStoreError) -> BackendModel {
    if let cached { return cached }
    // Else it would be read without what was gathered.
    if !gathered.isEmpty { try flush() }
    let model = try alone { () throws(BackendStoreError) in try Self.load(connection, identity) }
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

  /// Changes the model and commits the writes that `body` returns before it returns itself; while it gathers, whoever
  /// owns it has to wait for `lastGathered` before the result leaves the house.
  ///
  /// If `body` or the commit throws, nothing has changed.
  package func perform<R, E: Error>(
    failing wrap: (BackendStoreError) -> E,
    _ body: (inout BackendModel) throws(E) -> (result: R, writes: [BackendWrite])
  ) throws(E) -> R {
    var model: BackendModel
    do throws(BackendStoreError) {
      model = try self.model()
    } catch {
      throw wrap(error)
    }
    // Given up here, so that the model is changed in place and not copied; after a failure the file is read again.
    cached = nil
    let (result, writes) = try body(&model)
    if !writes.isEmpty, isGathering {
      gathered += writes
      lastGathered += 1
    } else if !writes.isEmpty {
      do throws(BackendStoreError) {
        // First what others wait for, so that a failure of this is not theirs.
        if !gathered.isEmpty { try flush() }
        try commitAlone(writes)
      } catch {
        throw wrap(error)
      }
    }
    cached = model
    return result
  }

  /// The file takes no writes any more, as on a full disk, or takes them again.
  func refuseWrites(_ refuses: Bool) throws(BackendStoreError) {
    connectionLock.lock()
    defer { connectionLock.unlock() }
    do throws(SQLiteError) {
      try connection.execute("PRAGMA query_only=\(refuses ? "ON" : "OFF")")
    } catch {
      throw BackendStoreError(error)
    }
  }

  // MARK: Commits

  /// What was gathered, with the connection: it is this thread's until `commit`.
  func take() -> Batch {
    connectionLock.lock()
    defer { (gathered, untold) = ([], nil) }
    return Batch(writes: gathered, through: lastGathered, failure: untold)
  }

  /// In one transaction what `take` gave. Without the owner's lock, on the same thread. After a failure nobody commits
  /// until `abandon`: what was judged meanwhile rests on what is not in the file.
  func commit(_ batch: Batch) throws(BackendStoreError) {
    defer { connectionLock.unlock() }
    do throws(BackendStoreError) {
      if let failure = batch.failure ?? broken { throw failure }
      if !batch.writes.isEmpty { try insert(batch.writes) }
    } catch {
      broken = error
      throw error
    }
  }

  /// After a commit that failed: everything that was judged by what is not in the file did not happen. The number of the
  /// last change of which this is true.
  func abandon() -> Int {
    alone { broken = nil }
    (gathered, untold, cached) = ([], nil, nil)
    // Whoever comes after this waits for another number than those that are told of the failure.
    defer { lastGathered += 1 }
    return lastGathered
  }

  /// Everything that was decided is in the file when this returns; with the owner's lock. If it throws, none of what was
  /// gathered happened, and whoever waits for it is told so.
  func flush() throws(BackendStoreError) {
    let hadWaiting = !gathered.isEmpty
    let batch = take()
    defer { connectionLock.unlock() }
    do throws(BackendStoreError) {
      if let failure = batch.failure ?? broken { throw failure }
      if !batch.writes.isEmpty { try insert(batch.writes) }
    } catch {
      cached = nil
      if hadWaiting || batch.failure != nil { untold = error }
      throw error
    }
  }

  private func commitAlone(_ writes: [BackendWrite]) throws(BackendStoreError) {
    try alone { () throws(BackendStoreError) in
      if let broken { throw broken }
      try insert(writes)
    }
  }

  private func alone<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    connectionLock.lock()
    defer { connectionLock.unlock() }
    return try body()
  }

  /// What the file holds now, to be restored later.
  package func backUp() throws(BackendStoreError) -> BackendBackup {
    try flush()
    return try alone { () throws(BackendStoreError) in
      BackendBackup(writes: try connection.readWrites(holdingProofs: true))
    }
  }

  /// Goes back to a backup, as after a disaster: what came since is gone, and the ledger epoch is another one. The log
  /// of verdicts, which belongs to the tests, goes on.
  package func restore(_ backup: BackendBackup) throws(BackendStoreError) {
    try flush()
    var restored = identity
    restored.restorations += 1
    connectionLock.lock()
    defer { connectionLock.unlock() }
    do throws(SQLiteError) {
      try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
        for table in BackendSchema.restored { try connection.execute("DELETE FROM \(table)") }
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

  private func insert(_ writes: [BackendWrite]) throws(BackendStoreError) {
    do throws(SQLiteError) {
      try connection.transaction(failing: { $0 }) { () throws(SQLiteError) in
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

  private static func load(
    _ connection: borrowing Connection, _ identity: BackendIdentity
  ) throws(BackendStoreError) -> BackendModel {
    var model = BackendModel(
      bundleID: identity.bundleID, seed: identity.seed, restorations: identity.restorations)
    for write in try connection.readWrites(holdingProofs: false) { model.apply(write) }
    return model
  }
}

/// A backend's whole state at a moment.
public struct BackendBackup: Sendable, Hashable {
  var writes: [BackendWrite]
}

/// Why the backend's file could not be read or written.
package struct BackendStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line; never holds a proof or a token.
  package let description: String

  init(_ error: SQLiteError) { description = "the backend's store: \(error)" }

  /// A file of another version: there is nothing in it that a new one could not have.
  init(version: Int64) {
    description =
      "the backend's store: the file is of schema version \(version), not \(BackendSchema.version); begin with a new file"
  }

  /// Something in the file that this version did not write.
  init(unreadable what: String) { description = "the backend's store: \(what) cannot be read" }
}
