import PurchaseSQLite

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Swift's hook for jobs: all that `Task` starts, and all that resumes a task off the main actor.
///
/// It belongs to the process. Only the jobs of a thread that works for a queue at that moment go to that queue; those of
/// all other threads take the way that they had before, so other tests run next to it. In 6.3 the jobs of the main
/// actor, `Task.sleep` and `Task.yield` go to Dispatch without the hook.
enum ConcurrencyHook {
  /// C's calling convention, which Swift uses for these functions on our systems. The optimising compiler (6.3.1) crashes
  /// on the runtime's own types, functions that take a function.
  private typealias Original = @convention(c) (UnsafeRawPointer) -> Void
  private typealias Hook = @Sendable @convention(c) (UnsafeRawPointer, Original) -> Void

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// The hook that was there before ours.
  nonisolated(unsafe) private static var before: Hook?

  /// No executor: for jobs that any thread may run.
  static let anywhere = unsafe unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)

  /// The queue that this thread works for.
  private static var queue: VirtualQueue? {
    unsafe pthread_getspecific(key).map {
      unsafe Unmanaged<VirtualQueue>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Runs `body` on this thread, and sends to the queue the jobs that it starts.
  static func leading<R>(to queue: VirtualQueue, _ body: () throws -> R) rethrows -> R {
    let before = unsafe pthread_getspecific(key)
    unsafe pthread_setspecific(key, Unmanaged.passUnretained(queue).toOpaque())
    defer { unsafe pthread_setspecific(key, before) }
    return try body()
  }

  /// Runs `body` on this thread, and leaves the jobs that it starts to the system.
  static func leaving<R>(_ body: () throws -> R) rethrows -> R {
    let before = unsafe pthread_getspecific(key)
    pthread_setspecific(key, nil)
    defer { unsafe pthread_setspecific(key, before) }
    return try body()
  }

  private static let installing = Locked(())

  /// False if this runtime has no such hook. Repeated for each queue: other code of the process may use it too.
  static func install() -> Bool {
    installing.withLock { _ in
      guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
        return false
      }
      let place = unsafe symbol.assumingMemoryBound(to: Hook?.self)
      if unsafe !isSame(place.pointee, hook) {
        unsafe before = place.pointee
        unsafe place.pointee = hook
      }
      return true
    }
  }

  private static func isSame(_ one: Hook?, _ other: Hook) -> Bool {
    unsafe unsafeBitCast(one, to: UInt.self) == unsafeBitCast(other, to: UInt.self)
  }

  private static let hook: Hook = { job, original in
    if let queue = ConcurrencyHook.queue {
      queue.enqueue(.job(unsafe unsafeBitCast(job, to: UnownedJob.self)))
    } else if let before = unsafe ConcurrencyHook.before {
      unsafe before(job, original)
    } else {
      unsafe original(job)
    }
  }
}
