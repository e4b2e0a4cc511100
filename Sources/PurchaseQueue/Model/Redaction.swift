/// Blanks everything in a free text that could be a proof, a token or a credential. A backend's reason, for example,
/// may repeat a part of the request, so it is redacted before it is stored or shown.
package enum Redaction {
  /// The length to which a text is cut, in characters.
  static let longest = 200
  /// Runs of at least so many characters of the base64 and JWS alphabets are blanked. A transaction number has at most
  /// 20.
  static let shortestSecret = 24

  /// One line of at most 200 characters, without anything that looks like a secret.
  package static func line(_ text: String) -> String {
    isHarmless(text) ? text : checkedLine(text)
  }

  /// The fast path: true for a short line of plain words, none of which could be a secret.
  private static func isHarmless(_ text: String) -> Bool {
    guard text.utf8.count <= longest else { return false }
    var run = 0
    for byte in text.utf8 {
      guard (32..<127).contains(byte), byte != UInt8(ascii: "B") else { return false }
      run = isSecret(byte) ? run + 1 : 0
      guard run < shortestSecret else { return false }
    }
    return true
  }

  private static func checkedLine(_ text: String) -> String {
    var line = ""
    var run = ""
    var previous = ""
    func end() {
      // The word after "Bearer" is a credential, however short it is.
      line += previous == "Bearer" && !run.isEmpty ? "[blanked]" : blanked(run)
      if !run.isEmpty { previous = run }
      run = ""
    }
    // Cut first: the text may be a whole response.
    let start = text.prefix(longest * 4)
    for character in start {
      if isSecretCharacter(character) {
        run.append(character)
        continue
      }
      end()
      line.append(character.isNewline || isControl(character) ? " " : character)
    }
    // A run that was cut may be the beginning of something longer.
    if start.endIndex == text.endIndex { end() }
    return String(line.prefix(longest))
  }

  private static func blanked(_ run: String) -> String {
    run.count >= shortestSecret ? "[\(run.count) characters blanked]" : run
  }

  private static func isSecretCharacter(_ character: Character) -> Bool {
    character.asciiValue.map(isSecret) ?? false
  }

  private static func isSecret(_ ascii: UInt8) -> Bool {
    switch ascii {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      return true
    default: return "+/-_=.".utf8.contains(ascii)
    }
  }

  private static func isControl(_ character: Character) -> Bool {
    character.unicodeScalars.contains { $0.value < 32 || $0.value == 127 }
  }
}
