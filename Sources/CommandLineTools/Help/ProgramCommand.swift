import Foundation

/// The programs of this package.
package enum Program: String, Sendable {
  case simulator = "purchase-simulator"
  case lab = "purchase-lab"

  /// The one that runs: also tests run as the simulator.
  package static let current = Program(rawValue: ChildProcess.executable.lastPathComponent) ?? .simulator
}

/// A page of `help` that is not about a command.
package struct HelpTopic: Sendable {
  package var name: String
  package var summary: String
  package var text: String

  package init(name: String, summary: String, text: String) {
    (self.name, self.summary, self.text) = (name, summary, text)
  }
}

/// A parsed command line of a program.
package protocol ProgramCommand: Equatable, Sendable {
  static var program: Program { get }
  /// What the first page of `help` begins with.
  static var introduction: String { get }
  static var examples: [String] { get }
  /// Every command that people call, in the order of `help`.
  static var commands: [CommandHelp<Self>] { get }
  static var topics: [HelpTopic] { get }
  /// The page of a command or a topic; of nil the page of all commands.
  static func help(_ name: String?) -> Self
  static var version: Self { get }
  /// A command that is a child process of another one; nil for another name.
  static func hidden(_ name: String, _ arguments: [String]) -> Result<Self, UsageError>?
  /// Does it. Returns the exit code.
  func execute() async -> Int32
}

extension ProgramCommand {
  package static func parse(_ arguments: [String]) -> Result<Self, UsageError> {
    guard let name = arguments.first else { return .success(.help(nil)) }
    let rest = Array(arguments.dropFirst())
    switch name {
    case "--help", "-h": return .success(.help(nil))
    case "--version": return .success(.version)
    case "help": return help(of: rest)
    default: break
    }
    if let command = hidden(name, rest) { return command }
    guard let entry = CommandHelp<Self>.named(name) else { return .failure(unknown(name)) }
    if rest.contains(where: { $0 == "--help" || $0 == "-h" }) { return .success(.help(name)) }
    return entry.parse(rest).mapError { UsageError(message: $0.message, command: name) }
  }

  private static func help(of rest: [String]) -> Result<Self, UsageError> {
    guard let name = rest.first else { return .success(.help(nil)) }
    guard rest.count == 1 else { return .failure(UsageError(message: "help takes one COMMAND")) }
    return CommandHelp<Self>.page(of: name) == nil ? .failure(unknown(name)) : .success(.help(name))
  }

  private static func unknown(_ name: String) -> UsageError {
    let nearest = Nearest.name(to: name, in: commands.map(\.name) + ["help"] + topics.map(\.name))
    return UsageError(message: "there is no command '\(name)'\(nearest)")
  }

  /// Reads the command line of this process, and does it.
  package static func main() async -> Never {
    // A reader of the output may go away: the write then fails, and the process goes on.
    signal(SIGPIPE, SIG_IGN)
    let isHeard = StandardStreams.hold()
    switch parse(Array(CommandLine.arguments.dropFirst())) {
    case .failure(let error):
      exit(error.tell())
    case .success(let command):
      guard isHeard else {
        Terminal.complain("standard output cannot be written: it is closed")
        exit(ExitCode.outputFailed)
      }
      exit(await command.execute())
    }
  }
}

/// The exit codes. Numbers above 63 are those of sysexits.h.
package enum ExitCode {
  package static let ok: Int32 = 0
  package static let promiseBroken: Int32 = 1
  package static let notFound: Int32 = 1
  package static let usage: Int32 = 64
  /// EX_DATAERR: the content of a file is not what it should be.
  package static let badData: Int32 = 65
  /// EX_NOINPUT: a file cannot be read.
  package static let noInput: Int32 = 66
  /// EX_SOFTWARE: a port in use, no space for files, a child process that did not start.
  package static let `internal`: Int32 = 70
  /// EX_IOERR: the output could not be written.
  package static let outputFailed: Int32 = 74
  /// EX_TEMPFAIL: a run ran out of time, so that nothing follows from it.
  package static let undecided: Int32 = 75
}
