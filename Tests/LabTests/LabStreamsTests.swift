import CommandLineTools
import CommandTestSupport
import Foundation
import Testing

@testable import purchase_lab

/// Output that cannot be written, and streams that the parent process has closed.
@Suite struct LabStreamsTests {
  private static let commands = [
    "crash-images --only attempt --no-faults --cap 4", "explore --seeds 3", "explore --seeds 3 --json",
    "explore --check-determinism --seeds 2", "explore --plant newestFirst", "explore --engine --seeds 2",
    "explore --engine --check-determinism --seeds 2", "explore --engine --plant leaseKept", "replay",
    "replay --engine", "crash-images --replay settle!ioerr2", "help",
  ]

  @Test(arguments: commands)
  func `closed standard output ends with 74`(command: String) throws {
    #expect(try Program.lab.status(of: command, ">&- 2>/dev/null") == 74)
  }

  @Test(arguments: FileManager.default.fileExists(atPath: "/dev/full") ? commands : [])
  func `standard output on a full device ends with 74`(command: String) throws {
    #expect(try Program.lab.status(of: command, ">/dev/full 2>/dev/null") == 74)
  }

  @Test(arguments: [commands[0], commands[3], commands[5]], ["<&- >/dev/null", "2>&- >/dev/null"])
  func `children have their own streams if one of this process is closed`(
    command: String, streams: String
  ) throws {
    #expect(try Program.lab.status(of: command, streams) == 0)
  }
}
