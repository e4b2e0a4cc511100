#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The clocks of the system, and a blocking pause.
package enum SystemClock {
  package static func milliseconds() -> Int64 {
    var time = timespec()
    unsafe _ = clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Milliseconds that never jump, from an arbitrary start.
  package static func monotonicMilliseconds() -> Int64 {
    var time = timespec()
    unsafe _ = clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// Blocks the thread.
  package static func pause(milliseconds: UInt32) { usleep(milliseconds * 1_000) }
}
