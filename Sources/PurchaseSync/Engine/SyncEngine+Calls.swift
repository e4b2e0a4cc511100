import PurchaseQueue

/// Requests that a caller outside waits for: an order, a receipt. They end with the caller's task, and with the engine.
extension SyncEngine {
  /// One request under way.
  struct Call: Sendable {
    var cancel: @Sendable () -> Void
    /// Returns when it has ended.
    var end: @Sendable () async -> Void
  }

  /// Runs a request for a caller. `shutdown` cancels it; after `shutdown` none is begun.
  func call<Answer: Sendable>(
    _ body: @escaping @Sendable (SyncEngine) async -> Result<Answer, SyncError>
  ) async throws(SyncError) -> Answer {
    guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
    let task = Task { await body(self) }
    let number = nextWork
    nextWork += 1
    calls[number] = Call(cancel: { task.cancel() }, end: { _ = await task.value })
    defer { calls[number] = nil }
    return try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }

  /// Ends the requests of all callers. When this returns, nothing is sent for them any more.
  func endCalls() async {
    let underWay = calls.keys.sorted().compactMap { calls[$0] }
    for call in underWay { call.cancel() }
    for call in underWay { await call.end() }
  }
}
