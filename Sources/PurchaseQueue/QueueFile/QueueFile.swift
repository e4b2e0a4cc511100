package import PurchaseSQLite

/// A durable FIFO queue in one SQLite file: the synchronous core.
///
/// **What returns is durable.** When a call that changes something returns, the change survives a kill and a power
/// cut. When it throws, the stored state is unchanged. An entry leaves the queue only by `acknowledge` or by an audited
/// `discard`; the queue evicts nothing. Delivery is at least once: a crash between the delivery and `acknowledge`
/// delivers again.
///
/// Calls block for the disk and belong to one thread or actor at a time; `ReceiptQueue` is the asynchronous form. No
/// lock is held between calls, so several processes can use one file; each call that writes waits for the others.
public final class QueueFile {
  let setup: QueueSetup
  package let connection: Connection
  let statements: QueueStatements
  private let lock: AdvisoryLock
  var isGrouping = false
  var afterGroup: [() -> Void] = []
  /// What was salvaged from a damaged file at the opening; nil if the file was not damaged.
  public let salvage: SalvageReport?
  /// Why file and vault could not be reconciled at the opening; nil if they were.
  public internal(set) var vaultProblem: String?

  /// Opens the file, or creates it. A new file is filled from the vault. A damaged file is archived beside it, and
  /// everything readable is salvaged into a new file.
  ///
  /// Throws without having changed anything if another file is at the path, if a newer version wrote the file, or if
  /// the file is locked, the disk is full, or a permission is missing.
  public convenience init(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any ReceiptVault)? = nil, now: Timestamp,
    diagnostics: (@Sendable (Diagnostic) -> Void)? = nil
  ) throws(QueueError) {
    try self.init(
      QueueSetup(path: path, limits: limits, vault: vault, diagnostics: diagnostics), now: now)
  }

  /// As the public initializer, with the setup of a test or of another module.
  package init(_ setup: QueueSetup, now: Timestamp) throws(QueueError) {
    var report: SalvageReport?
    self.setup = setup
    connection = try QueueOpener(setup: setup).open(now: now, &report)
    salvage = report
    lock = try QueueOpener.lock(of: setup.path, on: setup.disk)
    statements = QueueStatements(connection)
    reconcileVault(now: now)
  }

  /// The path of the file.
  public var path: String { setup.path }
  /// How much the queue holds.
  public var limits: QueueLimits { setup.limits }
  var vault: (any ReceiptVault)? { setup.vault }
  /// Whether entries are mirrored to a vault.
  package var hasVault: Bool { vault != nil }
  package var checkpoint: (@Sendable (Checkpoint) -> Void)? { setup.checkpoint }
  package var diagnostics: (@Sendable (Diagnostic) -> Void)? { setup.diagnostics }

  /// Runs `body` in one durable transaction, or in the one that is open. Other modules write their tables in it too.
  package func transaction<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    if connection.isInTransaction { return try body() }
    return try exclusively { () throws(QueueError) in
      try connection.transaction(failing: { QueueError($0, path: self.path) }, body)
    }
  }

  /// Runs `body` while no other process writes or checkpoints.
  ///
  /// SQLite has its own locks for that; this lock closes two holes. Before SQLite 3.51.3, two connections that write
  /// and checkpoint at the same moment can, rarely, damage the log (<https://sqlite.org/wal.html#walresetbug>). And a
  /// damaged file must not be archived while another process writes to it.
  package func exclusively<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    try QueueOpener.take(lock, path: path)
    defer { lock.unlock() }
    guard !connection.hasMoved else { throw .replaced(path: path) }
    return try body()
  }

  /// Runs SQL. If a page cannot be read, the file is marked as damaged, so that the next opening salvages it.
  package func read<R>(_ body: () throws(SQLiteError) -> R) throws(QueueError) -> R {
    do throws(SQLiteError) {
      return try body()
    } catch {
      if case .corrupt = error.code { markDamage() }
      throw QueueError(error, path: path)
    }
  }
}
