import Testing

/// Pages of the documentation, compared with the code that they describe.
@Suite struct DocumentationTests {
  private static let catalogue = "Sources/PurchaseQueue/PurchaseQueue.docc/"
  private static let guides = "Sources/PurchaseSync/PurchaseSync.docc/"

  /// The lines between the marks `begin` and `end` of a file, with the name behind them, and without their indentation.
  private static func example(_ path: String, _ name: String? = nil) throws -> [Substring] {
    let lines = try #require(Repository.read(path)).split(separator: "\n", omittingEmptySubsequences: false)
    func mark(_ word: String) throws -> Int {
      let text = ["// MARK: \(word)", name].compactMap(\.self).joined(separator: " ")
      let line = lines.firstIndex { $0.drop { $0 == " " } == text }
      return try #require(line, "\(path) has no line '\(text)'")
    }
    let (begin, end) = (try mark("begin"), try mark("end"))
    let margin = lines[begin].prefix { $0 == " " }.count
    return lines[(begin + 1)..<end].map { $0.dropFirst(margin) }
  }

  /// Whether the page shows these lines as Swift.
  private static func page(_ path: String, shows example: [Substring]) throws -> Bool {
    let block = "```swift\n" + example.joined(separator: "\n") + "\n```"
    let text = try #require(Repository.read(path))
    return text.contains(block)
  }

  @Test func `the example on the first page is the one that is built and run`() throws {
    let example = try Self.example(Manifest.embedding + "Sources/event-outbox/Outbox.swift")
    #expect(try Self.page(Self.catalogue + "PurchaseQueue.md", shows: example))
  }

  @Test(arguments: ["Shop", "GemApp", "Promotions"])
  func `the examples for Apple's systems are those that are type-checked`(name: String) throws {
    let example = try Self.example(Manifest.interfaces + "Example/\(name).swift")
    #expect(try Self.page(Self.guides + "ApplePlatforms.md", shows: example))
  }

  @Test(arguments: ["CompanyBackend", "ReceiptBackend"])
  func `the backends in the first guide are those that are tested`(name: String) throws {
    let example = try Self.example("Tests/PurchaseSyncTests/\(name).swift")
    #expect(try Self.page(Self.guides + "GettingStarted.md", shows: example))
    #expect(example.count < 40)
  }

  @Test(arguments: [
    ("Migrating", "OldList", "list"), ("Migrating", "OldList", "defaults"),
    ("Migrating", "OldList", "keychain"),
    ("Migrating", "OldList", "launch"),
    ("Restoring", "GuideExamples", "restore"), ("Support", "GuideExamples", "support"),
    ("ChoosingLimits", "GuideExamples", "settings"),
  ])
  func `an example of an article is the one that is tested`(article: String, file: String, mark: String)
    throws
  {
    let example = try Self.example("Tests/PurchaseSyncTests/\(file).swift", mark)
    #expect(try Self.page(Self.guides + "\(article).md", shows: example))
  }

  @Test(arguments: [
    "Migrating", "Restoring", "Support", "ChoosingLimits", "YourBackend", "HowAPurchaseTravels",
  ])
  func `an article has no Swift that is not tested`(article: String) throws {
    let page = try #require(Repository.read("Sources/PurchaseSync/PurchaseSync.docc/\(article).md"))
    let tested = ["OldList", "GuideExamples"].compactMap {
      Repository.read("Tests/PurchaseSyncTests/\($0).swift")
    }
    #expect(tested.count == 2)
    for rest in page.ranges(of: "```swift\n").map({ page[$0.upperBound...] }) {
      let code = rest[..<(try #require(rest.firstRange(of: "```")).lowerBound)]
      #expect(tested.contains { $0.contains(code) }, "\(article)")
    }
  }

  @Test(arguments: [
    ("FirstDelivery", "first delivery", 15), ("CoinShopTests", "reply lost", 30),
    ("CoinShopTests", "killed after payment", 30), ("CoinShopTests", "Ask to Buy", 30),
    ("CoinShopTests", "sheet that lies", 30),
    ("CoinShopTests", "two hours", 30), ("CoinShopTests", "consent", 30), ("CompanyTests", "company", 30),
  ])
  func `the tests on the page for app developers are those of the coin shop, and short`(
    file: String, example: String, most: Int
  ) throws {
    let lines = try Self.example(Manifest.examples + "CoinShop/Tests/CoinShopTests/\(file).swift", example)
    #expect(
      try Self.page("Sources/PurchaseSyncTesting/PurchaseSyncTesting.docc/TestingYourApp.md", shows: lines))
    #expect(lines.count <= most)
  }

  @Test func `the statements for server teams are those of the backend that CI runs`() throws {
    let page = try #require(Repository.read(Self.guides + "YourBackend.md"))
    let folder = Manifest.examples + "Backend/"
    let schema = try #require(Repository.read(folder + "schema.sql"))
    let tables = try #require(
      schema.split(separator: "-- MARK: begin schema\n").last?.split(separator: "-- MARK: end schema").first)
    #expect(page.contains("```sql\n" + tables + "```"))
    let statements = try #require(Repository.read(folder + "statements.sql")).split(separator: "-- name: ")
    func statement(_ name: String) throws -> String {
      let found = try #require(statements.first { $0.hasPrefix(name + "\n") }, "\(name)")
      return found.split(separator: "\n").dropFirst().joined(separator: "\n")
    }
    for name in ["lock", "credit"] { #expect(page.contains(try statement(name)), "\(name)") }
    // Each row of the table is the comment of a row of the statement.
    let rows: [String] = try statement("owner").split(separator: "\n").compactMap { line in
      line.firstRange(of: "-- ").map { String(line[$0.upperBound...]) }
    }.filter { $0.first?.isLowercase == true }
    #expect(rows.count == 11)
    let protocolText = try #require(Repository.read("Sources/PurchaseSyncTesting/OpenAPI/openapi.json"))
    for (number, row) in zip(1..., rows) {
      #expect(page.contains("| \(number) | \(row) |"), "\(row)")
      #expect(protocolText.contains("| \(number) | \(row) |"), "\(row)")
    }
  }

  @Test func `the coin shop is short, and so is its adapter`() throws {
    let folder = Manifest.examples + "CoinShop/Sources/"
    func lines(_ path: String) throws -> Int {
      try #require(Repository.read(folder + path)).split(separator: "\n").map { $0.drop { $0 == " " } }
        .count { !$0.hasPrefix("//") && !$0.isEmpty }
    }
    let shop = try ["CoinShop/CoinShop.swift", "CoinShop/Wallet.swift", "coin-shop/Main.swift"].map(lines)
    #expect(shop.reduce(0, +) <= 150)
    #expect(try lines("CoinShop/CompanyBackend.swift") < 40)
  }

  @Test func `every table, column, index and view of the file is explained, and nothing else`() throws {
    let schema = SchemaText(try #require(Repository.read("Sources/PurchaseQueue/Storage/QueueSchema.swift")))
    let page = try #require(Repository.read(Self.catalogue + "FileFormat.md"))
    #expect(schema.columns.count == 6 && schema.others.count == 5)
    let explained = FormatPage(page).columns
    for (table, columns) in schema.columns { #expect(explained[table] == columns, "\(table)") }
    #expect(Set(explained.keys) == Set(schema.columns.keys))
    for name in schema.others {
      #expect(page.contains("`\(name)`") || page.contains("### The view \(name)\n"), "\(name)")
    }
  }

  @Test func `every kind of document, every public type and every limit of the decoders is explained`() throws
  {
    let modules = ["AppStoreReceipts", "AppStoreDocuments"]
    let page = try modules.map { try #require(Repository.read("Sources/\($0)/\($0).docc/\($0).md")) }.joined()
    let bounds = try #require(Repository.read("Sources/AppStoreReceipts/AppStoreReceipts.docc/Bounds.md"))
    let files = Repository.swiftFiles.filter { file in
      modules.contains { file.path.hasPrefix("Sources/\($0)/") }
    }
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
        // A link, or the name of a member of the other module.
        let isExplained = ["/", "."].contains { bounds.contains("\($0)\(words[place + 1])`") }
        #expect(isExplained || words[place + 1] == "maximumUndecodable")
      }
    }
    #expect(types > 30)
    let document = try #require(Repository.read("Sources/AppStoreDocuments/Document/StoreDocument.swift"))
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
