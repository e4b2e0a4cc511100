import Foundation

/// A page of the documentation, for tests that compare it with the code or run what it shows.
struct MarkdownPage {
  /// A fenced block.
  struct Block: Equatable {
    /// The word after the fence; empty for output.
    var language: String
    var text: String
    var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  let path: String
  let text: String

  init(_ path: String) throws { self.init(path, text: try Self.read(path)) }

  init(_ path: String, text: String) { (self.path, self.text) = (path, text) }

  static func read(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  var lineCount: Int { text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

  /// All fenced blocks, in their order.
  var blocks: [Block] {
    var blocks: [Block] = []
    var open: Block?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      guard line.hasPrefix("```") else {
        open?.text += line + "\n"
        continue
      }
      if let block = open {
        blocks.append(block)
        open = nil
      } else {
        open = Block(language: String(line.dropFirst(3)), text: "")
      }
    }
    return blocks
  }

  /// The commands of `purchase-simulator` in shell blocks and in code between backticks, as words. Those with a
  /// placeholder, such as NAME, are left out: they are no commands yet.
  var simulatorCommands: [[String]] {
    let shell = blocks.filter { $0.language == "sh" }.flatMap(\.lines)
    let inline = text.split(separator: "`").map(String.init).filter {
      $0.hasPrefix("purchase-simulator ") || $0.hasPrefix("swift run ")
    }
    return (shell + inline).flatMap { line in
      line.components(separatedBy: "&&").compactMap { Self.command(in: $0) }
    }
  }

  private static func command(in text: String) -> [String]? {
    let words = text.prefix { !"|>".contains($0) }.split { " \n".contains($0) }.map(String.init)
    guard let start = words.firstIndex(of: "purchase-simulator") else { return nil }
    let rest = Array(words[(start + 1)...])
    let isPlaceholder = rest.contains { word in
      word.contains("…") || word.count > 1 && word.allSatisfy { $0.isUppercase } || word == "N"
        || word.contains("DIR/")
    }
    return isPlaceholder ? nil : rest
  }

  /// The targets of the page's links that are files of the repository.
  var linkedFiles: [String] {
    text.components(separatedBy: "](").dropFirst().map { String($0.prefix { $0 != ")" }) }
      .filter { !$0.contains("://") && !$0.hasPrefix("#") }
  }
}
