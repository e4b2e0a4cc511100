/// Blanks everything in a free text that could be a payload, a token or a credential. A backend's reason, for example,
/// may repeat a part of the request, so it is redacted before it is stored or shown.
package enum Redaction {
  /// The length to which a text is cut, in UTF-8 bytes: one character can take megabytes.
  static let longest = 200
  /// Runs of at least so many characters of the base64 and JWS alphabets are blanked. A transaction number has at most
  /// 20.
  static let shortestSecret = 24

  /// One line of at most 200 bytes, without anything that looks like a secret.
  package static func line(_ text: String) -> String {
    isHarmless(text) ? text : checkedLine(text)
  }

  /// The fast path: true for a short line of plain words, none of which could be a secret or announce one.
  private static func isHarmless(_ text: String) -> Bool {
    // Not `utf8.count` first: of a text that is not native it counts all.
    var count = 0
    var run = 0
    var last: UInt64 = 0
    for byte in text.utf8 {
      count += 1
      guard count <= longest, (32..<127).contains(byte) else { return false }
      run = isSecret(byte) ? run + 1 : 0
      guard run < shortestSecret else { return false }
      last = last << 8 | UInt64(byte | 0x20)
      guard !CredentialWords.endings.contains(where: { last & $0.mask == $0.word }) else { return false }
    }
    return true
  }

  private static func checkedLine(_ text: String) -> String {
    var line = ""
    var run = ""
    var words = CredentialWords()
    func end() {
      if run.utf8.count >= shortestSecret {
        words.passed()
        line += "[\(run.utf8.count) characters blanked]"
      } else {
        // `token=abc` is one run.
        for (index, word) in run.split(separator: "=", omittingEmptySubsequences: false).enumerated() {
          if index > 0 { words.separated(by: "=") }
          line += (index > 0 ? "=" : "") + (words.blanks(word) ? "[blanked]" : word)
        }
      }
      run = ""
    }
    // Cut first: the text may be a whole response. Scalar by scalar, because the length of a character has no limit.
    var read = 0
    var isCut = false
    for scalar in text.unicodeScalars {
      read += UTF8.width(scalar)
      guard read <= longest * 4 else {
        isCut = true
        break
      }
      if scalar.isASCII, isSecret(UInt8(truncatingIfNeeded: scalar.value)) {
        run.unicodeScalars.append(scalar)
        continue
      }
      end()
      words.separated(by: scalar)
      line.unicodeScalars.append(isControl(scalar) ? " " : scalar)
    }
    // A run that was cut may be the beginning of something longer.
    if !isCut { end() }
    return line.prefix(bytes: longest)
  }

  private static func isSecret(_ ascii: UInt8) -> Bool {
    switch ascii {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      return true
    default: return "+/-_=.".utf8.contains(ascii)
    }
  }

  /// Line breaks and control characters.
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 32 || (127..<160).contains(scalar.value) || scalar.value == 0x2028
      || scalar.value == 0x2029
  }
}

extension String {
  /// The beginning, of at most so many UTF-8 bytes. Never ends within a scalar.
  package func prefix(bytes: Int) -> String {
    var length = 0
    var end = unicodeScalars.startIndex
    while end < unicodeScalars.endIndex {
      length += UTF8.width(unicodeScalars[end])
      guard length <= bytes else { return String(self[..<end]) }
      end = unicodeScalars.index(after: end)
    }
    return self
  }
}
