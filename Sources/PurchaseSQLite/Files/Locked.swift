#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A value that several threads use: every access holds one lock.
///
/// `Synchronization.Mutex` needs iOS 18 and macOS 15, `NSLock` needs all of Foundation; this is a POSIX mutex.
@safe package final class Locked<Value>: @unchecked Sendable {
  // A mutex must not move in memory, so it is allocated.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var guarded: Value

  package init(_ value: sending Value) {
    guarded = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Runs `body` while no other thread uses the value. Never call it from inside `body`: that is a deadlock.
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&guarded)
  }

  /// A copy.
  package var value: Value { withLock { $0 } }
}
