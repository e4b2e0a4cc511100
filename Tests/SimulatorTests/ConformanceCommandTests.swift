import BackendConformance
import CommandLineTools
import CommandTestSupport
import Foundation
import PurchaseSync
import PurchaseSyncTesting
import Testing

@testable import purchase_simulator

/// The command line of `conformance`, its reports and its exit codes.
@Suite struct ConformanceCommandTests {
  private func options(_ arguments: String...) throws -> ConformanceOptions {
    try ConformanceOptions.parse(arguments).get()
  }

  @Test func `checks are chosen by name and by group`() throws {
    #expect(try options().checks.count == ConformanceCheck.all.count)
    let some = try options("--only", "upload-again", "--group", "refunds").checks
    #expect(some.first?.name == "upload-again")
    #expect(some.dropFirst().allSatisfy { $0.group == .refunds } && some.count > 5)
  }

  @Test(arguments: [
    (["--only", "upload-agan"], "there is no check 'upload-agan'; did you mean 'upload-again'?"),
    (["--group", "refund"], "there is no group 'refund'; did you mean 'refunds'?"),
    (["--concurrent", "4", "--random", "3"], "--random and --concurrent do not go together"),
    (["--concurrent", "1"], "--concurrent needs 2 to 256"),
  ])
  func `wrong choices are named`(arguments: [String], message: String) {
    guard case .failure(let error) = ConformanceOptions.parse(arguments) else {
      Issue.record("accepted")
      return
    }
    #expect(error.message.contains(message), "\(error.message)")
  }

  @Test func `the names of the accounts are known of the default tokens only`() throws {
    #expect(try options().accounts?.alice == "alice")
    #expect(try options("--token", "T1").accounts == nil)
    #expect(try options("--token", "T1", "--account", "U1").accounts?.alice == "U1")
  }

  /// Findings of a real run: one check of each result.
  private func findings() async throws -> [ConformanceFinding] {
    let broken = try #require(BrokenBackend(rawValue: "double-grant"))
    let checks = ConformanceCheck.all.filter {
      ["order-made", "upload-again", "restart-key"].contains($0.name)
    }
    return try await Served.world(broken: broken) { _, lab, _ in
      await ConformanceRun(lab).findings(of: checks)
    }.flatMap { $0 }
  }

  @Test func `JUnit's file has a suite for each group, with failures and skips`() async throws {
    let text = JUnitReport(try await findings()).text
    #expect(text.hasPrefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>"))
    #expect(text.contains("<testcase classname=\"conformance.orders\" name=\"order-made\"/>"))
    #expect(
      text.contains("<testsuite name=\"conformance.uploads\" tests=\"1\" failures=\"1\" skipped=\"0\">"))
    #expect(text.contains("<failure message=\"expected: duplicate\">&gt; "))
    #expect(text.contains("<skipped message=\"give a command"))
    #expect(!text.contains("token-alice"))
  }

  @Test func `the exit code tells a failure, and checks without a store`() async throws {
    let all = try await findings()
    let passed = all.filter { $0.result == .passed }
    let skipped = all.filter { $0.result == .skipped }
    #expect(ConformanceCommand.code(of: all) == ExitCode.promiseBroken)
    // Without a command for a restart the other checks count.
    #expect(ConformanceCommand.code(of: passed + skipped) == ExitCode.ok)
    #expect(ConformanceCommand.code(of: skipped) == ExitCode.undecided)
    let storeless = skipped.map { finding in
      var finding = finding
      finding.missing = [.store]
      return finding
    }
    #expect(ConformanceCommand.code(of: passed + storeless) == ExitCode.undecided)
  }

  @Test func `a failed restart command is told, and one that works is waited for`() async throws {
    _ = try await Served.world { server, lab, _ in
      let backend = URLSessionTransport(base: server.baseURL)
      try await RestartCommand(command: "true", backend: backend).run()
      await #expect(throws: InputError.self) {
        try await RestartCommand(command: "exit 3", backend: backend).run()
      }
    }
  }

  @Test func `the page has a row for each check and for each backend with a bug`() throws {
    let folder = "Sources/BackendConformance/BackendConformance.docc/"
    let checks = try MarkdownPage(folder + "Checks.md").text
    for check in ConformanceCheck.all {
      #expect(checks.contains("\n| `\(check.name)` | \(check.promise) |\n"), "\(check.name)")
    }
    for rule in UncheckedRule.all {
      #expect(checks.contains("\n| \(rule.rule) | \(rule.reason) |\n"), "\(rule.rule)")
    }
    let bugs = try MarkdownPage(folder + "BackendsWithABug.md").text
    for bug in BrokenBackend.allCases {
      #expect(bugs.contains("\n| `\(bug.rawValue)` | \(bug.summary) | `"), "\(bug.rawValue)")
    }
  }
}
