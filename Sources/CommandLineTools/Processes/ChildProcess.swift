package import Foundation
import PurchaseSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A child process of the same binary, which can be killed with SIGKILL. The child also ends when this process ends in
/// any way, because its standard input ends then.
package final class ChildProcess: Sendable {
  /// How a child ended.
  package enum End: Equatable {
    case exited(Int32)
    /// It was still making attempts, and ended itself.
    case ranOutOfTime
    case killed
    /// By another signal, such as that of a trap.
    case crashed(signal: Int32)
    /// It gave no sign of life, and was killed for that.
    case hung

    /// The failure, if no kill was planned; nil for none.
    package var complaint: String? {
      switch self {
      case .exited(0), .ranOutOfTime: nil
      case .exited(let code): "the app ended with \(code)"
      case .killed: "the app was killed by another process"
      case .crashed(let signal): "the app crashed, signal \(signal)"
      case .hung: "the app hung"
      }
    }
  }

  /// A child without a line of output for so many seconds hangs: the app prints a line every second while it waits.
  private static let patience = 180.0

  private let process = Process()
  private let lifeline = Pipe()
  private let ended = DispatchSemaphore(value: 0)
  private let output: LineReader

  /// - Parameters:
  ///   - arguments: The hidden command and its options.
  ///   - isQuiet: Its standard error is not shown.
  ///   - onEnd: Called once when it has ended, on a thread of its own. Not called if it cannot be started.
  ///   - onLine: Called for each line of its standard output, on a thread of its own.
  package init(
    _ arguments: [String], isQuiet: Bool = false, onEnd: @escaping @Sendable () -> Void = {},
    onLine: @escaping @Sendable (String) -> Void
  ) throws {
    process.executableURL = Self.executable
    process.arguments = arguments
    process.standardInput = lifeline
    let pipe = Pipe()
    process.standardOutput = pipe
    if isQuiet { process.standardError = FileHandle.nullDevice }
    let ended = ended
    process.terminationHandler = { _ in
      onEnd()
      ended.signal()
    }
    output = LineReader(pipe.fileHandleForReading, onLine: onLine)
    do {
      try process.begin()
    } catch {
      throw ChildError(description: "a child process could not be started: \(error.localizedDescription)")
    }
    output.start()
    Children.shared.add(process)
  }

  /// The system's number.
  package var number: Int32 { process.processIdentifier }

  package func kill() { process.kill() }

  /// Its standard input ends: it ends itself, and may write down something before.
  package func release() {
    do {
      try lifeline.fileHandleForWriting.close()
    } catch {
      Terminal.complain("a child's input could not be closed: \(error.localizedDescription)")
    }
  }

  /// Blocks until the child has ended and its last line was read. A child that prints nothing for a long time is killed.
  ///
  /// - Parameter isPatient: Whether it may be silent for as long as it likes.
  package func wait(isPatient: Bool = false) -> End { wait(isPatient: isPatient, atEachLook: {}) }

  /// The same; `look` is called 20 times a second until the child has ended.
  package func wait(isPatient: Bool = false, atEachLook look: () throws -> Void) rethrows -> End {
    defer { Children.shared.remove(process) }
    while ended.wait(timeout: .now() + .milliseconds(50)) != .success {
      try look()
      guard isPatient || output.silence < Self.patience else {
        kill()
        return .hung
      }
    }
    ended.signal()
    output.wait()
    let status = process.terminationStatus
    guard process.terminationReason == .uncaughtSignal else {
      return status == ExitCode.undecided ? .ranOutOfTime : .exited(status)
    }
    return status == SIGKILL ? .killed : .crashed(signal: status)
  }

  package static var executable: URL {
    #if os(Linux)
      return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    #else
      return Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    #endif
  }
}

/// Why a child process could not be started.
package struct ChildError: Error, Hashable, CustomStringConvertible {
  package var description: String

  package init(description: String) { self.description = description }
}

/// The child processes that run now, to be ended with this process.
package final class Children: Sendable {
  package static let shared = Children()

  private let living = Locked<[ObjectIdentifier: Process]>([:])

  package func add(_ child: Process) { living.withLock { $0[ObjectIdentifier(child)] = child } }
  package func remove(_ child: Process) { living.withLock { $0[ObjectIdentifier(child)] = nil } }
  package func killAll() { for child in living.value.values { child.kill() } }
}

extension Process {
  /// SIGKILL: no handler runs in the child, no buffer is flushed.
  package func kill() {
    guard processIdentifier > 0, isRunning else { return }
    #if canImport(Darwin)
      _ = Darwin.kill(processIdentifier, SIGKILL)
    #else
      _ = Glibc.kill(processIdentifier, SIGKILL)
    #endif
  }
}
