import Foundation

/// Starts threads and counts the running ones, so that a caller can wait for the last one.
final class ThreadGroup: Sendable {
  private static let key = "LoopbackHTTP.ThreadGroup"
  private let running = Monitor(0)

  /// Runs `work` on a thread of its own.
  func start(_ work: @escaping @Sendable () -> Void) {
    running.withLock { $0 += 1 }
    let thread = Thread {
      Thread.current.threadDictionary[ThreadGroup.key] = ObjectIdentifier(self)
      work()
      self.running.withLock { $0 -= 1 }
    }
    // The system's 512 KiB on Darwin are little for a handler that decodes nested JSON.
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Whether the calling thread is one of this group's.
  var hasCurrentThread: Bool {
    (Thread.current.threadDictionary[ThreadGroup.key] as? ObjectIdentifier) == ObjectIdentifier(self)
  }

  func wait(untilFewerThan count: Int) {
    running.wait { $0 < count }
  }
}
