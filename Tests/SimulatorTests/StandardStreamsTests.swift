import CommandLineTools
import CommandTestSupport
import Foundation
import Testing

@testable import purchase_simulator

/// Output that cannot be written, and streams that the parent process has closed.
@Suite struct StandardStreamsTests {
  private static let commands = ["run purchase", "help"]

  @Test(arguments: commands)
  func `closed standard output ends with 74`(command: String) throws {
    #expect(try Program.simulator.status(of: command, ">&- 2>/dev/null") == 74)
  }

  @Test(arguments: FileManager.default.fileExists(atPath: "/dev/full") ? commands : [])
  func `standard output on a full device ends with 74`(command: String) throws {
    #expect(try Program.simulator.status(of: command, ">/dev/full 2>/dev/null") == 74)
  }

  @Test(arguments: [commands[0]], ["<&- >/dev/null", "2>&- >/dev/null"])
  func `children have their own streams if one of this process is closed`(
    command: String, streams: String
  ) throws {
    #expect(try Program.simulator.status(of: command, streams) == 0)
  }
}
