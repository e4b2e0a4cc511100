#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The processor time of this process: for work that waits for nothing, where what others do on the machine is not its
/// fault.
enum ProcessorTime {
  static func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let begin = clock()
    try body()
    return Double(clock() - begin) * 1_000 / Double(CLOCKS_PER_SEC)
  }
}
