import Dispatch

/// Runs the jobs of an actor on a dispatch queue of its own, so that waiting for the disk never holds a thread of the
/// cooperative pool.
package final class BlockingExecutor: SerialExecutor {
  private let queue: DispatchQueue

  package init(label: String) {
    queue = DispatchQueue(label: label)
  }

  // Called by systems before iOS 17 and macOS 14.
  package func enqueue(_ job: UnownedJob) {
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  // Called by later systems.
  @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
  package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  // Safe as long as the actor that returns it from `unownedExecutor` keeps this object in a `let`.
  @safe package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }

  /// Runs blocking work on a thread outside the cooperative pool, and waits for it.
  package static func offThePool<R: Sendable>(
    by runBlocking: @Sendable (@escaping @Sendable () -> Void) -> Void = { BlockingExecutor.runBlocking($0) },
    _ work: @escaping @Sendable () -> R
  ) async -> R {
    await withCheckedContinuation { continuation in
      runBlocking { continuation.resume(returning: work()) }
    }
  }

  /// Runs blocking work on a thread outside the cooperative pool.
  package static func runBlocking(_ work: @escaping @Sendable () -> Void) {
    DispatchQueue.global(qos: .utility).async(execute: work)
  }
}

/// Keeps an injected executor alive for the actor that runs on it.
@safe package struct InjectedExecutor: Sendable {
  private let base: any SerialExecutor

  package init(_ base: any SerialExecutor) { self.base = base }

  // Safe as long as the actor that returns it from `unownedExecutor` keeps this value in a `let`.
  @safe package func unowned() -> UnownedSerialExecutor { unsafe base.asUnownedSerialExecutor() }
}
