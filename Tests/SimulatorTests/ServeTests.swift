import BackendConformance
import CommandLineTools
import CommandTestSupport
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting
import TestSupport
import Testing

@testable import purchase_simulator

/// `serve`, by the real binary.
@Suite struct ServeTests {
  @Test func `it prints its URLs, answers, and ends cleanly on a signal`() async throws {
    let (process, base) = try Served.start()
    defer { if process.isRunning { process.terminate() } }
    var options = ConformanceOptions()
    options.backend = base
    let lab = try ConformanceLab(options)
    let page = try await lab.send("GET", "", as: .anonymous)
    #expect(page.status == 200)
    #expect(page.contentType == "text/html; charset=utf-8")
    let order = try await lab.order()
    #expect(!order.number.isEmpty)
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
  }

  @Test func `a signal that comes right after the addresses is not missed, and ends it cleanly`() throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = Program.simulator.binary
    process.arguments = ["serve", "--port", "0", "--json"]
    process.standardOutput = output
    try process.begin()
    #expect(!output.fileHandleForReading.availableData.isEmpty)
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }

  @Test(arguments: [
    (["--port", "70000"], "--port needs a whole number, not '70000'"),
    (["--speed", "0"], "--speed needs a number above 0, up to 1000000, not '0'"),
    (["--speed", "nan"], "--speed needs a number above 0, up to 1000000, not 'nan'"),
    (["--broken", "forget"], "--broken knows no 'forget'; did you mean 'forgets'?"),
    (
      ["--environment", "prod"],
      "--environment needs production, sandbox, xcode or local-testing, not 'prod'"
    ),
    (["--databse", "x"], "serve has no option '--databse'; did you mean '--database'?"),
  ])
  func `wrong options are named`(arguments: [String], message: String) {
    #expect(ServeOptions.parse(arguments) == .failure(UsageError(message: message)))
  }

  @Test(arguments: [("sandbox", "Sandbox"), ("local-testing", "LocalTesting"), ("xcode", "Xcode")])
  func `the environment is chosen by its name, and greeted`(name: String, word: String) throws {
    let options = try ServeOptions.parse(["--environment", name]).get()
    let greeting = ServeGreeting(
      url: "http://127.0.0.1:1", database: nil, environment: options.environment, product: "p", broken: nil,
      hasChecksums: false)
    for part in ["environment " + word, "/store/root.cer", "/store/api-key", "curl -sS http"] {
      #expect(greeting.text.contains(part), "\(part)")
    }
  }

  @Test(arguments: [
    ("{", "is no plan of faults"), (#"{"rules":[{"path":"/v1"}]}"#, "rules[0]: \"fault\" is missing"),
    (#"{"rules":[{"path":"/v1","fault":"explode"}]}"#, "rules[0].fault: there is no such fault"),
    (#"{"rules":[{"path":"/v1","fault":"reset","cuont":3}]}"#, "rules[0].cuont: a rule has no such key"),
  ])
  func `the error of a bad plan has the place`(plan: String, complaint: String) throws {
    try TemporaryDirectory.with("ServeTests") { directory in
      let path = directory + "/plan.json"
      try Data(plan.utf8).write(to: URL(fileURLWithPath: path))
      let result = try CommandResult(of: ["serve", "--port", "0", "--faults", path])
      #expect(result.status == ExitCode.badData)
      #expect(result.errors.contains(complaint), "\(result.errors)")
    }
  }

  @Test(arguments: [
    (["--faults", "/no/such/file"], ExitCode.noInput, "cannot be read"),
    (["--database", "/no/such/folder/x"], ExitCode.internal, "/no/such/folder/x"),
    (["--host", "256.1.1.1"], ExitCode.internal, "256.1.1.1"),
  ])
  func `the error names what cannot be opened`(arguments: [String], status: Int32, complaint: String) throws {
    let result = try CommandResult(of: ["serve", "--port", "0"] + arguments)
    #expect(result.status == status)
    #expect(result.errors.contains(complaint), "\(result.errors)")
  }

  @Test func `the mock server's clock goes as fast as asked`() async throws {
    let speed = 1_000_000.0
    let (earliest, first) = (ContinuousClock.now, Date())
    let clock = ServeCommand.clock(speed: speed)
    let (latest, last) = (ContinuousClock.now, Date())
    try await Task.sleep(for: .milliseconds(20))
    let before = ContinuousClock.now
    let moment = Double(clock().milliseconds)
    let after = ContinuousClock.now
    // However slow the test is, the clock began between the first two moments and was read between the last two.
    let shortest: Double = (before - latest) / .milliseconds(1)
    let longest: Double = (after - earliest) / .milliseconds(1)
    let least = first.timeIntervalSince1970 * 1_000 + shortest * speed
    let most = last.timeIntervalSince1970 * 1_000 + longest * speed
    #expect(moment >= least - 1)
    #expect(moment <= most + 1)
  }
}

/// A database that is used again with a new store.
@Suite struct ServedDatabaseTests {
  @Test func `after SIGKILL a paid purchase is listed again, and a second server is refused`() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/Served-\(UUID().uuidString).sqlite"
    defer {
      for suffix in ["", "-wal", "-shm", "-lock"] {
        try? FileManager.default.removeItem(atPath: path + suffix)
      }
    }
    let (first, before) = try Served.start(["--database", path])
    defer { if first.isRunning { first.terminate() } }
    let paid = try await MockStoreClient(base: #require(URL(string: before)), storeAccount: "alice")
      .pay(product: "gems.100", quantity: 1, accountToken: nil)
    let second = try CommandResult(of: ["serve", "--port", "0", "--database", path])
    #expect(second.status == ExitCode.internal)
    #expect(second.errors.contains(path) && second.errors.contains("stop the other one"), "\(second.errors)")
    kill(first.processIdentifier, SIGKILL)
    first.waitUntilExit()
    let (third, after) = try Served.start(["--database", path])
    defer { third.terminate() }
    let listing = try await MockStoreClient(base: #require(URL(string: after)), storeAccount: "alice")
      .unfinished()
    #expect(listing.transactions.map(\.transactionID) == [paid.transactionID])
  }

  @Test func `a purchase after a restart is no duplicate of one before it`() async throws {
    let words = try await Served.world(times: 2) { _, lab, _ in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      return try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid))
    }
    #expect(words == ["granted", "granted"])
  }
}
