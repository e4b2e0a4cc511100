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
}

/// Text for people goes to standard output whole lines at a time; complaints go to standard error.
enum Terminal {
  static func line(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
  static func error(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
}
