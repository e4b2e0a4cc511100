import CPurchaseSQLite

/// Ends the work of a connection early, from any thread.
@safe package final class Interrupter: Sendable {
  @safe private struct State {
    var handle: OpaquePointer?
    var isStopped = false
  }

  private let state = Locked(State())

  package init() {}

  /// True after the first `stop`.
  package var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Interrupts the statement that runs now. A statement that begins at this moment may run on: call it again.
  package func stop() {
    state.withLock { state in
      state.isStopped = true
      if let handle = unsafe state.handle { unsafe sqlite3_interrupt(handle) }
    }
  }

  /// Runs `body`, whose statements on the connection `stop` interrupts.
  package func watch<R, E: Error>(
    _ connection: borrowing Connection, _ body: () throws(E) -> R
  ) throws(E) -> R {
    let handle = unsafe connection.handle
    state.withLock { unsafe $0.handle = handle }
    defer { state.withLock { unsafe $0.handle = nil } }
    return try body()
  }
}
