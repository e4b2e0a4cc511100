/// A command as it can be typed again: words that a POSIX shell would read as something else are quoted.
enum TypedCommand {
  /// `words` follow the name of this program.
  static func line(_ words: [String]) -> String {
    (["purchase-simulator"] + words).map(quoted).joined(separator: " ")
  }

  /// Within single quotes everything is itself, and only a single quote has to stand outside of them
  /// (POSIX.1-2024, Shell Command Language, 2.2.2).
  static func quoted(_ word: String) -> String {
    guard word.isEmpty || !word.unicodeScalars.allSatisfy(isPlain) else { return word }
    return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#)
      + "'"
  }

  /// A path that begins with a minus is no option.
  static func path(_ path: String) -> String { path.hasPrefix("-") ? "./" + path : path }

  /// What no shell gives a meaning of its own, wherever in a word it stands.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ",", ":", "=", "+", "@", "%": true
    default: false
    }
  }
}
