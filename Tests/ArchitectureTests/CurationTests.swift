import Testing

/// Every public type of a product is found from its module's first page, also where Linux does not build it.
@Suite struct CurationTests {
  private static let modules = [
    "PurchaseQueue", "AppStoreReceipts", "AppStoreDocuments", "PurchaseSync", "PurchaseSyncTesting",
    "BackendConformance",
  ]

  /// Shows what the documentation that is built on Linux does not have.
  private static let adapters = "Sources/PurchaseSync/PurchaseSync.docc/AppleAdapters.md"

  /// By the file's path.
  private static let declarations: [String: [PublicDeclaration]] = {
    let files = Repository.swiftFiles.filter { $0.path.hasPrefix("Sources/") }
    return Dictionary(uniqueKeysWithValues: files.map { ($0.path, PublicDeclaration.all(in: $0)) })
  }()

  @Test(arguments: modules)
  func `each public declaration of a file is in the topics of the module's page`(module: String) throws {
    let page = try #require(Repository.read("Sources/\(module)/\(module).docc/\(module).md"))
    let topics = page[try #require(page.firstRange(of: "\n## Topics\n")).upperBound...]
    let files = Repository.swiftFiles.filter { $0.path.hasPrefix("Sources/\(module)/") }
    var count = 0
    for file in files {
      for found in Self.declarations[file.path] ?? [] where found.depth == 0 && !found.isApples {
        count += 1
        #expect(topics.contains("\n- ``\(found.name)``"), "\(file.path):\(found.line) \(found.name)")
      }
    }
    let least = ["BackendConformance": 1, "AppStoreReceipts": 20, "AppStoreDocuments": 20][module] ?? 31
    #expect(count >= least)
  }

  @Test(arguments: modules) func `each page of the catalogue is linked from the module's page`(module: String)
    throws
  {
    let folder = "Sources/\(module)/\(module).docc/"
    let page = try #require(Repository.read(folder + module + ".md"))
    for path in Repository.paths where path.hasPrefix(folder) && path.hasSuffix(".md") {
      let name = path.dropFirst(folder.count).dropLast(3)
      // The parts of the facts are linked from their first page.
      guard name != module, !(name.hasPrefix("StoreFacts") && name != "StoreFacts") else { continue }
      #expect(page.contains("<doc:\(name)>"), "\(path)")
    }
  }

  @Test func `what Linux does not build is shown by an article`() throws {
    let page = try #require(Repository.read(Self.adapters))
    let declared = Self.declarations.values.flatMap { $0 }.filter(\.isApples)
    #expect(declared.contains { $0.name == "StoreKitStore" } && declared.count > 8)
    for found in declared { #expect(page.contains("`\(found.name)"), "\(found.name)") }
  }

  @Test func `public declarations are read with their depth and their condition`() {
    let source = SourceText(
      path: "A.swift",
      """
      public struct A {
        public init() {}
        @MainActor public func b(_ x: Int) {}
        struct C {}
      }
      #if canImport(StoreKit)
        public final class D {
          public static var e: Int { 1 }
        }
      #endif
      #if canImport(Observation)
        @MainActor @Observable public final class G {}
      #endif
      public import Foundation
      public typealias F = Int
      """)
    let found = PublicDeclaration.all(in: source)
    #expect(found.map(\.name) == ["A", "init", "b", "D", "e", "G", "F"])
    #expect(found.map(\.depth) == [0, 1, 1, 0, 1, 0, 0])
    #expect(found.filter(\.isApples).map(\.name) == ["D", "e"])
  }
}

/// A public declaration in a file.
private struct PublicDeclaration: Equatable {
  var name: String
  var line: Int
  /// How many braces are open around it.
  var depth: Int
  /// Whether only Apple's systems build it.
  var isApples: Bool

  private static let keywords: Set = [
    "struct", "enum", "actor", "class", "protocol", "typealias", "func", "let", "var", "subscript", "macro",
  ]

  static func all(in file: SourceText) -> [PublicDeclaration] {
    var found: [PublicDeclaration] = []
    var depth = 0
    var conditions: [String] = []
    for (offset, line) in file.lines.enumerated() {
      let outer = depth
      depth += line.utf8.reduce(0) { $0 + ($1 == 0x7B ? 1 : $1 == 0x7D ? -1 : 0) }  // { and }
      guard line.contains("public") || line.contains("#") else { continue }
      let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "#" && $0 != "@" }
        .map(String.init)
      if words.first == "#if" { conditions.append(line) }
      if words.first == "#endif" { conditions.removeLast() }
      if let name = name(in: words) {
        let isApples = conditions.contains { condition in
          ["StoreKit", "Security", "CryptoKit", "os"].contains { condition.contains("(\($0))") }
        }
        found.append(
          PublicDeclaration(name: name, line: offset + 1, depth: outer, isApples: isApples))
      }
    }
    return found
  }

  private static func name(in words: [String]) -> String? {
    guard let place = words.firstIndex(of: "public") else { return nil }
    let rest = words[(place + 1)...]
    if rest.first == "init" { return "init" }
    // `static func`, `final class`; not `import`.
    guard let keyword = rest.prefix(4).firstIndex(where: keywords.contains), keyword + 1 < words.count,
      !rest.prefix(upTo: keyword).contains("import")
    else { return nil }
    return words[keyword + 1]
  }
}
