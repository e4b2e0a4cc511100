// swift-tools-version: 6.2.3
import PackageDescription

// One list of settings for every target, each with the proposal that explains it.
let settings: [SwiftSetting] = [
  // SE-0458: every use of an unsafe construct is marked `unsafe`; only a few modules need to.
  .strictMemorySafety(),
  // SE-0335: existential types are written `any P`.
  .enableUpcomingFeature("ExistentialAny"),
  // SE-0409: an import is internal unless it says `public` or `package`.
  .enableUpcomingFeature("InternalImportsByDefault"),
  // SE-0444: a member is visible only in files that import its module.
  .enableUpcomingFeature("MemberImportVisibility"),
  // SE-0461: a nonisolated async function runs where its caller runs.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  // SE-0470: conformances of isolated types are isolated as well.
  .enableUpcomingFeature("InferIsolatedConformances"),
]

/// The lab proves what the simulator shows. Who uses the package does not compile it: `PURCHASE_SYNC_LAB=1` adds its
/// targets, and the folders `Lab` of the other tests.
let hasLab = Context.environment["PURCHASE_SYNC_LAB"] == "1"
let labFolder = hasLab ? [] : ["Lab"]

/// `lab`: what only the tests in the folder `Lab` depend on.
func test(
  _ name: String, _ dependencies: [Target.Dependency], lab: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + (hasLab ? lab : []), exclude: exclude, swiftSettings: settings)
}

let lab: [Target] = [
  .target(
    name: "Exploration",
    dependencies: [
      "PurchaseSync", "PurchaseQueue", "AppStoreReceipts", "PurchaseSQLite", "FaultInjection",
      "Specification", "Fleet", "VirtualTime",
    ],
    swiftSettings: settings),
  .target(
    name: "FaultInjection", dependencies: ["PurchaseQueue", "PurchaseSQLite", "CPurchaseSQLite"],
    swiftSettings: settings),
  .target(name: "Fleet", dependencies: ["PurchaseSync", "PurchaseQueue"], swiftSettings: settings),
  .target(
    name: "Bench",
    dependencies: [
      "PurchaseSync", "PurchaseQueue", "PurchaseSQLite", "AppStoreReceipts", "AppStoreDocuments",
      "LoopbackHTTP",
      "PurchaseSyncTesting", "MemoryModels", "Fleet", "CPurchaseSQLite",
    ],
    swiftSettings: settings),
  .target(
    name: "BrokenBackends",
    dependencies: [
      "BackendConformance", "PurchaseSyncTesting", "PurchaseSync", "PurchaseQueue", "PurchaseSQLite",
      "LoopbackHTTP", "AppStoreReceipts", "TestSupport",
    ],
    swiftSettings: settings),
  .executableTarget(
    name: "purchase-lab",
    dependencies: [
      "Exploration", "Fleet", "Bench", "BrokenBackends", "FaultInjection", "CommandLineTools",
      "ScenarioFormat",
      "ProcessFaults", "Specification", "PurchaseSyncTesting", "PurchaseSync", "PurchaseQueue",
      "PurchaseSQLite", "AppStoreReceipts", "MemoryModels",
    ],
    exclude: ["explore.html", "fleet.html", "why.html"].map { "Report/\($0)" },  // CReportPages embeds them.
    swiftSettings: settings),
  .target(
    name: "CommandTestSupport", dependencies: ["CommandLineTools"],
    path: "Tests/CommandSupport", swiftSettings: settings),
  .testTarget(
    name: "ExplorationTests",
    dependencies: [
      "Exploration", "Specification", "VirtualTime", "PurchaseSyncTesting", "PurchaseSync", "PurchaseQueue",
      "AppStoreReceipts",
    ],
    exclude: ["Inputs"],  // Read where they lie, by #filePath.
    swiftSettings: settings),
  test("FleetTests", ["Fleet", "PurchaseSync", "PurchaseQueue"]),
  test(
    "LabTests",
    [
      "purchase-lab", "Exploration", "Specification", "Fleet", "Bench", "CommandLineTools", "ScenarioFormat",
      "PurchaseSyncTesting", "PurchaseSync", "PurchaseQueue", "MemoryModels", "TestSupport",
      "CommandTestSupport",
    ]),
  test("LoopbackHTTPTests", ["LoopbackHTTP"]),
  test("PurchaseSQLiteTests", ["PurchaseSQLite"]),
  test(
    "PurchaseSyncTestingTests",
    [
      "PurchaseSyncTesting", "PurchaseSync", "PurchaseQueue", "PurchaseSQLite", "LoopbackHTTP",
      "AppStoreReceipts", "AppStoreDocuments", "TestSupport",
    ]),
  test(
    "BackendConformanceTests",
    [
      "BackendConformance", "BrokenBackends", "PurchaseSyncTesting", "PurchaseSync", "PurchaseSQLite",
      "AppStoreReceipts", "TestSupport",
    ]),
  test(
    "FaultInjectionTests",
    ["FaultInjection", "PurchaseSync", "PurchaseQueue", "PurchaseSQLite", "TestSupport"]),
  test(
    "SimulatorTests",
    [
      "purchase-simulator", "CommandLineTools", "ScenarioFormat", "ProcessFaults", "Specification",
      "BackendConformance",
      "PurchaseSyncTesting", "PurchaseSync", "PurchaseQueue", "PurchaseSQLite", "AppStoreReceipts",
      "TestSupport", "CommandTestSupport",
    ]),
  test("ArchitectureTests", []),
]

let package = Package(
  name: "purchase-sync",
  platforms: [.iOS(.v16), .macOS(.v13)],
  products: [
    .library(name: "PurchaseQueue", targets: ["PurchaseQueue"]),
    .library(name: "AppStoreReceipts", targets: ["AppStoreReceipts"]),
    .library(name: "AppStoreDocuments", targets: ["AppStoreDocuments"]),
    .library(name: "PurchaseSync", targets: ["PurchaseSync"]),
    .library(name: "PurchaseSyncTesting", targets: ["PurchaseSyncTesting"]),
    .library(name: "BackendConformance", targets: ["BackendConformance"]),
    .executable(name: "purchase-simulator", targets: ["purchase-simulator"]),
  ] + (hasLab ? [.executable(name: "purchase-lab", targets: ["purchase-lab"])] : []),
  dependencies: [],  // None, anywhere: the toolchain and the system's libsqlite3. A promise to embedders.
  targets: [
    .systemLibrary(
      name: "CPurchaseSQLite",
      pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .target(name: "PurchaseSQLite", dependencies: ["CPurchaseSQLite"], swiftSettings: settings),
    .target(name: "PurchaseQueue", dependencies: ["PurchaseSQLite"], swiftSettings: settings),
    .target(name: "AppStoreReceipts", swiftSettings: settings),
    .target(name: "AppStoreDocuments", dependencies: ["AppStoreReceipts"], swiftSettings: settings),
    .target(
      name: "PurchaseSync",
      dependencies: ["PurchaseQueue", "AppStoreReceipts", "PurchaseSQLite"],
      // The App Store asks each library for it. Copied, not embedded: Xcode looks for the file.
      resources: [.copy("PrivacyInfo.xcprivacy")],
      swiftSettings: settings),
    .target(name: "MemoryModels", dependencies: ["PurchaseSync", "PurchaseQueue"], swiftSettings: settings),
    .target(name: "LoopbackHTTP", swiftSettings: settings),
    .target(name: "VirtualTime", dependencies: ["PurchaseSQLite"], swiftSettings: settings),
    .target(name: "CTestingPages"),
    .target(
      name: "PurchaseSyncTesting",
      dependencies: [
        "PurchaseSync", "PurchaseQueue", "AppStoreReceipts", "AppStoreDocuments", "PurchaseSQLite",
        "LoopbackHTTP", "VirtualTime", "CTestingPages",
      ],
      exclude: ["Pages", "OpenAPI/openapi.json"],  // CTestingPages embeds them.
      swiftSettings: settings),
    .target(
      name: "BackendConformance",
      dependencies: [
        "PurchaseSyncTesting", "PurchaseSync", "PurchaseQueue", "PurchaseSQLite", "AppStoreReceipts",
        "LoopbackHTTP",
      ],
      swiftSettings: settings),
    .target(
      name: "ProcessFaults", dependencies: ["PurchaseQueue", "PurchaseSQLite"], swiftSettings: settings),
    .target(
      name: "Specification", dependencies: ["PurchaseSync", "PurchaseQueue", "PurchaseSQLite"],
      swiftSettings: settings),
    .target(name: "CReportPages"),
    .target(
      name: "CommandLineTools",
      dependencies: ["PurchaseSync", "PurchaseSQLite", "CPurchaseSQLite", "CReportPages"],
      swiftSettings: settings),
    .target(
      name: "ScenarioFormat",
      dependencies: ["CommandLineTools", "PurchaseSync", "PurchaseSyncTesting", "AppStoreReceipts"],
      swiftSettings: settings),
    .executableTarget(
      name: "purchase-simulator",
      dependencies: [
        "CommandLineTools", "ScenarioFormat", "ProcessFaults", "Specification", "BackendConformance",
        "PurchaseSyncTesting", "PurchaseSync", "PurchaseQueue", "PurchaseSQLite", "AppStoreReceipts",
        "AppStoreDocuments",
      ],
      path: "Simulator",
      // The readme's picture, and what CReportPages embeds.
      exclude: ["report.png", "report.html", "page.css", "page.js"].map { "Report/\($0)" },
      swiftSettings: settings),
    // The readme's sample, with the settings of a new package. A test runs it.
    .executableTarget(
      name: "readme-sample", dependencies: ["PurchaseSync", "PurchaseSyncTesting"],
      path: "Tests/ReadmeSample"),
    .target(name: "TestSupport", path: "Tests/Support", swiftSettings: settings),
    test(
      "PurchaseQueueTests", ["PurchaseQueue", "PurchaseSQLite", "TestSupport"],
      lab: ["FaultInjection", "ProcessFaults"], exclude: labFolder),
    test(
      "AppStoreReceiptsTests",
      ["AppStoreDocuments", "AppStoreReceipts", "PurchaseSyncTesting", "TestSupport"],
      exclude: ["Fixtures"] + labFolder),  // Fixtures are read where they lie, by #filePath.
    test(
      "PurchaseSyncTests",
      [
        "PurchaseSync", "PurchaseQueue", "PurchaseSQLite", "AppStoreReceipts", "PurchaseSyncTesting",
        "MemoryModels", "TestSupport",
      ],
      lab: ["LoopbackHTTP"], exclude: labFolder),
    // Empty where there is no StoreKitTest; Tests/AppleInterfaces/typecheck.sh checks it on Linux.
    .testTarget(
      name: "StoreKitTests",
      dependencies: ["PurchaseSync"],
      exclude: ["Products.storekit"],  // Read where it lies, by #filePath.
      swiftSettings: settings),
  ] + (hasLab ? lab : []),
  swiftLanguageModes: [.v6]
)
