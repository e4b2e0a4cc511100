/// The length of a function, found by matching braces.
///
/// It measures `func`, `init`, `deinit` and `subscript`. A function inside another counts for both. Property
/// accessors, stored closures and the top level of a script are not measured. The first brace after the signature is
/// taken for the body.
struct FunctionLength: Hashable, Sendable {
  var keyword: String
  var line: Int
  var lineCount: Int
}

extension SourceText {
  var functionLengths: [FunctionLength] {
    var cursor = TokenCursor(code)
    var found: [FunctionLength] = []
    var previous = ""
    while let token = cursor.next() {
      let isFunction = ["func", "init", "deinit", "subscript"].contains(token.text) && previous != "."
      previous = token.text
      guard isFunction else { continue }
      // Looks ahead in a copy: functions inside the body are found as well.
      var body = cursor
      guard body.skipToBody(), let end = body.skipToClosingBrace() else { continue }
      found.append(
        FunctionLength(keyword: token.text, line: token.line, lineCount: end - token.line + 1))
    }
    return found
  }

  /// The file, if it is too long, and each function that is too long.
  func sizeFindings(maximumFile: Int = 400, maximumFunction: Int = 70) -> [Finding] {
    var findings = functionLengths.filter { $0.lineCount > maximumFunction }.map {
      Finding(
        path: path, line: $0.line, message: "a function of \($0.lineCount) lines; \(maximumFunction) at most")
    }
    if rawLineCount > maximumFile {
      findings.append(Finding(path: path, message: "\(rawLineCount) lines; \(maximumFile) at most"))
    }
    return findings
  }
}

/// Words and single other characters, without white space.
private struct TokenCursor {
  struct Token {
    var text: String
    var line: Int
  }

  private let bytes: [UInt8]
  private var position = 0
  private var line = 1

  init(_ code: String) { bytes = Array(code.utf8) }

  mutating func next() -> Token? {
    while position < bytes.count, bytes[position] <= UInt8(ascii: " ") {
      if bytes[position] == UInt8(ascii: "\n") { line += 1 }
      position += 1
    }
    guard position < bytes.count else { return nil }
    let start = position
    repeat {
      position += 1
    } while position < bytes.count && SourceText.isWordByte(bytes[start])
      && SourceText.isWordByte(bytes[position])
    return Token(text: String(decoding: bytes[start..<position], as: UTF8.self), line: line)
  }

  /// Words that begin the next declaration. The declaration in front of them is a requirement without a body.
  private static let declarations: Set<String> = [
    "func", "init", "deinit", "subscript", "var", "let", "case", "struct", "class", "enum", "actor",
    "extension",
    "protocol", "typealias", "associatedtype", "public", "package", "internal", "private", "fileprivate",
    "static", "mutating", "nonisolated", "import",
  ]

  /// Moves behind the `{` of the body; false if the declaration has no body.
  mutating func skipToBody() -> Bool {
    var depth = 0
    while let token = next() {
      switch token.text {
      case "(", "[": depth += 1
      case ")", "]":
        depth -= 1
        if depth < 0 { return false }
      case "{" where depth == 0: return true
      case "}" where depth == 0: return false
      case let word where depth == 0 && Self.declarations.contains(word): return false
      default: break
      }
    }
    return false
  }

  /// The line of the `}` that belongs to the `{` just passed.
  mutating func skipToClosingBrace() -> Int? {
    var depth = 1
    while let token = next() {
      if token.text == "{" { depth += 1 }
      if token.text == "}" { depth -= 1 }
      if depth == 0 { return token.line }
    }
    return nil
  }
}
