import PurchaseQueue

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The state of one thread of `FaultVFS`: its disk, its random numbers and its open files. Threads do not share state, so
/// that each of them can run its own simulations.
@safe final class FaultThread {
  var disk = FaultDisk()
  var random = RandomSource(seed: 0)
  /// Open files other than SQLite's, by descriptor.
  var open: [Int32: FaultFiles.Open] = [:]
  private var next: Int32 = 1000
  private var folders = 0

  func keep(_ file: FaultFiles.Open) -> Int32 {
    defer { next += 1 }
    open[next] = file
    return next
  }

  /// A number that no other folder of this thread has.
  func takeFolder() -> Int {
    folders += 1
    return folders
  }

  /// Of the calling thread; made at the first use, gone with the thread.
  static var current: FaultThread {
    if let known = unsafe pthread_getspecific(key) {
      return unsafe Unmanaged<FaultThread>.fromOpaque(known).takeUnretainedValue()
    }
    let fresh = FaultThread()
    unsafe pthread_setspecific(key, Unmanaged.passRetained(fresh).toOpaque())
    return fresh
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = unsafe pthread_key_create(&key) { state in
      #if canImport(Darwin)
        unsafe Unmanaged<FaultThread>.fromOpaque(state).release()
      #else
        if let state = unsafe state { unsafe Unmanaged<FaultThread>.fromOpaque(state).release() }
      #endif
    }
    precondition(status == 0, "the system has no key for thread-specific values")
    return key
  }()
}
