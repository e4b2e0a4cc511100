/// A Swift file of which only the code is left: comments and the contents of string literals and of names in
/// backticks are blanks, the lines stay where they were.
///
/// Code inside an interpolation counts as code. It does not know regex literals (`/…/`): a quote in one
/// would open a string. The package has none.
struct SourceText: Sendable {
  var path: String
  /// Without comments and literals, line by line; line n of the file is at n - 1.
  var lines: [String]
  /// As it was written.
  var rawLineCount: Int

  init(path: String, _ text: String) {
    self.path = path
    var scanner = Scanner(text)
    scanner.code(until: nil)
    let code = String(decoding: scanner.output, as: UTF8.self)
    lines = code.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    rawLineCount = lines.last == "" ? lines.count - 1 : lines.count
  }

  /// The folders and the name: ["Sources", "PurchaseSync", "Machine", "SyncMachine.swift"].
  var components: [Substring] { path.split(separator: "/") }

  var code: String { lines.joined(separator: "\n") }
}

private struct Scanner {
  private let input: [UInt8]
  private var position = 0
  private(set) var output: [UInt8] = []

  init(_ text: String) {
    input = Array(text.utf8)
    output.reserveCapacity(input.count)
  }

  private func starts(with text: StaticString, at offset: Int = 0) -> Bool {
    input[min(position + offset, input.count)...].starts(with: Array("\(text)".utf8))
  }

  private mutating func keep() {
    output.append(input[position])
    position += 1
  }

  private mutating func blank(_ count: Int = 1) {
    for byte in input[position..<min(position + count, input.count)] {
      output.append(byte == UInt8(ascii: "\n") ? byte : UInt8(ascii: " "))
    }
    position = min(position + count, input.count)
  }

  /// Reads code to the end, or to the parenthesis that closes an interpolation.
  mutating func code(until close: UInt8?) {
    var depth = 0
    while position < input.count {
      let byte = input[position]
      if starts(with: "//") {
        while position < input.count, input[position] != UInt8(ascii: "\n") { blank() }
      } else if starts(with: "/*") {
        blockComment()
      } else if byte == UInt8(ascii: "`") {
        rawIdentifier()
      } else if let hashes = stringStart() {
        string(hashes: hashes)
      } else {
        if byte == UInt8(ascii: "(") { depth += 1 }
        if byte == close {
          if depth == 0 { return }
          depth -= 1
        }
        keep()
      }
    }
  }

  private mutating func blockComment() {
    var depth = 0
    repeat {
      if starts(with: "/*") {
        depth += 1
        blank(2)
      } else if starts(with: "*/") {
        depth -= 1
        blank(2)
      } else {
        blank()
      }
    } while depth > 0 && position < input.count
  }

  private mutating func rawIdentifier() {
    keep()
    while position < input.count, input[position] != UInt8(ascii: "`"), input[position] != UInt8(ascii: "\n")
    {
      blank()
    }
    if position < input.count { keep() }
  }

  /// The number of `#` before the quote, if a string literal starts here.
  private func stringStart() -> Int? {
    var end = position
    while end < input.count, input[end] == UInt8(ascii: "#") { end += 1 }
    return end < input.count && input[end] == UInt8(ascii: "\"") ? end - position : nil
  }

  private mutating func string(hashes: Int) {
    let fence = [UInt8](repeating: UInt8(ascii: "#"), count: hashes)
    let long = starts(with: "\"\"\"", at: hashes)
    let quotes = [UInt8](repeating: UInt8(ascii: "\""), count: long ? 3 : 1)
    let escape = [UInt8(ascii: "\\")] + fence
    for _ in 0..<hashes + quotes.count { keep() }
    while position < input.count {
      let rest = input[position...]
      if rest.starts(with: quotes + fence) {
        for _ in 0..<quotes.count + hashes { keep() }
        return
      }
      if rest.starts(with: escape + [UInt8(ascii: "(")]) {
        blank(escape.count + 1)
        code(until: UInt8(ascii: ")"))
        blank()
      } else if rest.starts(with: escape) {
        blank(escape.count + 1)
      } else if !long, input[position] == UInt8(ascii: "\n") {
        return  // Not a literal after all: do not swallow the rest of the file.
      } else {
        blank()
      }
    }
  }
}

extension SourceText {
  /// Lines (from 1) that hold `pattern`; where it begins or ends in a letter, only as a whole word there.
  func lines(with pattern: String) -> [Int] {
    let needle = Array(pattern.utf8)
    return lines.indices.filter { Self.contains(needle, in: Array(lines[$0].utf8)) }.map { $0 + 1 }
  }

  private static func contains(_ needle: [UInt8], in line: [UInt8]) -> Bool {
    guard let first = needle.first, let last = needle.last, line.count >= needle.count else { return false }
    return (0...line.count - needle.count).contains { start in
      let end = start + needle.count
      guard line[start] == first, line[start..<end].elementsEqual(needle) else { return false }
      if isWordByte(first), start > 0, isWordByte(line[start - 1]) { return false }
      if isWordByte(last), end < line.count, isWordByte(line[end]) { return false }
      return true
    }
  }

  static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }
}
