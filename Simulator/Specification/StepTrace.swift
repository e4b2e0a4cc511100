import CommandLineTools
import Foundation
import PurchaseSQLite
import PurchaseSyncTesting
import Specification

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The trace of one run, for the specification: the parent's end of the pipe into which all processes of the run write.
final class StepTrace: Sendable {
  /// The pipe, for children.
  let path: String
  let channel: StepChannel
  private let server: ServerSteps
  private let lines = Locked<[String]>([])
  private let failure: Locked<String?>
  private let reader: LineReader

  /// - Parameter earlier: The lines of the run that this one continues.
  init(below directory: String, after earlier: [String] = []) throws {
    path = directory + "/trace"
    guard unsafe mkfifo(path, 0o600) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    // Without a writer: opening waits for none.
    let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0, fcntl(descriptor, F_SETFL, 0) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    let failure = Locked<String?>(nil)
    self.failure = failure
    lines.withLock { $0 = earlier }
    reader = LineReader(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)) { [lines] line in
      if !line.isEmpty { lines.withLock { $0.append(line) } }
    }
    channel = try StepChannel(path: path) { reason in failure.withLock { $0 = $0 ?? reason } }
    server = ServerSteps(channel)
    reader.start()
  }

  func watch(_ server: MockServer, makesUpAnswers: Bool = false) {
    self.server.watch(server, makesUpAnswers: makesUpAnswers)
  }
  func passed(_ moment: RequestMoment) { server.passed(moment) }
  /// Notes what the store and the backend of this process did by themselves.
  func observe() { server.observe() }
  func backendRestored() { server.restored() }
  func note(_ event: StepEvent) { channel.note { [event] } }

  /// Notes the end of a child, and what its file has then: a kill may have come between a commit and its line.
  func died(_ child: ChildProcess, _ end: ChildProcess.End, on phone: Device) {
    channel.note {
      let path = Device.queue(in: phone.container)
      var file = WatchedFile()
      var change: FileChange?
      do {
        _ = try file.look(at: path, leavesLog: true)
        if FileManager.default.fileExists(atPath: path) { change = FileChange(all: file.known) }
      } catch is SQLiteError {
        // A file of an earlier version, or one that has no tables yet: the next launch says what is in it.
      }
      return [.died(child.number, wasKilled: end == .killed, phone: phone.name, change)]
    }
  }

  /// The lines, when all processes of the run have ended. Removes the pipe.
  func end() throws -> [String] {
    channel.close()
    reader.wait()
    for file in [path, StepChannel.lock(of: path)] { try FileManager.default.removeItem(atPath: file) }
    if let reason = failure.value {
      throw ChildError(description: "the trace could not be written: \(reason)")
    }
    let lines = lines.value
    // For people: it stays with the other files of the run.
    try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: path + ".jsonl"))
    return lines
  }
}
