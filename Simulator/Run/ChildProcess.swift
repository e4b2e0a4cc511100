import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A child process of the same binary, which can be killed for real. It ends when this process does, however that
/// comes to its end: its standard input is at its end then.
final class ChildProcess: Sendable {
  /// How a child ended.
  enum End: Equatable {
    case exited(Int32)
    case killed
    /// By another signal: a trap, say.
    case crashed(signal: Int32)
    /// It neither ended nor could be ended.
    case hung

    /// What is wrong with it where nobody planned a kill; nil for nothing.
    var complaint: String? {
      switch self {
      case .exited(0): nil
      case .exited(let code): "the app ended with \(code)"
      case .killed: "the app was killed by somebody else"
      case .crashed(let signal): "the app crashed, signal \(signal)"
      case .hung: "the app hung"
      }
    }
  }

  /// No run of the app takes longer, in seconds.
  private static let patience = 180

  private let process = Process()
  private let lifeline = Pipe()
  private let ended = DispatchSemaphore(value: 0)
  private let output: LineReader?

  /// - Parameters:
  ///   - arguments: The hidden subcommand and its options.
  ///   - isQuiet: What it complains of is its own, and not shown.
  ///   - onLine: Hears each line of its standard output, on a thread of its own; nil: there is nobody to hear.
  init(
    _ arguments: [String], isQuiet: Bool = false, onLine: (@Sendable (String) -> Void)? = nil
  ) throws {
    process.executableURL = Self.executable
    process.arguments = arguments
    process.standardInput = lifeline
    let output = onLine.map { _ in Pipe() }
    process.standardOutput = output ?? FileHandle.nullDevice
    if isQuiet { process.standardError = FileHandle.nullDevice }
    let ended = ended
    process.terminationHandler = { _ in ended.signal() }
    self.output = output.flatMap { pipe in
      onLine.map { LineReader(pipe.fileHandleForReading, onLine: $0) }
    }
    do {
      try process.begin()
    } catch {
      throw ChildError(description: "a child process could not be started: \(error.localizedDescription)")
    }
    self.output?.start()
    Children.shared.add(process)
  }

  func kill() { process.kill() }

  /// Its standard input ends: it ends itself, and may write down something before.
  func release() {
    do {
      try lifeline.fileHandleForWriting.close()
    } catch {
      Terminal.error("purchase-simulator: a child could not be let go: \(error.localizedDescription)")
    }
  }

  /// Blocks until it has ended, and until its last line was heard.
  func wait() -> End {
    defer { Children.shared.remove(process) }
    guard hasEnded(within: Self.patience) else {
      kill()
      return .hung
    }
    ended.signal()
    output?.wait()
    guard process.terminationReason == .uncaughtSignal else { return .exited(process.terminationStatus) }
    let signal = process.terminationStatus
    return signal == SIGKILL ? .killed : .crashed(signal: signal)
  }

  private func hasEnded(within seconds: Int) -> Bool {
    ended.wait(timeout: .now() + .seconds(seconds)) == .success
  }

  static var executable: URL {
    #if os(Linux)
      return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    #else
      return Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
    #endif
  }
}

/// Why there is no child.
struct ChildError: Error, Hashable, CustomStringConvertible {
  var description: String
}

/// The children that live, to be ended with this process.
final class Children: Sendable {
  static let shared = Children()

  private let lock = NSLock()
  private nonisolated(unsafe) var living: [ObjectIdentifier: Process] = [:]

  func add(_ child: Process) { lock.withLock { unsafe living[ObjectIdentifier(child)] = child } }
  func remove(_ child: Process) {
    lock.withLock { _ = unsafe living.removeValue(forKey: ObjectIdentifier(child)) }
  }

  func killAll() {
    let all = lock.withLock { unsafe Array(living.values) }
    for child in all { child.kill() }
  }
}

extension Process {
  /// SIGKILL: no handler runs in the child, no buffer is flushed.
  func kill() {
    guard processIdentifier > 0, isRunning else { return }
    #if canImport(Darwin)
      _ = Darwin.kill(processIdentifier, SIGKILL)
    #else
      _ = Glibc.kill(processIdentifier, SIGKILL)
    #endif
  }
}

/// The lines of a pipe, read on a thread of its own until its writer is gone.
private final class LineReader: Sendable {
  private let handle: FileHandle
  private let onLine: @Sendable (String) -> Void
  private let done = DispatchSemaphore(value: 0)

  init(_ handle: FileHandle, onLine: @escaping @Sendable (String) -> Void) {
    (self.handle, self.onLine) = (handle, onLine)
  }

  func start() {
    let thread = Thread { [handle, onLine, done] in
      var rest = Data()
      // Whatever is there; `read(upToCount:)` would wait for all of it.
      while true {
        let data = handle.availableData
        guard !data.isEmpty else { break }
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          onLine(String(decoding: rest[..<end], as: UTF8.self))
          rest = Data(rest[(end + 1)...])
        }
      }
      done.signal()
    }
    thread.stackSize = 1 << 18
    thread.start()
  }

  func wait() {
    done.wait()
    done.signal()
  }
}
