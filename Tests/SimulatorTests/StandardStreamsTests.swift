import Foundation
import Testing

@testable import purchase_simulator

/// Nobody hears what is said, or one of the streams was closed by whoever started it.
@Suite(.timeLimit(.minutes(4))) struct StandardStreamsTests {
  static let commands = [
    "crash-images --only attempt --no-faults --cap 4", "explore --seeds 3", "explore --seeds 3 --json",
    "explore --check-determinism --seeds 2", "explore --plant newestFirst", "explore --shell --seeds 2",
    "explore --shell --check-determinism --seeds 2", "explore --shell --plant leaseKept", "replay",
    "replay --shell", "crash-images --replay settle!ioerr2", "run purchase", "help",
  ]

  /// The exit code of the command with something done to its streams.
  private func status(of command: String, _ streams: String) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "exec \"$0\" \(command) \(streams)", RunTests.binary.path]
    try process.begin()
    process.waitUntilExit()
    return process.terminationStatus
  }

  @Test(arguments: commands)
  func `standard output that is closed ends with 74`(command: String) throws {
    #expect(try status(of: command, ">&- 2>/dev/null") == 74)
  }

  @Test(arguments: FileManager.default.fileExists(atPath: "/dev/full") ? commands : [])
  func `standard output that has no room ends with 74`(command: String) throws {
    #expect(try status(of: command, ">/dev/full 2>/dev/null") == 74)
  }

  @Test(arguments: [commands[0], commands[3], commands[5]], ["<&- >/dev/null", "2>&- >/dev/null"])
  func `children have their own streams where one of this process is closed`(
    command: String, streams: String
  ) throws {
    #expect(try status(of: command, streams) == 0)
  }
}
