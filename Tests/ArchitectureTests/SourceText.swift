import Foundation

/// A Swift file reduced to its code: comments, the contents of string literals, and names in backticks are replaced
/// by blanks. The line numbers stay the same.
///
/// Code inside an interpolation counts as code. Regex literals (`/…/`) are not supported: a quote in one would open
/// a string. The package has none.
struct SourceText: Sendable {
  var path: String
  /// Without comments and literals, line by line; line n of the file is at n - 1.
  var lines: [String]
  /// The same as one text, and its bytes.
  let code: String
  private let bytes: [UInt8]
  private let data: Data
  /// The number of lines in the file.
  var rawLineCount: Int
  let imports: [ImportStatement]

  init(path: String, _ text: String) {
    self.path = path
    var scanner = Scanner(text)
    scanner.code(untilParenthesis: false)
    bytes = scanner.output
    data = Data(bytes)
    code = String(decoding: bytes, as: UTF8.self)
    lines = code.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(Substring($0)) }
    rawLineCount = lines.last == "" ? lines.count - 1 : lines.count
    imports = Self.imports(in: lines)
  }

  /// The folders and the name: ["Sources", "PurchaseSync", "Machine", "SyncMachine.swift"].
  var components: [Substring] { path.split(separator: "/") }
}

/// Copies code and replaces prose by blanks. Bytes are written as numbers, and arrays are made once: this runs over
/// every file of the repository in a debug build.
private struct Scanner {
  private let input: [UInt8]
  private var position = 0
  private(set) var output: [UInt8] = []

  init(_ text: String) {
    input = Array(text.utf8)
    output.reserveCapacity(input.count)
  }

  private func starts(with bytes: [UInt8]) -> Bool {
    guard position + bytes.count <= input.count else { return false }
    for index in 0..<bytes.count where input[position + index] != bytes[index] { return false }
    return true
  }

  private func next(is byte: UInt8) -> Bool { position + 1 < input.count && input[position + 1] == byte }

  private mutating func keep(_ count: Int = 1) {
    let end = min(position + count, input.count)
    output.append(contentsOf: input[position..<end])
    position = end
  }

  private mutating func blank(_ count: Int = 1) {
    let end = min(position + count, input.count)
    while position < end {
      output.append(input[position] == 0x0A ? 0x0A : 0x20)
      position += 1
    }
  }

  /// Reads code to the end, or to the parenthesis that closes an interpolation.
  mutating func code(untilParenthesis: Bool) {
    var depth = 0
    while position < input.count {
      switch input[position] {
      case 0x2F where next(is: 0x2F): lineComment()  // "//"
      case 0x2F where next(is: 0x2A): blockComment()  // "/*"
      case 0x60: rawIdentifier()  // "`"
      case 0x22: string(hashes: 0)  // "\""
      case 0x23:  // "#"
        if let hashes = stringStart() { string(hashes: hashes) } else { keep() }
      case 0x28:  // "("
        depth += 1
        keep()
      case 0x29:  // ")"
        if untilParenthesis, depth == 0 { return }
        depth -= 1
        keep()
      default: plainCode()
      }
    }
  }

  /// Up to the next byte that may begin something else.
  private mutating func plainCode() {
    var end = position + 1
    scan: while end < input.count {
      switch input[end] {
      case 0x22, 0x23, 0x28, 0x29, 0x2F, 0x60: break scan
      default: end += 1
      }
    }
    keep(end - position)
  }

  private mutating func lineComment() {
    var end = position
    while end < input.count, input[end] != 0x0A { end += 1 }
    blank(end - position)
  }

  private mutating func blockComment() {
    var depth = 0
    repeat {
      if input[position] == 0x2F, next(is: 0x2A) {
        depth += 1
        blank(2)
      } else if input[position] == 0x2A, next(is: 0x2F) {
        depth -= 1
        blank(2)
      } else {
        blank()
      }
    } while depth > 0 && position < input.count
  }

  private mutating func rawIdentifier() {
    keep()
    var end = position
    while end < input.count, input[end] != 0x60, input[end] != 0x0A { end += 1 }
    blank(end - position)
    if position < input.count { keep() }
  }

  /// The number of `#` before the quote, if a string literal starts here.
  private func stringStart() -> Int? {
    var end = position
    while end < input.count, input[end] == 0x23 { end += 1 }
    return end < input.count && input[end] == 0x22 ? end - position : nil
  }

  private mutating func string(hashes: Int) {
    let fence = [UInt8](repeating: 0x23, count: hashes)
    keep(hashes)
    let long = starts(with: [0x22, 0x22, 0x22])
    let end = [UInt8](repeating: 0x22, count: long ? 3 : 1) + fence
    let escape = [0x5C] + fence
    let interpolation = escape + [0x28]
    keep(long ? 3 : 1)
    while position < input.count {
      switch input[position] {
      case 0x22 where starts(with: end):
        return keep(end.count)
      case 0x5C where starts(with: interpolation):
        blank(interpolation.count)
        code(untilParenthesis: true)
        blank()
      case 0x5C where starts(with: escape):
        blank(escape.count + 1)
      case 0x0A where !long:
        return  // Not a literal: the rest of the file must not be read as one.
      default:
        blank()
      }
    }
  }
}

extension SourceText {
  /// The lines (from 1) that contain `pattern`. Where the pattern begins or ends with a letter, a word must begin or
  /// end there too.
  func lines(with pattern: String) -> [Int] {
    let needle = Array(pattern.utf8)
    guard let first = needle.first, let last = needle.last else { return [] }
    // Most files have none, and the system's search is quicker than a loop in a debug build.
    guard data.range(of: Data(needle)) != nil else { return [] }
    var found: [Int] = []
    var line = 1
    for start in 0..<bytes.count {
      if bytes[start] == 0x0A { line += 1 }
      guard bytes[start] == first, found.last != line, start + needle.count <= bytes.count else { continue }
      let end = start + needle.count
      guard bytes[start..<end].elementsEqual(needle) else { continue }
      if Self.isWordByte(first), start > 0, Self.isWordByte(bytes[start - 1]) { continue }
      if Self.isWordByte(last), end < bytes.count, Self.isWordByte(bytes[end]) { continue }
      found.append(line)
    }
    return found
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
