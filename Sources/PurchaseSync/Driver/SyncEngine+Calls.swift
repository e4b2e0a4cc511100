import PurchaseQueue

/// What somebody outside waits for: an order, a receipt. It ends with its caller's task, and with the engine.
extension SyncEngine {
  /// One of them, under way.
  struct Call: Sendable {
    var cancel: @Sendable () -> Void
    /// Returns when it has ended.
    var end: @Sendable () async -> Void
  }

  /// Does that for a caller. After `shutdown` nothing is begun, and what was is cancelled.
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

  /// Of `shutdown`: nothing is sent for a caller any more when this returns.
  func endCalls() async {
    let underWay = calls.keys.sorted().compactMap { calls[$0] }
    for call in underWay { call.cancel() }
    for call in underWay { await call.end() }
  }
}
