import PurchaseSQLite

/// Keeps a queue's file open: opens it, opens it again after damage, checks it in the background, and maintains it.
///
/// `ReceiptQueue` and the sync engine each have one. Belongs to one actor.
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
  @discardableResult
  package func open() throws(QueueError) -> QueueFile {
    guard !isClosed else { throw .closed(path: setup.path) }
    file = nil
    let opened = try QueueFile(setup, now: now())
    file = opened
    return opened
  }

  /// The open file. Opens it again if it was dropped, or if an earlier opening failed.
  package func current() throws(QueueError) -> QueueFile {
    guard !isClosed else { throw .closed(path: setup.path) }
    if let file { return file }
    return try open()
  }

  /// Closes the file for now: the next call opens it again.
  package func drop() { file = nil }

  /// Maintains the file and closes it for good. Later calls throw `closed`.
  package func close() throws(QueueError) {
    isClosed = true
    defer { file = nil }
    try file?.maintain(now: now())
  }

  // MARK: Working

  /// Runs `body`. If the file is damaged or was replaced, opens it again and runs `body` once more.
  package func run<R>(
    _ body: (QueueFile, Timestamp) throws(QueueError) -> R
  ) throws(QueueError) -> R {
    let file = try current()
    do throws(QueueError) {
      return try body(file, now())
    } catch  where error.asksForReopening {
      drop()
    }
    return try body(current(), now())
  }

  /// Does the work that no call waits for; nothing if the file is not open.
  package func maintain() throws(QueueError) { try file?.maintain(now: now()) }

  /// Reads every value of the file on a thread outside the cooperative pool.
  package static func check(
    _ setup: QueueSetup,
    by beside: @Sendable (@escaping @Sendable () -> Void) -> Void = { BlockingExecutor.beside($0) }
  ) async -> Result<CheckReport, QueueError> {
    await QueueCheck.inBackground(path: setup.path, on: setup.disk, by: beside)
  }
}
