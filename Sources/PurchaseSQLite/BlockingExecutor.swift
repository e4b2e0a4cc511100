import Dispatch

/// Runs an actor's jobs on a queue of its own, so that waiting for the disk never holds a thread of the
/// cooperative pool.
package final class BlockingExecutor: SerialExecutor {
  private let queue: DispatchQueue

  package init(label: String) {
    queue = DispatchQueue(label: label)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    queue.async { unsafe unowned.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  // Safe as long as the actor that returns it from `unownedExecutor` keeps this object in a `let`.
  @safe package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }
}
