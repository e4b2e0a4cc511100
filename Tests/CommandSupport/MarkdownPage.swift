package import CommandLineTools
package import Foundation

/// A page of the documentation, for tests that compare it with the code or run what it shows.
package struct MarkdownPage {
  /// A fenced block.
  package struct Block: Equatable {
    /// The word after the fence; empty for output.
    package var language: String
    package var text: String
    package var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent()

  package let path: String
  package let text: String

  package init(_ path: String) throws { self.init(path, text: try Self.read(path)) }

  package init(_ path: String, text: String) { (self.path, self.text) = (path, text) }

  package static func read(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  package var lineCount: Int { text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

  /// All fenced blocks, in their order.
  package var blocks: [Block] {
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

  /// The commands of a program in shell blocks and in code between backticks, as words. Those with a
  /// placeholder, such as NAME, are left out: they are no commands yet.
  package func commands(of program: Program) -> [[String]] {
    let shell = blocks.filter { $0.language == "sh" }.flatMap(\.lines)
    let inline = text.split(separator: "`").map(String.init).filter {
      $0.hasPrefix(program.rawValue + " ") || $0.hasPrefix("swift run ")
    }
    return (shell + inline).flatMap { line in
      line.components(separatedBy: "&&").compactMap { Self.command(of: program, in: $0) }
    }
  }

  private static func command(of program: Program, in text: String) -> [String]? {
    let words = text.prefix { !"|>".contains($0) }.split { " \n".contains($0) }.map(String.init)
    guard let start = words.firstIndex(of: program.rawValue) else { return nil }
    let rest = Array(words[(start + 1)...])
    let isPlaceholder = rest.contains { word in
      word.contains("…") || word.count > 1 && word.allSatisfy { $0.isUppercase } || word == "N"
        || word.contains("DIR/")
    }
    return isPlaceholder ? nil : rest
  }

  /// The targets of the page's links that are files of the repository.
  package var linkedFiles: [String] {
    text.components(separatedBy: "](").dropFirst().map { String($0.prefix { $0 != ")" }) }
      .filter { !$0.contains("://") && !$0.hasPrefix("#") }
  }
}

extension MarkdownPage {
  /// README.md and the pages of all libraries.
  package static var all: [MarkdownPage] {
    get throws {
      let modules = [
        "PurchaseQueue", "AppStoreReceipts", "AppStoreDocuments", "PurchaseSync", "PurchaseSyncTesting",
        "BackendConformance",
      ]
      let folders = modules.map { "Sources/\($0)/\($0).docc" }
      let paths = try folders.flatMap { folder in
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
          .filter { $0.hasSuffix(".md") }.map { folder + "/" + $0 }
      }
      return try (["README.md"] + paths).map { try MarkdownPage($0) }
    }
  }
}
