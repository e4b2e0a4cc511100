package import PurchaseSQLite

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A durable FIFO queue in one SQLite file: the synchronous core.
///
/// **What returns is durable.** When a call that changes something returns, the change survives a kill and a power
/// cut; an attempt, and the end of a duty, survive a power cut with the next such call. When it throws, the stored state is unchanged, with one exception: after an error of the storage the change may
/// be found at the next opening (the third outcome; see the page on durability). An entry leaves the queue only by
/// `acknowledge` or by an audited `discard`; the queue evicts nothing. Delivery is at least once: a crash between the delivery and `acknowledge`
/// delivers again.
///
/// Calls block for the disk and belong to one thread or actor at a time; `DurableQueue` is the asynchronous form. No
/// lock is held between calls, so several processes can use one file; each call that writes waits for the others.
public final class QueueFile {
  let setup: QueueSetup
  package let connection: Connection
  let statements: QueueStatements
  private let lock: WriteLock
  /// True while a call runs under the inter-process lock.
  private var isExclusive = false
  /// False while a call must not wait for another process.
  private var waits = true
  /// When the open transaction survives a power cut.
  private var openPromise = CommitPromise.durable
  /// Counts commits that were promised soon.
  package private(set) var soonCommits = 0
  /// Whether the pages were checked, which the first commit waits for.
  private var isChecked = false
  package internal(set) var isGrouping = false
  var afterGroup: [() -> Void] = []
  /// Changes of the books in the open transaction.
  var uncommitted: [QueueChange] = []
  /// Entries whose mirroring ended before their flag could be written: the vault may lack them, and the file does not say
  /// so.
  var unflagged: Set<EntryKey> = []
  /// What was salvaged from a damaged file at the opening; nil if the file was not damaged.
  public let salvage: SalvageReport?
  /// Why file and vault could not be reconciled at the opening; nil if they were.
  public internal(set) var vaultProblem: String?

  /// Opens the file, or creates it. A new file is filled from the vault. A damaged file is archived next to it, and
  /// everything readable is salvaged into a new file.
  ///
  /// Throws without having changed anything if another file is at the path, if a newer version wrote the file, or if
  /// the file is locked, the disk is full, or a permission is missing.
  public convenience init(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any QueueVault)? = nil, now: Date = Date(),
    diagnostics: (@Sendable (Diagnostic) -> Void)? = nil
  ) throws(QueueError) {
    try self.init(
      QueueSetup(path: path, limits: limits, vault: vault, diagnostics: diagnostics), now: Timestamp(now))
  }

  /// As the public initializer, with a whole number of milliseconds.
  package convenience init(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any QueueVault)? = nil, now: Timestamp
  ) throws(QueueError) {
    try self.init(QueueSetup(path: path, limits: limits, vault: vault), now: now)
  }

  /// As the public initializer, with the setup of a test or of another module.
  ///
  /// - Parameter waits: false to throw `busy` at once if another process writes.
  package init(_ setup: QueueSetup, now: Timestamp, waits: Bool = true) throws(QueueError) {
    var report: SalvageReport?
    self.setup = setup
    connection = try QueueOpener(setup: setup, waiting: waits ? QueueOpener.patience : 0).open(
      now: now, &report)
    salvage = report
    lock = try QueueOpener.lock(of: setup.path, on: setup.disk, makesTurn: true)
    statements = QueueStatements(connection)
    reconcileVault(now: now)
  }

  /// The path of the file.
  public var path: String { setup.path }
  /// How much the queue holds.
  public var limits: QueueLimits { setup.limits }
  var vault: (any QueueVault)? { setup.vault }
  /// Whether entries are mirrored to a vault.
  package var hasVault: Bool { vault != nil }
  package var checkpoint: (@Sendable (Checkpoint) -> Void)? { setup.checkpoint }
  package var diagnostics: (@Sendable (Diagnostic) -> Void)? { setup.diagnostics }

  /// Runs `body` in one transaction, or in the one that is open. Other modules write their tables in it too.
  ///
  /// - Parameter promise: When it survives a power cut; nil for a part of an open transaction that goes with it. Without
  ///   any promise, and with one part that is to be durable, all of it is durable.
  package func transaction<R>(
    _ promise: CommitPromise? = nil, _ body: () throws(QueueError) -> R
  ) throws(QueueError) -> R {
    if connection.isInTransaction {
      if let promise { self.promise(promise) }
      return try body()
    }
    openPromise = promise ?? .durable
    return try exclusively { () throws(QueueError) in
      try self.checkStructure()
      do throws(QueueError) {
        let result =
          if self.waits {
            try self.begun(body)
          } else {
            try self.connection.withoutWaiting { () throws(QueueError) in try self.begun(body) }
          }
        if self.openPromise == .soon { self.soonCommits += 1 }
        self.noteDurableLog()
        self.statements.capacity.cache.committed(self.connection.dataVersion)
        self.reportChanges()
        return result
      } catch {
        self.statements.capacity.cache.forget()
        self.uncommitted = []
        throw error
      }
    }
  }

  /// An older note is as true: if this one cannot be written, only less is known.
  private func noteDurableLog() {
    do throws(FileError) {
      try lock.keep(connection.durableLog)
    } catch {
      diagnostics?(Diagnostic(.maintenance, path, error))
    }
  }

  /// A part of the open transaction is to be as durable as this.
  func promise(_ promise: CommitPromise) {
    if promise == .durable { openPromise = .durable }
  }

  private func begun<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    try connection.transaction(
      failing: { QueueError($0, path: self.path) }, promising: { self.openPromise }, body)
  }

  /// Whether a commit of this object may still be lost in a power cut.
  package var hasSoonCommits: Bool { connection.hasDeferredSync }

  /// Makes what was promised soon durable: one sync, if anything was.
  package func makeDurable() throws(QueueError) {
    try read { () throws(SQLiteError) in try connection.syncDeferred() }
  }

  // Closing ends the last moment at which a power cut may lose what was promised soon.
  deinit {
    do throws(QueueError) {
      try makeDurable()
    } catch {
      diagnostics?(Diagnostic(.maintenance, path, error))
    }
  }

  /// Runs `body`, which throws `busy` at once instead of waiting for another process. Then this file keeps its place
  /// in the line: try again soon, or call `leaveLine`.
  package func withoutWaiting<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    let before = waits
    waits = false
    defer { waits = before }
    return try body()
  }

  /// Gives up the place in the line of those that wait for the lock.
  package func leaveLine() { lock.giveUp() }

  /// Runs `body` while no other process writes or checkpoints.
  ///
  /// SQLite has its own locks for that; this lock closes two holes. Before SQLite 3.51.3, two connections that write
  /// and checkpoint at the same moment can, rarely, damage the log (<https://sqlite.org/wal.html#walresetbug>). And a
  /// damaged file must not be archived while another process writes to it.
  package func exclusively<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    if isExclusive { return try body() }
    try QueueOpener.take(lock, path: path, waiting: waits ? QueueOpener.patience : 0)
    isExclusive = true
    defer {
      isExclusive = false
      lock.unlock()
    }
    // Also if another process was killed while it replaced the file: the next opening goes on, and this file is gone.
    let archive = FileArchive(path: path, disk: setup.disk)
    let isBeingReplaced = try QueueError.wrapFile(path) { () throws(FileError) in try archive.isBegun() }
    guard !isBeingReplaced, !connection.hasMoved else { throw .replaced(path: path) }
    return try body()
  }

  /// Checks the pages before this object first writes to the file. Call it where other processes cannot write.
  func checkStructure() throws(QueueError) {
    guard !isChecked else { return }
    if let what = try PageImage.inPieces(of: path, on: setup.disk, StructureCheck.problem) {
      markDamage()
      throw .damaged(path: path, what: what)
    }
    isChecked = true
  }

  /// Runs SQL. If a page cannot be read, the file is marked as damaged, so that the next opening salvages it.
  package func read<R>(_ body: () throws(SQLiteError) -> R) throws(QueueError) -> R {
    do throws(SQLiteError) {
      return try body()
    } catch {
      if case .corrupt = error.code { markDamage() }
      // Our own rows break no rule of our own tables: two readings of damaged pages disagree.
      if case .constraint = error.code, error.isAbout(QueueSchema.tables) {
        markDamage()
        throw .damaged(path: path, what: error.description)
      }
      throw QueueError(error, path: path)
    }
  }

  /// Runs one statement.
  package func run(_ statement: PreparedStatement, _ values: [SQLValue] = []) throws(QueueError) {
    try read { () throws(SQLiteError) in try statement.run(values) }
  }

  /// The first row of one statement.
  package func first<R>(
    _ statement: PreparedStatement, _ values: [SQLValue] = [], _ row: (borrowing Row) -> R
  ) throws(QueueError) -> R? {
    try read { () throws(SQLiteError) in try statement.first(values, row) }
  }

  /// All rows of one statement.
  package func all<R>(
    _ statement: PreparedStatement, _ values: [SQLValue] = [], _ row: (borrowing Row) -> R
  ) throws(QueueError) -> [R] {
    try read { () throws(SQLiteError) in try statement.all(values, row) }
  }
}
