import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Text for people goes to standard output whole lines at a time; complaints go to standard error.
enum Terminal {
  static func line(_ text: String) { self.text(text + "\n") }

  /// As it is, without a line's end.
  static func text(_ text: String) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
      failed(error.localizedDescription)
    }
  }

  /// A line of JSON.
  static func json(_ value: some Encodable) {
    do {
      line(try JSONOutput.line(value))
    } catch {
      failed("\(error)")
    }
  }

  private static func failed(_ why: String) {
    guard !Interruption.shared.isAsked else { return }
    error("purchase-simulator: standard output cannot be written: \(why)")
    // Work that has files and children ends in order; everything else now.
    guard Interruption.shared.isWatching else { exit(ExitCode.outputFailed) }
    Interruption.shared.stop(code: ExitCode.outputFailed)
  }

  static func error(_ text: String) { errorText(text + "\n") }

  static func errorText(_ text: String) {
    do {
      try FileHandle.standardError.write(contentsOf: Data(text.utf8))
    } catch {
      return  // There is nowhere left to say so; the exit code still does.
    }
  }

  static let errorIsTerminal = isatty(STDERR_FILENO) == 1

  /// Colour only for people who look at it, and not for those who asked for none (no-color.org).
  static let isColoured =
    isatty(STDOUT_FILENO) == 1
    && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// Codes of ECMA-48.
  enum Colour: Int {
    case bold = 1
    case red = 31
    case green = 32
    case yellow = 33
  }

  static func coloured(_ text: String, _ colour: Colour) -> String {
    isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
  }
}
