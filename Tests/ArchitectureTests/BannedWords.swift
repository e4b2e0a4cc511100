/// Words that must not occur in the code of some files, with the reason.
struct BannedWords: Sendable {
  var patterns: [String]
  var reason: String
  /// Whether the rule applies to this path.
  var applies: @Sendable (String) -> Bool

  private static let products = [
    "PurchaseSQLite", "PurchaseQueue", "AppStoreReceipts", "AppStoreDocuments", "PurchaseSync",
    "PurchaseSyncTesting", "BackendConformance", "LoopbackHTTP", "VirtualTime", "MemoryModels",
  ]

  private static func isInProducts(_ path: String) -> Bool {
    products.contains { path.hasPrefix("Sources/\($0)/") }
  }

  /// Interfaces that compile on Linux without a warning and need a newer Apple system than iOS 16 or macOS 13.
  static let newerSystems = BannedWords(
    patterns: [
      "import Synchronization", "Mutex<", "Mutex(", "Atomic<", "InlineArray", "UTF8Span", "TaskExecutor",
      "isolated deinit", "Task.immediate",
    ],
    reason: "needs a newer system than iOS 16 and macOS 13",
    applies: isInProducts)

  static let unsafeCode = BannedWords(
    patterns: ["unsafe"],
    reason: "unsafe code belongs to PurchaseSQLite, LoopbackHTTP, and the modules of tests and measurements",
    applies: { path in
      // The keychain returns values through a pointer, and PurchaseSQLite must not import Security. The C compiler embeds
      // the server's pages, and C has no arrays that know their length.
      path.hasPrefix("Sources/") && path != "Sources/PurchaseSync/Apple/SecurityItems.swift"
        && path != "Sources/PurchaseSyncTesting/Server/ServerPages.swift"
        && ![
          "PurchaseSQLite", "LoopbackHTTP", "VirtualTime", "FaultInjection", "Exploration", "Bench",
          "CommandLineTools", "purchase-lab",
        ]
        .contains {
          path.hasPrefix("Sources/\($0)/")
        }
    })

  static let impurity = BannedWords(
    patterns: [
      "Date()", "Date.now", "UUID()", ".random(", ".randomElement()", ".shuffled()", ".shuffle()",
      "SystemRandomNumberGenerator", "ContinuousClock", "SuspendingClock", "Task", "await", "FileManager",
      "NSLock", "DispatchQueue",
    ],
    reason: "time, random numbers and ids are arguments here, and no code waits or performs I/O",
    applies: { path in
      ModuleRules.pureFolders.contains(where: path.hasPrefix)
        || path.hasPrefix("Sources/PurchaseSyncTesting/") && path.hasSuffix("Model.swift")
    })

  static let swallowedErrors = BannedWords(
    patterns: ["try?", "try!", "fatalError("],
    reason: "an error is handled or passed on; it is not dropped and does not end the process",
    applies: isInProducts)

  /// Calls for which the store may ask for a password: only a restore that the user asked for may make them.
  static let prompts = BannedWords(
    patterns: [
      "AppStore.sync", ".sync()", "SKReceiptRefreshRequest", "ReceiptRefresh.run", ".refreshReceipt()",
    ],
    reason: "may ask for a password; only a restore that the user asked for may call it",
    applies: { path in
      isInProducts(path)
        && ![
          "Apple/StoreKitStore.swift", "Apple/StoreKitStore+Restoring.swift", "Apple/ReceiptRefresh.swift",
          "Engine/SyncEngine+Restoring.swift",
        ].contains { path == "Sources/PurchaseSync/" + $0 }
    })

  static let all = [newerSystems, unsafeCode, impurity, swallowedErrors, prompts]

  func findings(in file: SourceText) -> [Finding] {
    guard applies(file.path) else { return [] }
    return patterns.flatMap { pattern in
      file.lines(with: pattern).map { Finding(path: file.path, line: $0, message: "\(pattern): \(reason)") }
    }
  }

  /// Each `catch` whose braces are empty or hold only a comment.
  static func emptyCatches(in file: SourceText) -> [Finding] {
    guard isInProducts(file.path) else { return [] }
    let code = file.code
    return code.ranges(of: "catch").compactMap { range in
      let isWord = { (character: Character?) in
        character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
      }
      guard !isWord(code[..<range.lowerBound].last), !isWord(code[range.upperBound...].first) else {
        return nil
      }
      guard let brace = code[range.upperBound...].firstIndex(of: "{") else { return nil }
      guard code[code.index(after: brace)...].first(where: { !$0.isWhitespace }) == "}" else { return nil }
      let line = code[..<range.lowerBound].count { $0 == "\n" } + 1
      return Finding(path: file.path, line: line, message: "an empty catch: \(swallowedErrors.reason)")
    }
  }
}
