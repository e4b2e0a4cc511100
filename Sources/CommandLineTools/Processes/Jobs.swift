import Foundation
import PurchaseSQLite

/// Runs work on several threads, each of which waits for child processes most of the time.
package enum Jobs {
  /// One per processor.
  package static var usualWidth: Int { max(1, ProcessInfo.processInfo.activeProcessorCount) }

  /// Runs `body` for 0..<count, `width` at a time. Delivers each result as soon as all results before it were delivered,
  /// one at a time. After an interruption no further work begins, and the results of running work are dropped.
  package static func run<Value: Sendable>(
    _ count: Int, width: Int, body: @escaping @Sendable (Int) -> Value,
    inOrder deliver: @escaping @Sendable (Int, Value) -> Void
  ) {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = max(1, width)
    let results = Locked(InOrder(deliver: deliver))
    for index in 0..<count {
      queue.addOperation {
        guard !Interruption.shared.isAsked else { return }
        let value = body(index)
        guard !Interruption.shared.isAsked else { return }
        results.withLock { $0.add(index, value) }
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    results.withLock { $0.deliverRest() }
  }
}

/// Puts results in order.
private struct InOrder<Value> {
  let deliver: @Sendable (Int, Value) -> Void
  private var waiting: [Int: Value] = [:]
  private var next = 0

  init(deliver: @escaping @Sendable (Int, Value) -> Void) { self.deliver = deliver }

  mutating func add(_ index: Int, _ value: Value) {
    waiting[index] = value
    while let value = waiting.removeValue(forKey: next) {
      deliver(next, value)
      next += 1
    }
  }

  /// Delivers the results that come after a gap, which an interruption left.
  mutating func deliverRest() {
    for (index, value) in waiting.sorted(by: { $0.key < $1.key }) { deliver(index, value) }
    waiting = [:]
  }
}
