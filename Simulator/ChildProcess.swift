import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The simulated app as a child process of the same binary, which can be killed for real.
final class ChildProcess: Sendable {
  /// How a run of the app ended.
  enum End: Equatable {
    case exited(Int32)
    case killed
  }

  private let process = Process()

  init(arguments: [String]) throws {
    process.executableURL = Self.executable
    process.arguments = ["app"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
  }

  /// SIGKILL: no handler runs in the child, no buffer is flushed.
  func kill() {
    let identifier = process.processIdentifier
    guard identifier > 0, process.isRunning else { return }
    #if canImport(Darwin)
      Darwin.kill(identifier, SIGKILL)
    #else
      Glibc.kill(identifier, SIGKILL)
    #endif
  }

  func wait() -> End {
    process.waitUntilExit()
    if process.terminationReason == .uncaughtSignal, process.terminationStatus == SIGKILL { return .killed }
    return .exited(process.terminationStatus)
  }

  static var executable: URL {
    #if os(Linux)
      return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    #else
      return Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    #endif
  }
}
