import Testing

/// Pages of the documentation, compared with the code that they describe.
@Suite struct DocumentationTests {
  private static let catalogue = "Sources/PurchaseQueue/PurchaseQueue.docc/"

  @Test func `the example on the first page is the one that is built and run`() throws {
    let source = try #require(Repository.read(Manifest.embedding + "Sources/event-outbox/Outbox.swift"))
    let page = try #require(Repository.read(Self.catalogue + "PurchaseQueue.md"))
    let begin = try #require(source.firstRange(of: "// MARK: begin\n"))
    let end = try #require(source.firstRange(of: "// MARK: end"))
    #expect(page.contains("```swift\n" + source[begin.upperBound..<end.lowerBound] + "```"))
  }

  @Test(arguments: ["Shop", "GemApp", "Promotions"])
  func `the examples for Apple's systems are those that are type-checked`(_ example: String) throws {
    let source = try #require(Repository.read(Manifest.interfaces + "Example/\(example).swift"))
    let page = try #require(Repository.read("Sources/PurchaseSync/PurchaseSync.docc/ApplePlatforms.md"))
    let begin = try #require(source.firstRange(of: "// MARK: begin\n"))
    let end = try #require(source.firstRange(of: "// MARK: end"))
    #expect(page.contains("```swift\n" + source[begin.upperBound..<end.lowerBound] + "```"))
  }

  @Test func `the backend of a company in the first guide is the one that is tested`() throws {
    let source = try #require(Repository.read("Tests/PurchaseSyncTests/CompanyBackend.swift"))
    let page = try #require(Repository.read("Sources/PurchaseSync/PurchaseSync.docc/GettingStarted.md"))
    let begin = try #require(source.firstRange(of: "// MARK: begin\n"))
    let end = try #require(source.firstRange(of: "// MARK: end"))
    let example = source[begin.upperBound..<end.lowerBound]
    #expect(page.contains("```swift\n" + example + "```"))
    #expect(example.split(separator: "\n").count < 40)
  }

  @Test func `every table, column, index and view of the file is explained, and nothing else`() throws {
    let schema = SchemaText(try #require(Repository.read("Sources/PurchaseQueue/Storage/QueueSchema.swift")))
    let page = try #require(Repository.read(Self.catalogue + "FileFormat.md"))
    #expect(schema.columns.count == 7 && schema.others.count == 5)
    let explained = FormatPage(page).columns
    for (table, columns) in schema.columns { #expect(explained[table] == columns, "\(table)") }
    #expect(Set(explained.keys) == Set(schema.columns.keys))
    for name in schema.others {
      #expect(page.contains("`\(name)`") || page.contains("### The view \(name)\n"), "\(name)")
    }
  }

  @Test func `every kind of document, every public type and every limit of the decoders is explained`() throws
  {
    let folder = "Sources/AppStoreReceipts/"
    let page = try #require(Repository.read(folder + "AppStoreReceipts.docc/AppStoreReceipts.md"))
    let bounds = try #require(Repository.read(folder + "AppStoreReceipts.docc/Bounds.md"))
    let files = Repository.swiftFiles.filter { $0.path.hasPrefix(folder) }
    var types = 0
    for line in files.flatMap({ $0.code.split(separator: "\n") }) {
      let words = line.split { !$0.isLetter && !$0.isNumber }.map(String.init)
      // Only types at the left margin. A nested type is explained with its outer type.
      if line.hasPrefix("public "), words.count > 2, ["struct", "enum"].contains(words[1]) {
        types += 1
        #expect(page.contains("- ``\(words[2])``"), "\(words[2])")
      }
      if let place = words.firstIndex(of: "let"), words.contains("public"),
        words[place + 1].hasPrefix("maximum")
      {
        #expect(bounds.contains("/\(words[place + 1])``") || words[place + 1] == "maximumUndecodable")
      }
    }
    #expect(types > 30)
    let document = try #require(Repository.read(folder + "Document/StoreDocument.swift"))
    let cases = try #require(document.firstRange(of: "public enum Kind"))
    for line in document[cases.upperBound...].split(separator: "\n").prefix(while: { $0 != "  }" }) {
      let words = line.split(separator: " ")
      if words.first == "case" { #expect(page.contains("`\(words[1])`"), "\(words[1])") }
    }
  }

  @Test func `a column without an explanation is found`() {
    let schema = SchemaText(
      """
      CREATE TABLE a( \\(mark)
            x INTEGER PRIMARY KEY CHECK (x = 1),
            "y" TEXT NOT NULL
          ) STRICT;
          CREATE INDEX i ON a(x);
      """)
    #expect(schema.columns == ["a": ["x", "y"]] && schema.others == ["i"])
    let table = "| column | holds |\n| --- | --- |\n| `x` | all |\n"
    let page = FormatPage("### a\n\n\(table)\n### Checksums\n\n| `z` | no column |\n")
    #expect(page.columns == ["a": ["x"]])
  }
}

/// The tables with their columns, and the names of indexes and views, of the SQL in a source file.
private struct SchemaText {
  var columns: [String: [String]] = [:]
  var others: [String] = []

  init(_ text: String) {
    var table: String?
    for line in text.split(separator: "\n") {
      let words = line.split { $0 == " " || $0 == "(" || $0 == "\"" }.map(String.init)
      guard let first = words.first else { continue }
      if first == "CREATE", words[1] == "TABLE" {
        let name = words.dropFirst(2).first { !["IF", "NOT", "EXISTS"].contains($0) } ?? ""
        table = name
        columns[name] = []
      } else if first == "CREATE" {
        others.append(words[2])
      } else if first.hasPrefix(")") {
        table = nil
      } else if let table {
        columns[table]?.append(first)
      }
    }
  }
}

/// The columns in the tables of a page, by the heading above them.
private struct FormatPage {
  var columns: [String: [String]] = [:]

  init(_ text: String) {
    var heading = ""
    var isColumns = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("### ") { heading = String(line.dropFirst(4)) }
      if line == "| column | holds |" { isColumns = true }
      if line.isEmpty { isColumns = false }
      guard isColumns, line.hasPrefix("| `") else { continue }
      columns[heading, default: []].append(String(line.dropFirst(3).prefix { $0 != "`" }))
    }
  }
}
