import PurchaseSQLite

/// Wakes the tasks that wait for an entry when this process has committed something.
struct Changes: Sendable {
  private struct Watchers {
    var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
    var last = 0
    var areOver = false
  }

  private let watchers = Locked(Watchers())

  /// A stream that yields after changes. Several changes that no task has waited for count as one.
  func watch() -> (stream: AsyncStream<Void>, wake: AsyncStream<Void>.Continuation) {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number: Int? = watchers.withLock { watchers in
      guard !watchers.areOver else { return nil }
      watchers.last += 1
      watchers.continuations[watchers.last] = continuation
      return watchers.last
    }
    if let number {
      continuation.onTermination = { [watchers] _ in
        watchers.withLock { _ = $0.continuations.removeValue(forKey: number) }
      }
    } else {
      continuation.finish()
    }
    return (stream, continuation)
  }

  /// Something was committed, or a lane was released.
  func notify() {
    // Not under the lock: a continuation may run code of its stream.
    for continuation in watchers.withLock({ Array($0.continuations.values) }) { continuation.yield() }
  }

  /// Ends every stream: the queue is closed.
  func end() {
    let ended = watchers.withLock { watchers in
      watchers.areOver = true
      return Array(watchers.continuations.values)
    }
    for continuation in ended { continuation.finish() }
  }
}
