import Foundation

@main
struct Main {
  static func main() async {
    switch Command.parse(Array(CommandLine.arguments.dropFirst())) {
    case .failure(let error):
      Terminal.error("purchase-simulator: \(error.message)\nTry 'purchase-simulator --help'.")
      exit(ExitCode.usage)
    case .success(let command):
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
  static let `internal`: Int32 = 70
  /// EX_IOERR: what was to be said could not be written.
  static let outputFailed: Int32 = 74
}

/// Text for people goes to standard output whole lines at a time; complaints go to standard error.
enum Terminal {
  static func line(_ text: String) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
    } catch {
      self.error("purchase-simulator: standard output cannot be written: \(error.localizedDescription)")
      exit(ExitCode.outputFailed)
    }
  }

  static func error(_ text: String) {
    do {
      try FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
    } catch {
      return  // There is nowhere left to say so; the exit code still does.
    }
  }
}
