package import Foundation

extension Process {
  /// `run`, without a crash that Foundation has on Linux (<https://github.com/swiftlang/swift-corelibs-foundation/pull/5472>,
  /// still in 6.3.1): it reads each entry of `/proc/self/fd` as if it were 256 bytes long. If more than about 1300 files
  /// are open, the last entry is at the end of the buffer, and the memory behind it may not be mapped. Memory that was
  /// just freed is mapped.
  package func begin() throws {
    #if os(Linux)
      _ = Data(count: 1 << 16)
    #endif
    try run()
  }
}
