package import PurchaseSQLite

/// The durable FIFO queue, in one SQLite file: the synchronous core.
///
/// **What returns is durable.** When a call that changes something returns, the change survives a kill and a power
/// cut; when it throws, the stored state is as it was. An entry leaves the queue only by `acknowledge` or an audited
/// `discard`; nothing is evicted. Delivery is at least once: a crash between the delivery and `acknowledge` delivers
/// again.
///
/// Calls block for the disk and belong to one thread or actor at a time; `ReceiptQueue` is the asynchronous form. No
/// lock is held between calls, so several processes can use one file: each writes in its turn.
public final class QueueFile {
  /// Where the file is.
  public let path: String
  /// How much it holds.
  public let limits: QueueLimits
  package let connection: Connection
  let statements: QueueStatements
  let vault: (any ReceiptVault)?
  private let lock: AdvisoryLock
  private var isGrouping = false
  private var afterGroup: [() -> Void] = []
  /// Told at each boundary between two durable steps. Nil unless a test or the simulator sets it.
  package var hook: ((String) -> Void)?
  /// Whether entries are mirrored to a vault.
  package var hasVault: Bool { vault != nil }
  /// What opening had to do: nil, or what was salvaged from a damaged file.
  public let salvage: SalvageReport?
  /// Why file and vault could not be made to agree at the opening; nil if they were.
  public internal(set) var vaultProblem: String?

  /// Opens the file, or makes it. A fresh file is filled from the vault; a damaged one is set aside beside it, and
  /// what can be read is salvaged into a new one.
  ///
  /// Throws without having changed anything if there is something else at the path, or a newer version's file, or if
  /// the file is busy, out of room or out of reach.
  public convenience init(
    path: String, limits: QueueLimits = QueueLimits(), vault: (any ReceiptVault)? = nil, now: Timestamp
  ) throws(QueueError) {
    try self.init(path: path, limits: limits, vault: vault, now: now, hook: nil)
  }

  /// The same, with failpoints from the first step on.
  package init(
    path: String, limits: QueueLimits, vault: (any ReceiptVault)?, now: Timestamp, hook: ((String) -> Void)?
  ) throws(QueueError) {
    var report: SalvageReport?
    self.hook = hook
    connection = try QueueOpening(path: path, hook: hook).open(now: now, &report)
    self.path = path
    self.limits = limits
    self.vault = vault
    salvage = report
    lock = try QueueOpening.lock(of: path)
    statements = QueueStatements(connection)
    reconcileVault(now: now)
  }

  /// Runs `body` in one durable transaction, or in the one that is open. Companion tables of other modules write in
  /// it too.
  package func transaction<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    if connection.isInTransaction { return try body() }
    return try exclusively { () throws(QueueError) in
      try connection.transaction(failing: { QueueError($0, path: self.path) }, body)
    }
  }

  /// Runs `body` while no other process writes or checkpoints.
  ///
  /// SQLite has locks of its own for that; ours closes two holes. Before 3.51.3, two connections that write and
  /// checkpoint at the same moment can, rarely, damage the log (<https://sqlite.org/wal.html#walresetbug>). And a
  /// damaged file must not be set aside while somebody writes to it.
  package func exclusively<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    try QueueOpening.take(lock, path: path)
    defer { lock.unlock() }
    guard !connection.hasMoved else { throw .replaced(path: path) }
    return try body()
  }

  /// Runs SQL. Pages that cannot be read are remembered, so that the next opening salvages what can.
  package func read<R>(_ body: () throws(SQLiteError) -> R) throws(QueueError) -> R {
    do throws(SQLiteError) {
      return try body()
    } catch {
      if case .corrupt = error.code { markDamage() }
      throw QueueError(error, path: path)
    }
  }

  /// The next opening salvages the file; unless it is another one by now.
  func markDamage() {
    guard !connection.hasMoved else { return }
    DamageMark.set(on: path)
  }
}

// MARK: Group commit

extension QueueFile {
  /// One caller's operation.
  package typealias Operation = (QueueFile) throws(QueueError) -> Void

  /// Runs several callers' operations in one commit. Each has the result that it would have had alone: the error of
  /// one, and a commit that fails, do not touch the others.
  package func together(_ operations: [Operation]) -> [QueueError?] {
    guard operations.count > 1 else { return operations.map { alone($0) } }
    var errors = [QueueError?](repeating: nil, count: operations.count)
    do throws(QueueError) {
      try transaction { () throws(QueueError) in
        self.isGrouping = true
        defer { self.isGrouping = false }
        for (index, operation) in operations.enumerated() {
          let before = self.connection.totalChanges
          errors[index] = self.alone(operation)
          // Refused before it changed anything: the others go on. Else all of it is undone and done one by one.
          // A full disk or a failing one may have ended the transaction by itself.
          if let error = errors[index],
            self.connection.totalChanges != before || !self.connection.isInTransaction
          {
            throw error
          }
        }
      }
    } catch {
      afterGroup = []
      return operations.map { alone($0) }
    }
    let steps = afterGroup
    afterGroup = []
    for step in steps { step() }
    return errors
  }

  private func alone(_ operation: Operation) -> QueueError? {
    do throws(QueueError) {
      try operation(self)
      return nil
    } catch {
      return error
    }
  }

  /// Does what follows a commit: now, or when the group's commit has returned.
  func afterCommit(_ step: @escaping () -> Void) {
    if isGrouping { afterGroup.append(step) } else { step() }
  }
}
