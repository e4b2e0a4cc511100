#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The processor time of this process. For work without waits: other processes on the machine do not affect it.
package enum ProcessorTime {
  /// Milliseconds since the process began.
  package static var now: Double { Double(clock()) * 1_000 / Double(CLOCKS_PER_SEC) }

  package static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let begin = clock()
    try body()
    return Double(clock() - begin) * 1_000 / Double(CLOCKS_PER_SEC)
  }
}
