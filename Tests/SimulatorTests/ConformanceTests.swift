import AppStoreReceipts
import BackendConformance
import CommandLineTools
import CommandTestSupport
import Foundation
import PurchaseQueue
import PurchaseSyncTesting
import Testing

@testable import purchase_simulator

/// `conformance` over HTTP: the contract, checked against the mock, and against mocks with planted bugs. The tests of
/// BackendConformance check each planted bug.
@Suite struct ConformanceTests {
  private func findings(
    _ broken: BrokenBackend?, only names: Set<String>? = nil
  ) async throws -> [ConformanceFinding] {
    try await Served.world(broken: broken) { _, lab, _ in
      let checks = ConformanceCheck.all.filter { names?.contains($0.name) ?? true }
      return await ConformanceRun(lab).findings(of: checks)
    }.flatMap { $0 }
  }

  @Test func `the mock keeps its own contract`() async throws {
    let findings = try await findings(nil)
    #expect(findings.filter { $0.result == .failed }.map(\.check) == [])
    // Without a command for a restart.
    let skipped = findings.filter { $0.result == .skipped }
    #expect(skipped.allSatisfy { $0.group == .restart && $0.missing == [.restart] })
    #expect(findings.count { $0.result == .passed } >= 60)
  }

  @Test(arguments: [
    ("double-grant", ["upload-again", "parallel-uploads"]), ("bare-200", ["upload-granted"]),
    ("forgets", ["upload-granted", "upload-again"]), ("names-orders", ["owner-unnamed"]),
    ("owner-untold", ["owner-on-device", "owner-unnamed", "owner-without-token"]),
    ("credits-signed-in", ["owner-without-token"]),
  ])
  func `a backend with a planted bug fails the checks of that bug`(
    name: String, checks: [String]
  ) async throws {
    let broken = try #require(BrokenBackend(rawValue: name))
    let findings = try await findings(broken, only: Set(checks + ["order-made", "auth-missing"]))
    #expect(findings.filter { $0.result == .failed }.map(\.check) == checks)
    for finding in findings where finding.result == .failed {
      #expect(finding.expected?.isEmpty == false && finding.exchanges?.isEmpty == false)
      #expect(!finding.source.isEmpty)
    }
  }

  @Test func `no random request made from the document is answered with a 5xx`() async throws {
    _ = try await Served.world { _, lab, _ in
      var requests = try RandomRequests(document: OpenAPIDocument.json, seed: 3)
      for _ in 0..<150 {
        let request = requests.next()
        let reply = try await lab.send(
          request.method, request.path, as: request.caller, headers: request.headers, body: request.body)
        #expect(reply.status < 500, "\(request.method) \(request.path)")
      }
    }
  }

  @Test func `the same seed gives the same requests`() throws {
    func some(_ seed: UInt64) throws -> [String] {
      var requests = try RandomRequests(document: OpenAPIDocument.json, seed: seed)
      return (0..<100).map { _ in
        let request = requests.next()
        return "\(request.method) \(request.path) \(request.body.count)"
      }
    }
    #expect(try some(1) == some(1))
    #expect(try some(1) != some(2))
  }

  @Test func `neither proofs nor tokens are in a report`() async throws {
    _ = try await Served.world { _, lab, _ in
      let (order, paid) = try await lab.paidOrder()
      let claim = ConformanceLab.claim(paid, order: order.number)
      _ = try await lab.upload([claim], proof: ConformanceLab.signed(paid))
      let text = await lab.exchanges.map { $0.sent + $0.received }.joined()
      #expect(text.contains(paid.transactionID))
      #expect(!text.contains(paid.jws))
      #expect(!text.contains("token-alice"))
    }
  }

  @Test(arguments: [
    (["--backend", "ftp://x"], "--backend needs a URL such as http://127.0.0.1:8080, not 'ftp://x'"),
    (["--token"], "--token needs a value"),
    (["--tokn", "x"], "conformance has no option '--tokn'; did you mean '--token'?"),
    (["--token", "a", "--other-token", "a"], "--token and --other-token have to be of two accounts"),
    (["--random", "many"], "--random needs a whole number, not 'many'"),
  ])
  func `wrong options are named`(arguments: [String], message: String) {
    #expect(ConformanceOptions.parse(arguments) == .failure(UsageError(message: message)))
  }

  @Test(arguments: [[], ["--concurrent", "4"], ["--random", "50"]])
  func `a wrong token is told in three lines, before the run`(mode: [String]) async throws {
    _ = try await Served.world { server, _, _ in
      for option in ["--token", "--other-token"] {
        let result = try CommandResult(
          of: ["conformance", "--backend", server.baseURL.absoluteString, option, "a-wrong-one"] + mode)
        #expect(result.status == ExitCode.promiseBroken)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 3 && lines.last?.contains("refuses the token of \(option):") == true)
        #expect(!result.output.contains("a-wrong-one"))
      }
    }
  }

  private func postedVersions(_ base: String) async throws -> JSONValue? {
    var options = ConformanceOptions()
    options.backend = base
    let lab = try ConformanceLab(options)
    return try await lab.send("GET", "store/notifications", as: .anonymous).json?["versions"]
  }

  /// A backend that gets them knows of a refund before the check has looked.
  @Test func `the store posts no notifications while a backend is checked`() async throws {
    _ = try await Served.world { server, lab, _ in
      server.withStore { $0.notifications.versions = [.one, .two] }
      let names: Set = ["refund-of-shared", "bundle-named", "refund-notified"]
      let findings = await ConformanceRun(lab).findings(
        of: ConformanceCheck.all.filter { names.contains($0.name) })
      #expect(findings.map(\.result) == [.passed, .passed, .passed])
      #expect(server.withStore { $0.notifications.waiting.isEmpty })
      #expect(server.withStore { $0.notifications.versions } == [.one, .two])
    }
  }

  @Test func `an interrupted run leaves the store without notifications`() async throws {
    let (serve, base) = try Served.start()
    defer { if serve.isRunning { serve.terminate() } }
    let (run, output) = try Program.simulator.start(
      ["conformance", "--backend", base], in: FileManager.default.temporaryDirectory.path)
    var text = ""
    while !text.contains("  ok ") {
      let data = output.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      text += String(decoding: data, as: UTF8.self)
    }
    // At once, and not after an `await`: while other tests run, that can take longer than the run.
    kill(run.processIdentifier, SIGINT)
    text += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    run.waitUntilExit()
    #expect(run.terminationReason == .exit)
    #expect(run.terminationStatus == 130)
    #expect(text.contains(" checks passed"))
    #expect(!text.contains("security: "))
    #expect(try await postedVersions(base) == [2])
  }

  @Test func `random requests make orders, and it is told how many were accepted`() async throws {
    _ = try await Served.world { server, _, _ in
      let result = try CommandResult(
        of: ["conformance", "--backend", server.baseURL.absoluteString, "--random", "300"])
      #expect(result.status == ExitCode.ok)
      #expect(result.output.contains("% were accepted, and made "))
      #expect(!result.output.contains(" 0 % were accepted") && !result.output.contains("made 0 orders"))
      #expect(try server.snapshot().orders.count > 5)
    }
  }

  @Test func `the request that ends a run of many clients is printed`() async throws {
    _ = try await Served.world { server, _, _ in
      server.setFaults(
        FaultPlan([FaultPlan.Rule(path: "/v1/receipts", count: nil, fault: .respond, status: 422)]))
      let result = try CommandResult(
        of: [
          "conformance", "--backend", server.baseURL.absoluteString, "--concurrent", "2", "--operations",
          "20",
        ])
      #expect(result.status == ExitCode.promiseBroken)
      #expect(result.output.contains("FAIL  > POST /v1/receipts {"))
      #expect(result.output.contains("< 422"))
      #expect(result.output.contains("expected: a 2xx, and not 422 for POST /v1/receipts"))
    }
  }

  @Test func `each rule is listed with its place and its check, and those that none can check`() throws {
    let result = try CommandResult(of: ["conformance", "--list"])
    #expect(result.status == ExitCode.ok)
    for check in ConformanceCheck.all {
      #expect(result.output.contains("\(check.name): \(check.promise) (\(check.source))\n"))
    }
    for rule in UncheckedRule.all {
      #expect(result.output.contains("not checked: \(rule.rule) (\(rule.place)): \(rule.reason)\n"))
    }
    let some = try CommandResult(of: ["conformance", "--list", "--json", "--group", "restart"])
    #expect(some.output.contains("restart-epoch") && !some.output.contains("order-made"))
  }

  @Test(arguments: [[], ["--concurrent", "4"]])
  func `a URL without a backend is reported once`(mode: [String]) throws {
    // No process listens on port 1.
    let result = try CommandResult(of: ["conformance", "--backend", "http://127.0.0.1:1"] + mode)
    #expect(result.status == ExitCode.promiseBroken)
    #expect(result.output.contains("no answer"))
    #expect(result.output.contains("start it, or give its URL with --backend"))
    #expect(result.output.contains("0 of 1 checks passed"))
  }
}
