import Foundation

@main
struct Main {
  static func main() async {
    // Whoever reads what is written may go away: that is an error of the write, not the end of the process.
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

/// What the exit codes mean.
enum ExitCode {
  static let ok: Int32 = 0
  static let promiseBroken: Int32 = 1
  static let notFound: Int32 = 1
  static let usage: Int32 = 64
  /// EX_DATAERR: the file is not what it should be.
  static let badData: Int32 = 65
  /// EX_NOINPUT: there is no file to be read.
  static let noInput: Int32 = 66
  /// EX_SOFTWARE: a port in use, no room for files, a child that did not start.
  static let `internal`: Int32 = 70
  /// EX_IOERR: what was to be said could not be written.
  static let outputFailed: Int32 = 74
}
