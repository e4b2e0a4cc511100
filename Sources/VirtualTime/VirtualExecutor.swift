/// The thread of one actor, as a part of a virtual queue: its jobs keep their order. They end with the process that made it.
package final class VirtualExecutor: SerialExecutor {
  private let queue: VirtualQueue
  private let owner: Int

  package init(_ queue: VirtualQueue) {
    self.queue = queue
    owner = queue.owner
  }

  // Called by systems before iOS 17 and macOS 14.
  package func enqueue(_ job: UnownedJob) { queue.enqueue(.laneJob(job, self), of: owner) }

  // Called by later systems.
  @available(iOS 17, macOS 14, tvOS 17, watchOS 10, *)
  package func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

  // Safe as long as the actor that uses it keeps it.
  @safe package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    unsafe UnownedSerialExecutor(ordinary: self)
  }
}
