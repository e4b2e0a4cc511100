/// What each folder may import: the module table of the package's design, and the toolchain's modules.
struct ModuleRules: Sendable {
  var project: Set<String>
  var toolchain: Set<String>

  var all: Set<String> { project.union(toolchain) }

  private static let storage: Set = ["PurchaseSQLite", "PurchaseQueue", "AppStoreReceipts"]
  private static let system: Set = ["Dispatch", "Glibc", "Darwin"]

  /// By the folder's path. A folder that is not here fails the test.
  static let table: [String: ModuleRules] = [
    "Sources/CPurchaseSQLite": ModuleRules(project: [], toolchain: []),
    "Sources/PurchaseSQLite": ModuleRules(project: ["CPurchaseSQLite"], toolchain: system),
    "Sources/PurchaseQueue": ModuleRules(
      project: ["PurchaseSQLite"], toolchain: ["FoundationEssentials", "Foundation", "Dispatch"]),
    "Sources/AppStoreReceipts": ModuleRules(project: [], toolchain: ["FoundationEssentials", "Foundation"]),
    "Sources/PurchaseSync": ModuleRules(
      project: storage,
      toolchain: [
        "Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch", "StoreKit", "Security",
      ]),
    "Sources/LoopbackHTTP": ModuleRules(project: [], toolchain: system.union(["Foundation"])),
    "Sources/PurchaseSyncTesting": ModuleRules(
      project: storage.union(["PurchaseSync", "LoopbackHTTP"]),
      toolchain: ["Foundation", "FoundationEssentials", "FoundationNetworking", "Dispatch"]),
    "Sources/FaultInjection": ModuleRules(
      project: storage.union(["PurchaseSync", "CPurchaseSQLite"]), toolchain: system.union(["Foundation"])),
    "Simulator": ModuleRules(
      project: storage.union([
        "PurchaseSync", "PurchaseSyncTesting", "LoopbackHTTP", "FaultInjection", "CPurchaseSQLite",
      ]),
      toolchain: system.union(["Foundation", "FoundationNetworking"])),
  ]

  /// What decides, and does nothing.
  static let pureFolders = ["Sources/PurchaseSync/Machine/", "Sources/PurchaseSync/Retry/"]

  /// The machine does no I/O: no storage, and of Foundation only its values.
  static let machine = ModuleRules(
    project: ["PurchaseQueue", "AppStoreReceipts"], toolchain: ["FoundationEssentials", "Foundation"])

  /// Tests may import every module of the project that the manifest grants them; the manifest's test sees to it.
  static let tests = ModuleRules(
    project: storage.union([
      "PurchaseSync", "PurchaseSyncTesting", "LoopbackHTTP", "FaultInjection", "CPurchaseSQLite",
      "purchase_simulator",
    ]),
    toolchain: system.union(["Testing", "Foundation", "FoundationEssentials", "FoundationNetworking"]))

  /// The package that embeds this one has nothing but the product.
  static let embedding = ModuleRules(project: ["PurchaseQueue"], toolchain: ["Foundation"])

  /// An app on Apple's systems, as somebody else would write it.
  static let interfaces = ModuleRules(
    project: ["PurchaseQueue", "PurchaseSync"], toolchain: ["Foundation", "StoreKit"])

  /// The rules for a file; nil where its folder is not in the table.
  static func rules(for path: String) -> ModuleRules? {
    if pureFolders.contains(where: path.hasPrefix) { return machine }
    if path.hasPrefix(Manifest.embedding) { return embedding }
    if path.hasPrefix(Manifest.interfaces) { return interfaces }
    if path.hasPrefix("Tests/") { return tests }
    return targetFolder(of: path).flatMap { table[$0] }
  }

  /// "Sources/X", "Tests/X" or "Simulator"; nil for a file that belongs to no target.
  static func targetFolder(of path: String) -> String? {
    let components = path.split(separator: "/")
    for folder in [Manifest.embedding, Manifest.fuzzing, Manifest.interfaces] where path.hasPrefix(folder) {
      return nil
    }
    switch components.first {
    case "Simulator": return "Simulator"
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
      let isApples = statement.module == "StoreKit" || statement.module == "Security"
      if isApples, file.path.hasPrefix("Sources/"),
        !statement.conditions.contains("canImport(\(statement.module))")
      {
        return finding("imports \(statement.module) only where there is one: under #if canImport")
      }
      let onlyFallback = file.path.hasPrefix("Sources/AppStoreReceipts/") && statement.module == "Foundation"
      if onlyFallback, !statement.conditions.contains("!canImport(FoundationEssentials)") {
        return finding("imports Foundation only where FoundationEssentials is missing: in the #else branch")
      }
      return nil
    }
  }
}
