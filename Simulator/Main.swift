import Foundation

@main
struct Main {
  static func main() async {
    // A reader of the output may go away: the write then fails, and the process goes on.
    signal(SIGPIPE, SIG_IGN)
    let isHeard = StandardStreams.hold()
    switch Command.parse(Array(CommandLine.arguments.dropFirst())) {
    case .failure(let error):
      exit(error.tell())
    case .success(let command):
      guard isHeard else {
        Terminal.error("purchase-simulator: standard output cannot be written: it is closed")
        exit(ExitCode.outputFailed)
      }
      exit(await command.execute())
    }
  }
}

/// The exit codes. Numbers above 63 are those of sysexits.h.
enum ExitCode {
  static let ok: Int32 = 0
  static let promiseBroken: Int32 = 1
  static let notFound: Int32 = 1
  static let usage: Int32 = 64
  /// EX_DATAERR: the content of a file is not what it should be.
  static let badData: Int32 = 65
  /// EX_NOINPUT: a file cannot be read.
  static let noInput: Int32 = 66
  /// EX_SOFTWARE: a port in use, no space for files, a child process that did not start.
  static let `internal`: Int32 = 70
  /// EX_IOERR: the output could not be written.
  static let outputFailed: Int32 = 74
  /// EX_TEMPFAIL: a run ran out of time, so that nothing follows from it.
  static let undecided: Int32 = 75
}
