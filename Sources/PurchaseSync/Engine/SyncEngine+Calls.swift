import PurchaseQueue

/// Requests that a caller outside waits for: an order, a receipt. They end with the caller's task, and with the engine.
extension SyncEngine {
  /// Runs a request for a caller. `shutdown` cancels it; after `shutdown` none is begun.
  func call<Answer: Sendable>(
    _ body: @escaping @Sendable (SyncEngine) async -> Result<Answer, SyncError>
  ) async throws(SyncError) -> Answer {
    guard !isShutDown else { throw .queue(.closed(path: configuration.path)) }
    let task = Task { await body(self) }
    let number = calls.begins(cancel: { task.cancel() }, end: { _ = await task.value })
    defer { calls.ended(number) }
    return try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }

  /// Ends the requests of all callers. When this returns, nothing is sent for them any more.
  func endCalls() async {
    let underWay = calls.underWay
    for call in underWay { call.cancel() }
    for call in underWay { await call.end() }
  }
}

/// The requests that callers outside wait for.
struct CallerRequests {
  struct Request: Sendable {
    var cancel: @Sendable () -> Void
    /// Returns when it has ended.
    var end: @Sendable () async -> Void
  }

  private var requests: [Int: Request] = [:]
  private var next = 0

  /// Oldest first.
  var underWay: [Request] { requests.keys.sorted().compactMap { requests[$0] } }

  /// Returns the request's number.
  mutating func begins(
    cancel: @escaping @Sendable () -> Void, end: @escaping @Sendable () async -> Void
  ) -> Int {
    next += 1
    requests[next] = Request(cancel: cancel, end: end)
    return next
  }

  mutating func ended(_ number: Int) { requests[number] = nil }
}
