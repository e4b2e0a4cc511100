import PurchaseSQLite

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What an app calls. A call that changes something is durable when it returns.
extension DurableQueue {
  /// Queues an entry at the end of its lane; see `QueueWriter.enqueue`.
  @discardableResult
  public nonisolated func enqueue(_ new: NewEntry) async throws(QueueError) -> Enqueued {
    try await submit { (file, now) throws(QueueError) in try file.enqueue(new, now: now) }
  }

  /// Removes settled entries and leaves a tombstone for each, all in one commit; see `QueueWriter.acknowledge`.
  @discardableResult
  public nonisolated func acknowledge(_ settlements: [Settlement]) async throws(QueueError) -> [Tombstone] {
    try await submit { (file, now) throws(QueueError) in try file.acknowledge(settlements, now: now) }
  }

  /// Runs calls that change the queue in one durable commit, which other callers may share:
  /// `try await queue.write { try $0.release(key) }`.
  ///
  /// Throws `QueueError`, or what `body` throws. Then the calls of `body` are undone, and only these. `body` runs on the
  /// queue's executor, and runs again if the file was damaged or replaced since; it must not block.
  @discardableResult
  public nonisolated func write<R: Sendable>(
    _ body: @escaping @Sendable (QueueWriter) throws -> R
  ) async throws -> R {
    let thrown = ThrownError()
    do throws(QueueError) {
      return try await submit { (file, now) throws(QueueError) in
        // Also where the queue repeats a call outside of the shared commit, the calls of a body are one commit.
        try file.inOneCommit { () throws(QueueError) in
          try thrown.undoing { try body(QueueWriter(file: file, now: now)) }
        }
      }
    } catch {
      throw thrown.error ?? error
    }
  }

  /// Runs calls that only read: `let count = try await queue.read { try $0.count() }`. Does not wait behind callers that
  /// change the queue.
  ///
  /// Throws `QueueError`, or what `body` throws. `body` runs on the queue's executor, and runs again if the file was
  /// damaged, replaced or busy since; it must not block.
  public func read<R: Sendable>(_ body: @Sendable (QueueReader) throws -> R) async throws -> R {
    let thrown = ThrownError()
    do throws(QueueError) {
      return try await serve { (file, now) throws(QueueError) in
        try thrown.undoing { try body(QueueReader(file: file, now: now)) }
      }
    } catch {
      throw thrown.error ?? error
    }
  }

  /// Does the work that no caller waits for. It runs by itself in a pause after the last call.
  package func maintain() async throws(QueueError) {
    try await serve { (file, now) throws(QueueError) in try file.maintain(now: now) }
  }
}

/// The calls of `DurableQueue`, for code that may block.
extension QueueFile {
  /// Runs calls that change the queue in one durable commit: `try file.write { try $0.enqueue(entry) }`.
  ///
  /// Throws `QueueError`, or what `body` throws. Then the calls of `body` are undone.
  @discardableResult
  public func write<R>(now: Date = Date(), _ body: (QueueWriter) throws -> R) throws -> R {
    let thrown = ThrownError()
    do throws(QueueError) {
      return try inOneCommit { () throws(QueueError) in
        try thrown.undoing { try body(QueueWriter(file: self, now: Timestamp(now))) }
      }
    } catch {
      throw thrown.error ?? error
    }
  }

  /// Runs calls that only read: `let count = try file.read { try $0.count() }`. Throws `QueueError`, or what `body`
  /// throws.
  public func read<R>(now: Date = Date(), _ body: (QueueReader) throws -> R) throws -> R {
    try body(QueueReader(file: self, now: Timestamp(now)))
  }

  /// Does the work that no caller has to wait for: copies a long log into the file, returns free pages to the file
  /// system, removes old tombstones, and mirrors entries that could not be mirrored before. Call it when the app is
  /// idle; it is cheap if there is nothing to do.
  public func maintain() throws(QueueError) { try maintain(now: Timestamp(Date())) }
}

/// Carries any error of a caller's code out of a commit, which only knows errors of the queue.
private final class ThrownError: Sendable {
  private let thrown = Locked<(any Error)?>(nil)

  var error: (any Error)? { thrown.value }

  /// Runs `body`. Its error becomes one of the queue, so that the commit undoes its calls.
  func undoing<R>(_ body: () throws -> R) throws(QueueError) -> R {
    thrown.withLock { $0 = nil }
    do {
      return try body()
    } catch let error as QueueError {
      throw error
    } catch {
      thrown.withLock { $0 = error }
      throw .invalid(what: "the body of the call threw an error")
    }
  }
}
