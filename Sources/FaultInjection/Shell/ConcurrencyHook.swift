import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The hook through which Swift's runtime hands over every job that is not an actor's with an executor of its own: all
/// that `Task` starts, and all that is resumed there.
///
/// It belongs to the process: a process that explores shells does nothing else. Sleep does not come this way (in 6.3 it
/// goes to Dispatch directly), so the engine's sleep is brought in.
enum ConcurrencyHook {
  /// As C calls them, which is how Swift calls these on the systems that we run on: the compiler (6.3.1, optimising)
  /// crashes over the runtime's own types, functions that take a function.
  private typealias Original = @convention(c) (UnsafeRawPointer) -> Void
  private typealias Hook = @convention(c) (UnsafeRawPointer, Original) -> Void

  /// Where jobs go; nil gives them back to the system.
  nonisolated(unsafe) private static var queue: SeededQueue?
  nonisolated(unsafe) private static var thread: pthread_t?
  /// Jobs that came from another thread than the queue's: the run does not follow from its seed.
  nonisolated(unsafe) private(set) static var strangers = 0

  /// No executor: what a job runs on that is nobody's.
  static let anywhere = unsafe unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)

  /// From now on, on this thread, jobs go to that queue.
  static func lead(to queue: SeededQueue?) -> Bool {
    guard install() else { return false }
    unsafe self.queue = queue
    unsafe thread = pthread_self()
    unsafe strangers = 0
    return true
  }

  private static let isInstalled: Bool = {
    guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
      return false
    }
    unsafe symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
      if let queue = unsafe ConcurrencyHook.queue, let thread = unsafe ConcurrencyHook.thread,
        pthread_equal(thread, pthread_self()) != 0
      {
        queue.enqueue(unsafe unsafeBitCast(job, to: UnownedJob.self))
      } else {
        unsafe ConcurrencyHook.strangers += 1
        unsafe original(job)
      }
    }
    return true
  }()

  private static func install() -> Bool { isInstalled }
}
