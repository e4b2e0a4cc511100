import Testing

@Suite struct BannedWordTests {
  @Test(arguments: [
    ("try await AppStore.sync()", "Apple/StoreKitStore+Restoring.swift", 0),
    ("try await AppStore.sync()", "Apple/StoreKitStore.swift", 0),
    ("try await AppStore.sync()", "Shop/Shop.swift", 2),
    ("try await store.refreshReceipt()", "Engine/SyncEngine+Listing.swift", 1),
    ("try await store.sync()", "Engine/SyncEngine+Restoring.swift", 0),
  ])
  func `A call that may ask for a password is found outside of restoring`(
    code: String, place: String, count: Int
  ) {
    let file = SourceText(path: "Sources/PurchaseSync/" + place, code)
    #expect(BannedWords.prompts.findings(in: file).count == count)
  }

  @Test(arguments: [
    ("import Synchronization", "PurchaseQueue"), ("let m: Mutex<Int>", "PurchaseSync"),
    ("let m = Mutex(0)", "LoopbackHTTP"), ("let a: Atomic<Int>", "PurchaseSyncTesting"),
    ("var a: InlineArray<4, UInt8>", "AppStoreReceipts"), ("func f(_ s: UTF8Span) {}", "AppStoreReceipts"),
    ("final class E: TaskExecutor {}", "PurchaseSQLite"), ("isolated deinit {}", "PurchaseSync"),
    ("Task.immediate { }", "PurchaseSync"),
  ])
  func `An interface of a newer system is found`(source: String, module: String) {
    let file = SourceText(path: "Sources/\(module)/A.swift", "\n" + source)
    #expect(BannedWords.newerSystems.findings(in: file).map(\.line) == [2])
    let simulator = SourceText(path: "Simulator/A.swift", source)
    #expect(BannedWords.newerSystems.findings(in: simulator).isEmpty)
  }

  @Test(arguments: [
    ("Sources/PurchaseQueue/A.swift", 1), ("Sources/PurchaseSync/Machine/A.swift", 1),
    ("Sources/AppStoreReceipts/A.swift", 1), ("Sources/PurchaseSyncTesting/A.swift", 1),
    ("Sources/PurchaseSQLite/A.swift", 0), ("Sources/LoopbackHTTP/A.swift", 0),
    ("Sources/FaultInjection/A.swift", 0), ("Sources/Exploration/A.swift", 0), ("Sources/Bench/A.swift", 0),
    ("Simulator/A.swift", 0),
  ])
  func `Unsafe code in the wrong place is found`(path: String, count: Int) {
    for source in ["let p = unsafe f()", "nonisolated(unsafe) var x = 1", "@unsafe func f() {}"] {
      #expect(BannedWords.unsafeCode.findings(in: SourceText(path: path, source)).count == count)
    }
  }

  @Test(arguments: [
    "let now = Date()", "let now = Date.now", "let id = UUID()", "Int.random(in: 0..<5)", "a.randomElement()",
    "a.shuffled()", "a.shuffle()", "SystemRandomNumberGenerator()", "ContinuousClock().now",
    "SuspendingClock()",
    "Task { }", "await f()", "FileManager.default", "let lock = NSLock()", "DispatchQueue.main",
  ])
  func `A clock, randomness, a lock or I/O in a pure file is found`(source: String) {
    for path in [
      "Sources/PurchaseSync/Machine/A.swift", "Sources/PurchaseSync/Retry/A.swift",
      "Sources/PurchaseSyncTesting/Store/StoreModel.swift",
    ] {
      #expect(BannedWords.impurity.findings(in: SourceText(path: path, source)).count == 1)
    }
    let driver = SourceText(path: "Sources/PurchaseSync/Driver.swift", source)
    #expect(BannedWords.impurity.findings(in: driver).isEmpty)
  }

  @Test(arguments: ["try? f()", "try! f()", "fatalError(\"no\")"])
  func `A dropped error is found`(source: String) {
    let file = SourceText(path: "Sources/PurchaseQueue/A.swift", source)
    #expect(BannedWords.swallowedErrors.findings(in: file).count == 1)
  }

  @Test(
    arguments: [
      ("do { try f() } catch {}", [1]), ("do {\n} catch {\n  // Does not matter.\n}", [2]),
      ("do { } catch let e as E { }", [1]), ("do { } catch .full {\n}\ncatch { g() }", [1]),
      ("do { } catch { g() }", []), ("let catchAll = { }", []), ("// catch {}", []),
      ("let s = \"catch {}\"", []),
    ] as [(String, [Int])])
  func `An empty catch is found`(source: String, lines: [Int]) {
    let file = SourceText(path: "Sources/PurchaseSync/A.swift", source)
    #expect(BannedWords.emptyCatches(in: file).map(\.line) == lines)
  }

  @Test(arguments: [
    "// Date() and try? in a comment", "/* Task /* nested await */ UUID() */", "let s = \"try? Date()\"",
    "let s = #\"\"quoted\" Task await\"#", "let s = \"\"\"\n  Task\n  \"\"\"", "let taskTask = Tasks.first",
    "func `await a Task`() {}", "let s = \"\\\"Task\"", "myDate(); nextUUID()", "let unawaited = awaiting",
  ])
  func `A word in a comment or a literal, and a longer word, are not found`(source: String) {
    let file = SourceText(path: "Sources/PurchaseSync/Machine/A.swift", source)
    #expect(BannedWords.all.flatMap { $0.findings(in: file) } == [])
  }

  @Test(arguments: [
    "let s = \"a \\(Date()) b\"", "let s = \"\\(f(\"x\", (Date())))\"", "let s = #\"\\#(Date())\"#",
    "/* */ Date()", "let s = \"// no comment\"; Date()", "let s = \"\"\"\n  \\(Date())\n  \"\"\"",
    "let s = \"unfinished\nDate()", "let c = #\"\\\"#; Date()", "let q = \"\\\\\"; Date()",
  ])
  func `Code beside or inside a literal or a comment is found`(source: String) {
    let file = SourceText(path: "Sources/PurchaseSync/Machine/A.swift", source)
    #expect(BannedWords.impurity.findings(in: file).count == 1)
  }
}

@Suite struct ImportStatementTests {
  @Test(arguments: [
    "import A", "  import A", "public import A", "package import A", "private import A", "internal import A",
    "@testable import A", "@preconcurrency public import A", "import struct A.B", "public import func A.f",
    "import A.Sub", "@_spi(Deep) import A", "import A // Because.", "let x = 1; import A", "/* */ import A",
  ])
  func `An import is read in every form`(source: String) {
    #expect(SourceText(path: "A.swift", source).imports.map(\.module) == ["A"])
  }

  @Test(arguments: [
    "// import A", "let s = \"import A\"", "\"\"\"\nimport A\n\"\"\"", "important(A)", "importA",
  ])
  func `Text that is no import is not read`(source: String) {
    #expect(SourceText(path: "A.swift", source).imports.isEmpty)
  }

  @Test func `An import has the conditions of its branch`() {
    let source = """
      #if canImport(A)
        import A
        #if os(Linux)
          import B
        #endif
      #elseif DEBUG
        import C
      #else
        import D
      #endif
      import E
      """
    let imports = SourceText(path: "A.swift", source).imports
    #expect(
      imports.map(\.conditions) == [
        ["canImport(A)"], ["canImport(A)", "os(Linux)"], ["!canImport(A)", "DEBUG"],
        ["!canImport(A)", "!DEBUG"], [],
      ])
  }
}
