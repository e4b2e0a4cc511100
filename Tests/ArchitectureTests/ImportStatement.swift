/// One import: the module, the line, and the conditions of compilation.
struct ImportStatement: Hashable, Sendable {
  var module: String
  var line: Int
  /// The enclosing `#if` conditions; in an `#else` branch with a `!` in front.
  var conditions: [String]
}

extension SourceText {
  static func imports(in lines: [String]) -> [ImportStatement] {
    var found: [ImportStatement] = []
    // The innermost `#if` is last. Each holds the conditions of the branches before, negated, and of this one.
    var stack: [[String]] = []
    for (offset, line) in lines.enumerated() where mayMatter(line) {
      let text = line.drop { $0 == " " || $0 == "\t" }
      if text.hasPrefix("#if ") {
        stack.append([condition(text.dropFirst(4))])
      } else if text.hasPrefix("#elseif "), let branches = stack.popLast() {
        stack.append(refused(branches) + [condition(text.dropFirst(8))])
      } else if text.hasPrefix("#else"), let branches = stack.popLast() {
        stack.append(refused(branches))
      } else if text.hasPrefix("#endif") {
        _ = stack.popLast()
      }
      for statement in text.split(separator: ";") {
        guard let module = importedModule(statement) else { continue }
        found.append(ImportStatement(module: module, line: offset + 1, conditions: stack.flatMap { $0 }))
      }
    }
    return found
  }

  /// Most lines are no import, and the reading of words is slow in a debug build.
  private static func mayMatter(_ line: String) -> Bool {
    line.utf8.first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "#") || line.contains("import")
  }

  private static func condition(_ text: Substring) -> String { text.filter { $0 != " " } }

  private static func refused(_ branches: [String]) -> [String] {
    branches.map { $0.hasPrefix("!") ? $0 : "!" + $0 }
  }

  private static let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
  private static let kinds: Set<Substring> = [
    "struct", "class", "enum", "protocol", "typealias", "func", "var", "let",
  ]

  /// The module of `@testable public import struct X.Y`: X.
  private static func importedModule(_ statement: Substring) -> String? {
    var words = statement.split { $0 == " " || $0 == "\t" }[...]
    while let word = words.first, word.hasPrefix("@") || modifiers.contains(word) { words.removeFirst() }
    guard words.popFirst() == "import" else { return nil }
    if let kind = words.first, kinds.contains(kind) { words.removeFirst() }
    return words.first?.split(separator: ".").first.map(String.init)
  }
}
