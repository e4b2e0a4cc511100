import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import purchase_simulator

/// `serve` as a person runs it.
@Suite(.timeLimit(.minutes(4))) struct ServeTests {
  @Test func `it prints its URLs, answers, and ends cleanly when it is asked to`() async throws {
    let process = Process()
    let output = Pipe()
    process.executableURL = RunTests.binary
    process.arguments = ["serve", "--port", "0"]
    process.standardOutput = output
    try process.run()
    defer { if process.isRunning { process.terminate() } }
    var text = ""
    while !text.contains("Ctrl-C") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      text += String(decoding: data, as: UTF8.self)
    }
    let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
    let base = try #require(words.first { $0.hasPrefix("http://127.0.0.1:") && $0.hasSuffix("/v1") })
    var options = ConformanceOptions()
    options.backend = String(base.dropLast(3))
    let lab = try ConformanceLab(options)
    let page = try await lab.send("GET", "", as: .nobody)
    #expect(page.status == 200)
    #expect(page.contentType == "text/html; charset=utf-8")
    let order = try await lab.order()
    #expect(!order.number.isEmpty)
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
  }

  @Test(arguments: [
    (["--port", "70000"], "--port needs a whole number, not '70000'"),
    (["--speed", "0"], "--speed needs a number above 0, up to 1000000, not '0'"),
    (["--speed", "nan"], "--speed needs a number above 0, up to 1000000, not 'nan'"),
    (["--broken", "forget"], "--broken knows no 'forget'; did you mean 'forgets'?"),
    (["--databse", "x"], "serve has no option '--databse'; did you mean '--database'?"),
  ])
  func `wrong options are named`(arguments: [String], message: String) {
    #expect(ServeOptions.parse(arguments) == .failure(Command.UsageError(message: message)))
  }

  @Test(arguments: [
    ("{", "is no plan of faults"), (#"{"rules":[{"path":"/v1"}]}"#, "rules.0: \"fault\" is missing"),
    (#"{"rules":[{"path":"/v1","fault":"explode"}]}"#, "rules.0.fault: there is no such fault"),
    (#"{"rules":[{"path":"/v1","fault":"reset","cuont":3}]}"#, "rules.0.cuont: no rule has this"),
  ])
  func `a plan that is none is said with its place`(plan: String, complaint: String) throws {
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
  func `what cannot be opened is named`(arguments: [String], status: Int32, complaint: String) throws {
    let result = try CommandResult(of: ["serve", "--port", "0"] + arguments)
    #expect(result.status == status)
    #expect(result.errors.contains(complaint), "\(result.errors)")
  }

  @Test func `the world's clock goes as fast as it is told`() {
    let begin = Date().timeIntervalSince1970 * 1_000
    let clock = ServeCommand.clock(speed: 1_000_000)
    var moment = clock()
    // A day of the world is 86 ms.
    while Double(moment.milliseconds) - begin < 86_400_000 { moment = clock() }
    #expect(Double(moment.milliseconds) - begin >= 86_400_000)
  }
}

/// A database that is used again, whose store begins anew.
@Suite struct ServedDatabaseTests {
  @Test func `a purchase after a restart is no duplicate of one before it`() async throws {
    let directory = FileManager.default.temporaryDirectory.path + "/ServedDatabaseTests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    var words: [String] = []
    for _ in 0..<2 {
      let server = try WorldServer(
        databasePath: directory + "/backend.sqlite", products: ServeCommand.products,
        bundleID: ServeCommand.bundleID, now: Timestamp.wallClock)
      try server.start()
      defer { server.stop() }
      var options = ConformanceOptions()
      options.backend = server.baseURL.absoluteString
      let lab = try ConformanceLab(options)
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      words.append(try await lab.settled(claim, paid.transactionID, proof: ConformanceLab.signed(paid)))
    }
    #expect(words == ["granted", "granted"])
    try FileManager.default.removeItem(atPath: directory)
  }
}
