import CommandLineTools
import Foundation
import PurchaseSQLite

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Writes the lines of one process into the trace of a run: a pipe with a name, which the processes of the run share.
///
/// Each writes under one lock between processes. So the lines have the order in which they were noted, and what is read
/// for a line is read in that order too. A pipe and no file: a phone whose disk is full writes its lines as well.
final class StepChannel: Sendable {
  /// Whatever holds the lock longer than this is stopped, and not busy.
  private static let patience = 60_000

  private final class Pen {
    let handle: FileHandle
    let lock: AdvisoryLock
    var isClosed = false

    init(_ handle: FileHandle, _ lock: consuming AdvisoryLock) {
      self.handle = handle
      self.lock = lock
    }
  }

  private let pen: Locked<Pen>
  private let process = ProcessInfo.processInfo.processIdentifier
  private let failed: @Sendable (String) -> Void

  /// - Parameter failed: Called if a line could not be written: the trace is worth nothing then.
  init(path: String, failed: @escaping @Sendable (String) -> Void) throws {
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    pen = Locked(Pen(handle, try AdvisoryLock(path: Self.lock(of: path))))
    self.failed = failed
  }

  static func lock(of path: String) -> String { path + "-lock" }

  /// The channel of a child process, which ends itself if a line cannot be written.
  static func ofChild(_ path: String?) throws -> StepChannel? {
    try path.map { path in
      try StepChannel(path: path) { reason in
        Terminal.error("the trace could not be written: \(reason)")
        _exit(ExitCode.internal)
      }
    }
  }

  /// Nothing is written from now on.
  func close() {
    pen.withLock { pen in
      pen.isClosed = true
      do { try pen.handle.close() } catch { failed("\(error)") }
    }
  }

  /// Writes what `events` returns. No other line comes between the begin of that call and these lines.
  func note(_ events: () throws -> [StepEvent]) {
    pen.withLock { pen in
      guard !pen.isClosed else { return }
      do {
        guard try pen.lock.lock(timeoutMilliseconds: Self.patience) else {
          return failed("another process holds it")
        }
        defer { pen.lock.unlock() }
        // A line that a kill has cut off ends here.
        var text = Data("\n".utf8)
        let all = try events()
        guard !all.isEmpty else { return }
        for event in all {
          text += try JSONEncoder().encode(StepLine(by: process, event: event)) + Data("\n".utf8)
        }
        try pen.handle.write(contentsOf: text)
      } catch {
        failed("\(error)")
      }
    }
  }
}
