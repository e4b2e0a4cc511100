/// A command line that can be typed again: words with a special meaning in a POSIX shell are quoted.
package enum TypedCommand {
  /// - Parameter words: What follows the name of the program.
  package static func line(_ words: [String], of program: Program = .simulator) -> String {
    ([program.rawValue] + words).map(quoted).joined(separator: " ")
  }

  /// Within single quotes every character has its literal meaning; only a single quote has to be outside of them
  /// (POSIX.1-2024, Shell Command Language, 2.2.2).
  package static func quoted(_ word: String) -> String {
    guard word.isEmpty || !word.unicodeScalars.allSatisfy(isPlain) else { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
      + "'"
  }

  /// Keeps a path that begins with a minus from being read as an option.
  package static func path(_ path: String) -> String { path.hasPrefix("-") ? "./" + path : path }

  /// Characters without a special meaning in any shell, anywhere in a word.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ",", ":", "=", "+", "@", "%": true
    default: false
    }
  }
}
