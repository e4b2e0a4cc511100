import Foundation

/// Work in several threads, each of which waits for children most of the time.
enum Jobs {
  /// One per processor.
  static var usualWidth: Int { max(1, ProcessInfo.processInfo.activeProcessorCount) }

  /// Runs `body` for 0..<count, `width` at a time, and hands over what came of each as soon as all before it are
  /// there; never two at a time. When somebody asks to end, what has not begun does not, and what was under way is
  /// dropped.
  static func run<Value: Sendable>(
    _ count: Int, width: Int, body: @escaping @Sendable (Int) -> Value,
    inOrder deliver: @escaping @Sendable (Int, Value) -> Void
  ) {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = max(1, width)
    let results = InOrder(deliver)
    for index in 0..<count {
      queue.addOperation {
        guard !Interruption.shared.isAsked else { return }
        let value = body(index)
        guard !Interruption.shared.isAsked else { return }
        results.add(index, value)
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    results.deliverRest()
  }
}

/// Puts results in order.
private final class InOrder<Value: Sendable>: Sendable {
  private let lock = NSLock()
  private nonisolated(unsafe) var waiting: [Int: Value] = [:]
  private nonisolated(unsafe) var next = 0
  private let deliver: @Sendable (Int, Value) -> Void

  init(_ deliver: @escaping @Sendable (Int, Value) -> Void) { self.deliver = deliver }

  func add(_ index: Int, _ value: Value) {
    lock.withLock {
      unsafe waiting[index] = value
      while let value = unsafe waiting.removeValue(forKey: next) {
        unsafe deliver(next, value)
        unsafe next += 1
      }
    }
  }

  /// Behind a gap that an interruption left.
  func deliverRest() {
    lock.withLock {
      for (index, value) in unsafe waiting.sorted(by: { $0.key < $1.key }) { deliver(index, value) }
      unsafe waiting = [:]
    }
  }
}
