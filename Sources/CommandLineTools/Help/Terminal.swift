import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Standard output gets results, whole lines at a time; standard error gets messages.
package enum Terminal {
  package static func line(_ text: String) { self.text(text + "\n") }

  /// Without adding a line break.
  package static func text(_ text: String) {
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
      failed(error.localizedDescription)
    }
  }

  /// A line of JSON.
  package static func json(_ value: some Encodable) {
    do {
      line(try JSONOutput.line(value))
    } catch {
      failed("\(error)")
    }
  }

  private static func failed(_ why: String) {
    guard !Interruption.shared.isAsked else { return }
    complain("standard output cannot be written: \(why)")
    // Work with files and child processes ends in order. All other work ends now.
    guard Interruption.shared.isWatching else { exit(ExitCode.outputFailed) }
    Interruption.shared.stop(code: ExitCode.outputFailed)
  }

  /// A message of this program.
  package static func complain(_ text: String) { error("\(Program.current.rawValue): \(text)") }

  package static func error(_ text: String) { errorText(text + "\n") }

  package static func errorText(_ text: String) {
    do {
      try FileHandle.standardError.write(contentsOf: Data(text.utf8))
    } catch {
      return  // No other stream is left; the exit code reports it.
    }
  }

  package static let errorIsTerminal = isatty(STDERR_FILENO) == 1

  /// Colours are for terminals, unless the user asked for none (no-color.org).
  package static let isColoured =
    isatty(STDOUT_FILENO) == 1
    && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty
    && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  /// Codes of ECMA-48.
  package enum Colour: Int {
    case bold = 1
    case faint = 2
    case red = 31
    case green = 32
    case yellow = 33
  }

  package static func coloured(_ text: String, _ colour: Colour) -> String {
    isColoured ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
  }
}
