/// The modules that each folder may import, of this project and of the toolchain. The page `Architecture` explains
/// the table.
struct ModuleRules: Sendable {
  var project: Set<String>
  var toolchain: Set<String>

  var all: Set<String> { project.union(toolchain) }

  private static let storage: Set = ["PurchaseSQLite", "PurchaseQueue", "AppStoreReceipts"]
  private static let system: Set = ["Dispatch", "Glibc", "Darwin"]
  private static let commands = storage.union([
    "PurchaseSync", "PurchaseSyncTesting", "CommandLineTools", "ScenarioFormat", "ProcessFaults",
    "Specification",
  ])

  /// The rules by folder. A folder that is not here fails the test.
  static let table: [String: ModuleRules] = [
    "Sources/CPurchaseSQLite": ModuleRules(project: [], toolchain: []),
    "Sources/CTestingPages": ModuleRules(project: [], toolchain: []),
    "Sources/CReportPages": ModuleRules(project: [], toolchain: []),
    "Sources/PurchaseSQLite": ModuleRules(project: ["CPurchaseSQLite"], toolchain: system),
    "Sources/PurchaseQueue": ModuleRules(
      project: ["PurchaseSQLite"], toolchain: ["FoundationEssentials", "Foundation", "Dispatch"]),
    "Sources/AppStoreReceipts": ModuleRules(project: [], toolchain: ["FoundationEssentials", "Foundation"]),
    // Not in PurchaseSync: an app compiles the decoders of proofs, and no others.
    "Sources/AppStoreDocuments": ModuleRules(
      project: ["AppStoreReceipts"], toolchain: ["FoundationEssentials", "Foundation"]),
    "Sources/PurchaseSync": ModuleRules(
      project: storage,
      toolchain: [
        "Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch", "StoreKit", "Security",
        "Network", "Observation", "os", "CryptoKit", "UIKit",
      ]),
    "Sources/MemoryModels": ModuleRules(
      project: ["PurchaseSync", "PurchaseQueue"], toolchain: ["Foundation"]),
    "Sources/LoopbackHTTP": ModuleRules(project: [], toolchain: system.union(["Foundation"])),
    "Sources/VirtualTime": ModuleRules(project: ["PurchaseSQLite"], toolchain: system),
    "Sources/PurchaseSyncTesting": ModuleRules(
      project: storage.union([
        "AppStoreDocuments", "PurchaseSync", "LoopbackHTTP", "VirtualTime", "CTestingPages",
      ]),
      toolchain: ["Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch"]),
    "Sources/BackendConformance": ModuleRules(
      project: storage.union(["PurchaseSync", "PurchaseSyncTesting", "LoopbackHTTP"]),
      toolchain: ["Foundation"]),
    "Sources/FaultInjection": ModuleRules(
      // Not PurchaseSync: tests of the queue use these modules and must not compile the engine.
      project: ["PurchaseSQLite", "PurchaseQueue", "CPurchaseSQLite"], toolchain: system.union(["Foundation"])
    ),
    "Sources/ProcessFaults": ModuleRules(project: ["PurchaseSQLite", "PurchaseQueue"], toolchain: system),
    "Sources/Specification": ModuleRules(
      project: ["PurchaseSQLite", "PurchaseQueue", "PurchaseSync"], toolchain: []),
    "Sources/CommandLineTools": ModuleRules(
      project: ["PurchaseSQLite", "PurchaseSync", "CPurchaseSQLite", "CReportPages"],
      toolchain: system.union(["Foundation"])),
    "Sources/ScenarioFormat": ModuleRules(
      project: ["CommandLineTools", "AppStoreReceipts", "PurchaseSync", "PurchaseSyncTesting"],
      toolchain: ["Foundation"]),
    "Sources/Exploration": ModuleRules(
      project: storage.union(["PurchaseSync", "FaultInjection", "Specification", "Fleet", "VirtualTime"]),
      toolchain: system.union(["Foundation"])),
    "Sources/Fleet": ModuleRules(
      project: ["PurchaseSync", "PurchaseQueue"], toolchain: system),
    "Sources/Bench": ModuleRules(
      project: storage.union([
        "AppStoreDocuments", "PurchaseSync", "PurchaseSyncTesting", "MemoryModels", "LoopbackHTTP", "Fleet",
        "CPurchaseSQLite",
      ]),
      toolchain: system.union(["Foundation", "FoundationNetworking"])),
    "Sources/BrokenBackends": ModuleRules(
      project: storage.union([
        "PurchaseSync", "PurchaseSyncTesting", "BackendConformance", "LoopbackHTTP", "TestSupport",
      ]),
      toolchain: ["Foundation"]),
    "Simulator": ModuleRules(
      project: commands.union(["BackendConformance", "AppStoreDocuments"]),
      toolchain: system.union(["Foundation", "FoundationNetworking"])),
    "Sources/purchase-lab": ModuleRules(
      project: commands.union([
        "FaultInjection", "MemoryModels", "Exploration", "Fleet", "Bench", "BrokenBackends",
      ]),
      toolchain: system.union(["Foundation"])),
  ]

  /// The targets that only `PURCHASE_SYNC_LAB=1` adds to the package.
  static let lab: Set = [
    "Exploration", "FaultInjection", "Fleet", "Bench", "BrokenBackends", "purchase-lab", "CommandTestSupport",
    "ExplorationTests", "FleetTests", "PurchaseSQLiteTests",
    "LabTests", "LoopbackHTTPTests", "PurchaseSyncTestingTests", "BackendConformanceTests",
    "FaultInjectionTests", "SimulatorTests", "ArchitectureTests",
  ]

  /// What is compiled for each program.
  static let programs: [String: Set<String>] = [
    "purchase-simulator": parts.union(["BackendConformance"]),
    "purchase-lab": parts.union([
      "FaultInjection", "MemoryModels", "Exploration", "Fleet", "Bench", "BrokenBackends",
      "BackendConformance",
      "TestSupport",
    ]),
  ]

  private static let parts: Set = [
    "CPurchaseSQLite", "PurchaseSQLite", "PurchaseQueue", "AppStoreReceipts", "AppStoreDocuments",
    "PurchaseSync", "LoopbackHTTP", "VirtualTime", "CTestingPages", "PurchaseSyncTesting", "CReportPages",
    "CommandLineTools",
    "ScenarioFormat", "ProcessFaults", "Specification",
  ]

  /// Folders of code that decides and performs nothing.
  static let pureFolders = ["Sources/PurchaseSync/Machine/", "Sources/PurchaseSync/Retry/"]

  /// The machine reaches its storage through a protocol. It uses no SQLite, and only value types of Foundation.
  static let machine = ModuleRules(
    project: ["PurchaseQueue", "AppStoreReceipts"], toolchain: ["FoundationEssentials", "Foundation"])

  /// A test may import each module that the manifest declares for its target, except those of the lab.
  static let tests = ModuleRules(
    project: commands.union([
      "AppStoreDocuments", "BackendConformance", "BrokenBackends", "LoopbackHTTP", "FaultInjection",
      "MemoryModels",
      "CPurchaseSQLite",
      "purchase_simulator",
      "TestSupport", "CommandTestSupport", "VirtualTime",
    ]),
    toolchain: system.union(["Testing", "Foundation", "FoundationEssentials", "FoundationNetworking"]))

  /// The test targets of the lab.
  static let explorers = ["Tests/ExplorationTests/", "Tests/FleetTests/", "Tests/LabTests/"]

  /// The rules of those test targets.
  static let exploringTests = ModuleRules(
    project: tests.project.union(["Exploration", "Fleet", "Bench", "purchase_lab"]),
    toolchain: tests.toolchain)

  /// The package that embeds this one sees only the product.
  static let embedding = ModuleRules(project: ["PurchaseQueue"], toolchain: ["Foundation"])

  /// An app that embeds this package, its tests, and what they share.
  static let examples = ModuleRules(
    project: ["PurchaseSync", "PurchaseSyncTesting", "CoinShop", "Company"],
    toolchain: ["Foundation", "Testing"])

  /// An app on Apple's systems, as an app developer writes it.
  static let interfaces = ModuleRules(
    project: ["PurchaseQueue", "PurchaseSync"], toolchain: ["Foundation", "StoreKit", "SwiftUI"])

  /// Tests with Xcode's App Store: with what an app developer has.
  static let storeKitTests = ModuleRules(
    project: ["PurchaseSync"], toolchain: ["Foundation", "StoreKitTest", "Testing"])

  /// The rules for a file; nil where its folder is not in the table.
  static func rules(for path: String) -> ModuleRules? {
    if pureFolders.contains(where: path.hasPrefix) { return machine }
    if path.hasPrefix(Manifest.embedding) { return embedding }
    if path.hasPrefix(Manifest.interfaces) { return interfaces }
    if path.hasPrefix(Manifest.examples) { return examples }
    if explorers.contains(where: path.hasPrefix) { return exploringTests }
    if path.hasPrefix("Tests/StoreKitTests/") { return storeKitTests }
    if path.hasPrefix("Tests/") { return tests }
    return targetFolder(of: path).flatMap { table[$0] }
  }

  /// "Sources/X", "Tests/X" or "Simulator"; nil for a file that is part of no target.
  static func targetFolder(of path: String) -> String? {
    let components = path.split(separator: "/")
    let others = [
      Manifest.embedding, Manifest.examples, Manifest.fuzzing, Manifest.interfaces, Manifest.judges,
      Manifest.mutants,
    ]
    if others.contains(where: path.hasPrefix) { return nil }
    switch components.first {
    case "Simulator": return components.first.map(String.init)
    case "Sources" where components.count > 2, "Tests" where components.count > 2:
      return components.prefix(2).joined(separator: "/")
    default: return nil
    }
  }

  /// Imports that the table does not allow.
  static func findings(in file: SourceText) -> [Finding] {
    guard let rules = rules(for: file.path) else {
      return [Finding(path: file.path, message: "this folder is not in the module table")]
    }
    return file.imports.compactMap { statement in
      func finding(_ message: String) -> Finding {
        Finding(path: file.path, line: statement.line, message: message)
      }
      guard rules.all.contains(statement.module) else {
        return finding("may not import \(statement.module)")
      }
      let isApples = ["StoreKit", "Security", "Network", "StoreKitTest", "os", "CryptoKit", "UIKit"]
        .contains(statement.module)
      if isApples, file.path.hasPrefix("Sources/") || file.path.hasPrefix("Tests/StoreKitTests/"),
        !statement.conditions.contains("canImport(\(statement.module))")
      {
        return finding("may import \(statement.module) only inside #if canImport(\(statement.module))")
      }
      let onlyFallback = file.path.hasPrefix("Sources/AppStore") && statement.module == "Foundation"
      if onlyFallback, !statement.conditions.contains("!canImport(FoundationEssentials)") {
        return finding(
          "may import Foundation only in the #else branch of #if canImport(FoundationEssentials)")
      }
      return nil
    }
  }
}
