import Foundation

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The hook that receives every job of Swift's runtime except those of actors with their own executor: all that `Task`
/// starts and resumes.
///
/// It belongs to the process, so a process that runs engines does nothing else. Sleep does not use the hook (in 6.3 it
/// goes to Dispatch directly), so the simulation provides the engine's sleep.
enum ConcurrencyHook {
  /// C's calling convention, which Swift uses for these functions on our systems. The optimising compiler (6.3.1) crashes
  /// on the runtime's own types, functions that take a function.
  private typealias Original = @convention(c) (UnsafeRawPointer) -> Void
  private typealias Hook = @convention(c) (UnsafeRawPointer, Original) -> Void

  /// The queue that receives jobs; nil leaves them to the system.
  nonisolated(unsafe) private static var queue: SeededQueue?
  nonisolated(unsafe) private static var thread: pthread_t?
  /// Jobs from another thread than the queue's: they do not follow from the seed.
  nonisolated(unsafe) private(set) static var strangers = 0

  /// No executor: for jobs without one.
  static let anywhere = unsafe unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)

  /// Sends the jobs of this thread to the queue from now on.
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
