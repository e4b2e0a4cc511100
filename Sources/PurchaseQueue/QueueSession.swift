package import PurchaseSQLite

/// Keeps a queue's file open: opens it, opens it again after damage or a pause, checks it in the background, and
/// maintains it.
///
/// `DurableQueue` and the sync engine each have one. Belongs to one actor.
package final class QueueSession {
  package let setup: QueueSetup
  private let now: @Sendable () -> Timestamp
  private var file: QueueFile?
  private var isClosed = false

  package init(_ setup: QueueSetup, now: @escaping @Sendable () -> Timestamp) {
    self.setup = setup
    self.now = now
  }

  // MARK: Opening

  /// Opens the file. A file that is open is closed first.
  ///
  /// - Parameter waits: false to throw `busy` at once if another process writes.
  @discardableResult
  package func open(waits: Bool = true) throws(QueueError) -> QueueFile {
    guard !isClosed else { throw .closed(path: setup.path) }
    file = nil
    let opened = try QueueFile(setup, now: now(), waits: waits)
    file = opened
    return opened
  }

  /// The open file. Opens it again if it was dropped, or if an earlier opening failed.
  package func current(waits: Bool = true) throws(QueueError) -> QueueFile {
    guard !isClosed else { throw .closed(path: setup.path) }
    if let file { return file }
    return try open(waits: waits)
  }

  /// Closes the file for now: the next call opens it again. A closed file has no locks. Does nothing long.
  package func drop() {
    file?.leaveLongLogOnClose()
    file = nil
  }

  /// Closes the file for good. Later calls throw `closed`. Does nothing long: maintenance belongs into pauses.
  package func close() {
    isClosed = true
    drop()
  }

  // MARK: Working

  /// Runs `body`. If the file is damaged or was replaced, opens it again and runs `body` once more.
  package func run<R>(
    waits: Bool = true, _ body: (QueueFile, Timestamp) throws(QueueError) -> R
  ) throws(QueueError) -> R {
    let file = try current(waits: waits)
    do throws(QueueError) {
      return try body(file, now())
    } catch  where error.asksForReopening {
      drop()
    }
    return try body(current(waits: waits), now())
  }

  /// Does the work that no call waits for; nothing if the file is not open. False if another process writes now.
  package func maintain() throws(QueueError) -> Bool {
    try file?.maintainUnlessBusy(now: now()) ?? true
  }

  /// Gives up the place in the line of those that wait for the lock.
  package func leaveLine() { file?.leaveLine() }

  /// Reads every value of the file on a thread outside the cooperative pool. Throws `closed` if it was ended early: by
  /// `stop`, or because its task was cancelled.
  package static func check(
    _ setup: QueueSetup, until stop: Interrupter = Interrupter(),
    by runBlocking: @Sendable (@escaping @Sendable () -> Void) -> Void = { BlockingExecutor.runBlocking($0) }
  ) async -> Result<CheckReport, QueueError> {
    await withTaskCancellationHandler {
      await QueueCheck.inBackground(path: setup.path, on: setup.disk, until: stop, by: runBlocking)
    } onCancel: {
      stop.stop()
    }
  }
}
