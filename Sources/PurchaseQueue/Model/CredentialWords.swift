/// Finds the words of a line that are credentials, however short they are, by the words before them.
///
/// ```
///   plain ──Bearer, Basic──▶ value ──word──▶ plain
///   plain ──token, secret──▶ name ──: or =──▶ value
///   plain ──Authorization──▶ name ──: or =──▶ rest ──comma, semicolon──▶ plain
/// ```
struct CredentialWords {
  private enum Next: Hashable {
    case plain
    /// A name was read. What follows a colon or an equals sign is its value.
    case name(takesRest: Bool)
    /// The next word is a credential.
    case value
    /// Every word is, up to a comma or a semicolon.
    case rest
  }

  private var next = Next.plain

  /// Schemes of HTTP: the next word is a credential.
  private static let schemes = ["bearer", "basic", "digest", "negotiate"]
  /// The ends of names whose value is one word, such as `access_token`.
  private static let names = ["token", "secret", "password"]
  /// The ends of names whose value may be several words.
  private static let fields = ["authorization", "cookie"]

  /// The ends of these words, as the last bytes of a text, for a check of each byte.
  static let endings: [(word: UInt64, mask: UInt64)] = (schemes + names + fields).map { word in
    let end = word.utf8.suffix(8)
    return (end.reduce(0) { $0 << 8 | UInt64($1) }, end.reduce(0) { mask, _ in mask << 8 | 0xFF })
  }

  /// Whether the word is a credential.
  mutating func blanks(_ word: Substring) -> Bool {
    guard !word.isEmpty else { return false }
    let lowercased = word.lowercased()
    if Self.schemes.contains(lowercased) {
      if next != .rest { next = .value }
      return false
    }
    switch next {
    case .rest: return true
    case .value:
      next = .plain
      return true
    case .plain, .name:
      let isField = Self.fields.contains(where: lowercased.hasSuffix)
      next = isField || Self.names.contains(where: lowercased.hasSuffix) ? .name(takesRest: isField) : .plain
      return false
    }
  }

  /// A word was blanked for its length.
  mutating func passed() { if next != .rest { next = .plain } }

  mutating func separated(by scalar: Unicode.Scalar) {
    switch (next, scalar) {
    case (.name(let takesRest), ":"), (.name(let takesRest), "="): next = takesRest ? .rest : .value
    case (.rest, ","), (.rest, ";"), (.rest, "\n"): next = .plain
    default: break
    }
  }
}
