import Testing

/// Each rule, applied to source that breaks it.
@Suite struct CheckerTests {
  @Test(arguments: [
    ("Sources/PurchaseSQLite/A.swift", "import Foundation", "Foundation"),
    ("Sources/PurchaseSQLite/A.swift", "import PurchaseQueue", "PurchaseQueue"),
    ("Sources/PurchaseQueue/A.swift", "public import AppStoreReceipts", "AppStoreReceipts"),
    ("Sources/PurchaseQueue/A.swift", "import CPurchaseSQLite", "CPurchaseSQLite"),
    ("Sources/AppStoreReceipts/A.swift", "import Dispatch", "Dispatch"),
    ("Sources/AppStoreReceipts/A.swift", "import AppStoreDocuments", "AppStoreDocuments"),
    ("Sources/PurchaseSync/A.swift", "import AppStoreDocuments", "AppStoreDocuments"),
    ("Sources/PurchaseSync/A.swift", "import LoopbackHTTP", "LoopbackHTTP"),
    ("Sources/PurchaseSync/A.swift", "import Synchronization", "Synchronization"),
    ("Sources/PurchaseSync/Machine/A.swift", "import PurchaseSQLite", "PurchaseSQLite"),
    ("Sources/PurchaseSync/Machine/A.swift", "import Dispatch", "Dispatch"),
    ("Sources/PurchaseSync/Machine/Deep/A.swift", "import FoundationNetworking", "FoundationNetworking"),
    ("Sources/LoopbackHTTP/A.swift", "import PurchaseSync", "PurchaseSync"),
    ("Sources/PurchaseSyncTesting/A.swift", "import FaultInjection", "FaultInjection"),
    ("Sources/FaultInjection/A.swift", "import PurchaseSyncTesting", "PurchaseSyncTesting"),
    ("Sources/FaultInjection/A.swift", "package import PurchaseSync", "PurchaseSync"),
    ("Sources/Exploration/Kit/A.swift", "import PurchaseSyncTesting", "PurchaseSyncTesting"),
    ("Sources/Bench/A.swift", "import Exploration", "Exploration"),
    ("Sources/PurchaseSyncTesting/A.swift", "import Exploration", "Exploration"),
    ("Sources/PurchaseSyncTesting/A.swift", "import BackendConformance", "BackendConformance"),
    ("Tests/PurchaseQueueTests/A.swift", "import Exploration", "Exploration"),
    ("Tests/FaultInjectionTests/A.swift", "@testable import Exploration", "Exploration"),
    ("Simulator/Commands/A.swift", "import ArgumentParser", "ArgumentParser"),
    ("Simulator/Run/A.swift", "import Exploration", "Exploration"),
    ("Simulator/Run/A.swift", "import FaultInjection", "FaultInjection"),
    ("Sources/CommandLineTools/A.swift", "import PurchaseSyncTesting", "PurchaseSyncTesting"),
    ("Sources/Specification/A.swift", "import Exploration", "Exploration"),
    ("Tests/SimulatorTests/A.swift", "import Bench", "Bench"),
    ("Tests/PurchaseSyncTests/A.swift", "@testable import XCTest", "XCTest"),
    ("Tests/Embedding/Sources/parcel-notes/A.swift", "import PurchaseSync", "PurchaseSync"),
    ("Tests/Examples/CoinShop/Sources/CoinShop/A.swift", "import VirtualTime", "VirtualTime"),
    ("Sources/VirtualTime/A.swift", "import PurchaseSync", "PurchaseSync"),
  ])
  func `A forbidden import is found`(path: String, source: String, module: String) {
    let findings = ModuleRules.findings(in: SourceText(path: path, "// First line.\n" + source))
    #expect(findings == [Finding(path: path, line: 2, message: "may not import \(module)")])
  }

  @Test func `A folder that is not in the table is found`() {
    let findings = ModuleRules.findings(in: SourceText(path: "Sources/Surprise/A.swift", ""))
    #expect(findings.map(\.message) == ["this folder is not in the module table"])
  }

  @Test(arguments: [
    ("import Foundation", 1),
    ("#if canImport(FoundationEssentials)\nimport Foundation\n#endif", 1),
    ("#if os(Linux)\nimport FoundationEssentials\n#else\nimport Foundation\n#endif", 1),
    ("#if canImport(FoundationEssentials)\nimport FoundationEssentials\n#endif\nimport Foundation", 1),
    (
      "#if canImport(FoundationEssentials)\n  public import FoundationEssentials\n#else\n"
        + "  public import Foundation\n#endif", 0
    ),
  ])
  func `Foundation in AppStoreReceipts is a fallback only`(source: String, count: Int) {
    let file = SourceText(path: "Sources/AppStoreReceipts/A.swift", source)
    #expect(ModuleRules.findings(in: file).count == count)
  }

  @Test(arguments: ["Sources/purchase-lab/Explore/", "Tests/ExplorationTests/", "Tests/LabTests/"])
  func `The simulations are imported by the listed targets`(folder: String) {
    #expect(ModuleRules.findings(in: SourceText(path: folder + "A.swift", "import Exploration")).isEmpty)
  }

  private static let manifest = """
    // test("Comment", ["None"])
    let package = Package(dependencies: [], targets: [
      .systemLibrary(name: "CA", pkgConfig: "a", providers: [.apt(["liba"])]),
      .target(name: "A", dependencies: ["CA"], swiftSettings: settings),
      .executableTarget(
        name: "b-tool",
        dependencies: [
          "A",
        ],
        path: "Simulator"),
      test("ATests", ["A", "b-tool"], lab: ["CA"], exclude: ["Lab"]),
    ])
    func test(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
      .testTarget(name: name, dependencies: dependencies)
    }
    """

  @Test func `A manifest is understood`() {
    let targets = Manifest(Self.manifest).targets
    #expect(
      Set(targets) == [
        Manifest.Target(name: "CA", folder: "Sources/CA", dependencies: []),
        Manifest.Target(name: "A", folder: "Sources/A", dependencies: ["CA"]),
        Manifest.Target(name: "b-tool", folder: "Simulator", dependencies: ["A"]),
        Manifest.Target(
          name: "ATests", folder: "Tests/ATests", dependencies: ["A", "b-tool"], labDependencies: ["CA"]),
      ])
  }

  @Test func `What is compiled for a target, and the targets of the lab, are read`() {
    let manifest = Manifest(
      "let lab: [Target] = [\n  .target(name: \"L\", dependencies: [\"A\"]),\n]\n" + Self.manifest)
    #expect(manifest.lab == ["L"])
    #expect(manifest.parts(of: "L") == ["A", "CA"])
    #expect(manifest.parts(of: "b-tool") == ["A", "CA"])
    #expect(Manifest(Self.manifest).lab == [])
  }

  @Test func `An undeclared import and an unused dependency are found`() {
    let findings = Manifest(Self.manifest).findings(in: [
      SourceText(path: "Sources/A/A.swift", "import CA"),
      SourceText(path: "Simulator/main.swift", "import CA"),
      SourceText(path: "Tests/ATests/T.swift", "@testable import b_tool\nimport A"),
      SourceText(path: "Tests/ATests/Lab/T.swift", "import CA"),
    ])
    #expect(
      findings.map(\.message) == [
        "b-tool imports CA and does not declare it", "b-tool declares A and does not import it",
      ])
  }

  @Test func `A target without a folder and a folder without a target are found`() {
    let folders: Set = ["Sources/CA", "Sources/A", "Tests/ATests", "Sources/Forgotten"]
    let findings = Manifest(Self.manifest).findings(folders: folders)
    #expect(findings.map { $0.message.prefix { $0 != " " } } == ["Simulator", "Sources/Forgotten"])
  }

  @Test(arguments: [#".package(url: "https://example.com/x", from: "1.0.0")"#, #".package(path: "../x")"#])
  func `A package dependency is found`(source: String) {
    #expect(Manifest.packageDependencies(in: "dependencies: [\n  \(source)]").map(\.line) == [2])
    #expect(Manifest.packageDependencies(in: "// \(source)").isEmpty)
  }

  @Test(arguments: [
    (#".package(name: "purchase-sync", path: "../..")"#, "Tests/Embedding/Package.swift", 0),
    (#".package(name: "purchase-sync", path: "../..")"#, "Package.swift", 1),
    (#".package(name: "purchase-sync", path: "../..")"#, "Tests/Other/Package.swift", 1),
    (#".package(name: "purchase-sync", path: "../../..")"#, "Tests/Embedding/Package.swift", 1),
    (#".package(name: "purchase-sync", path: "../../..")"#, "Tests/Examples/A/Package.swift", 0),
    (#".package(name: "purchase-sync", path: "../..")"#, "Tests/Examples/A/Package.swift", 1),
    (#".package(url: "https://example.com/x", from: "1.0.0")"#, "Tests/Embedding/Package.swift", 1),
    (
      #".package(name: "purchase-sync", path: "../.."), .package(path: "../x")"#,
      "Tests/Embedding/Package.swift", 1
    ),
  ])
  func `The embedding package may depend on this one alone`(source: String, path: String, count: Int) {
    let findings = Manifest.packageDependencies(in: "dependencies: [\n  \(source)]", path: path)
    #expect(findings.count == count)
    #expect(findings.allSatisfy { $0.path == path })
  }

  @Test(arguments: [
    ("import StoreKit", 1), ("#if canImport(Security)\nimport StoreKit\n#endif", 1),
    ("#if canImport(StoreKit)\nimport Foundation\n#else\nimport StoreKit\n#endif", 1),
    ("#if canImport(StoreKit)\npublic import StoreKit\n#endif", 0),
  ])
  func `A module of Apple is imported only inside canImport`(source: String, count: Int) {
    let file = SourceText(path: "Sources/PurchaseSync/A.swift", source)
    #expect(ModuleRules.findings(in: file).count == count)
  }

  @Test(arguments: [
    ("Sources/PurchaseSync/Apple/SecurityItems.swift", 0), ("Sources/PurchaseSync/Apple/Other.swift", 1),
    ("Sources/PurchaseSync/SecurityItems.swift", 1), ("Sources/PurchaseSQLite/A.swift", 0),
  ])
  func `Unsafe code of PurchaseSync is found outside the one allowed file`(
    path: String, count: Int
  ) {
    #expect(BannedWords.unsafeCode.findings(in: SourceText(path: path, "unsafe f()")).count == count)
  }

  @Test func `A missing and an additional name at the top are found`() {
    let found = Layout.findings(topLevel: [
      "Package.swift", "Sources", "Tests", "Simulator", "LICENSE", ".ci", "notes.txt",
    ])
    #expect(found.map(\.path) == ["README.md", "notes.txt"])
    #expect(Layout.findings(topLevel: Layout.required.union([".gitignore"])).isEmpty)
  }

  @Test func `A file above the limit is found and a file at the limit is not`() {
    func findings(_ count: Int) -> [Finding] {
      SourceText(path: "A.swift", String(repeating: "let x = 1\n", count: count)).sizeFindings()
    }
    #expect(findings(400).isEmpty)
    #expect(findings(401).map(\.message) == ["401 lines; 400 at most"])
  }

  @Test(arguments: [
    "func long()", "init(x: Int)", "init?<T>(_ x: T) where T: P", "deinit", "subscript(i: Int) -> Int",
    "func `has { braces and func`(x: [Int] = [1], y: () -> Void = {}) async throws(E) -> (Int, Int)",
  ])
  func `A function above the limit is found and a function at the limit is not`(signature: String) {
    func findings(_ lines: Int) -> [Finding] {
      let body = String(repeating: "    let s = \"}\" // }\n", count: lines - 2)
      return SourceText(path: "A.swift", "struct S {\n  \(signature) {\n\(body)  }\n}\n").sizeFindings()
    }
    #expect(findings(70).isEmpty)
    #expect(
      findings(71) == [Finding(path: "A.swift", line: 2, message: "a function of 71 lines; 70 at most")])
  }

  @Test func `A requirement without a body is not measured`() {
    let source = """
      protocol P {
        func a() -> [Int]
        init(x: Int)
        var b: Int { get }
      }
      struct S { func c() { self.init(); .init() } }
      """
    let lengths = SourceText(path: "A.swift", source).functionLengths
    #expect(lengths == [FunctionLength(keyword: "func", line: 6, lineCount: 1)])
  }
}
