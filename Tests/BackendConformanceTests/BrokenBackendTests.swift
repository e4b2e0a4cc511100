import AppStoreReceipts
import BackendConformance
import BrokenBackends
import Foundation
import PurchaseSQLite
import PurchaseSync
import PurchaseSyncTesting
import TestSupport
import Testing

/// The conformance checks, without sockets: the mock passes them, and each planted bug is found by the check that is
/// about it. That it fails no other one is shown by `purchase-lab broken-backends`.
@Suite struct BrokenBackendTests {
  private func failures(_ bug: String?, of checks: [ConformanceCheck]) async throws -> [String] {
    let broken = try bug.map { try #require(BrokenBackend(rawValue: $0), "no such bug") }
    let fixture = try ConformanceFixture(broken, clock: SlowClock(seed: 1))
    let findings = await ConformanceRun(ConformanceLab(fixture.site)).findings(of: checks)
    #expect(findings.allSatisfy { $0.result != .skipped })
    for finding in findings where finding.result == .failed {
      #expect(finding.expected?.isEmpty == false && finding.exchanges?.isEmpty == false)
    }
    return findings.filter { $0.result == .failed }.map(\.check)
  }

  @Test func `the mock passes each check, also after restarts`() async throws {
    let failed = try await failures(nil, of: ConformanceCheck.all)
    #expect(failed == [])
  }

  @Test(arguments: BrokenTable.rows.map(\.bug))
  func `a planted bug is found by the check that is about it`(bug: String) async throws {
    let row = try #require(BrokenTable.rows.first { $0.bug == bug })
    let finder = ConformanceCheck.all.filter { $0.name == row.finder }
    var failed = try await failures(bug, of: finder)
    // A race needs requests that overlap, which a busy machine may run one after another.
    for _ in 0..<200 where row.isRace && failed.isEmpty { failed = try await failures(bug, of: finder) }
    #expect(failed == [row.finder])
  }

  /// In these samples a check leaves purchases that this bug takes during a later check, which the table does not name.
  @Test(arguments: [(12, 25), (20, 31), (20, 79)])
  func `what the checks of a sample leave in the account accuses no row`(count: Int, seed: UInt64)
    async throws
  {
    let verdict = try await BrokenMatrix.verdict(on: "refund-takes-all", others: .sample(count, seed: seed))
    #expect(verdict.problems == [])
  }

  @Test func `the table has each planted bug, and each check can fail`() {
    #expect(BrokenTable.rows.map(\.bug) == BrokenBackend.allCases.map(\.rawValue))
    #expect(BrokenBackend.allCases.count >= 300)
    let seen = Set(BrokenTable.rows.flatMap(\.named))
    // The limit is the HTTP server's, which these tests have none of. The other two only a backend without verdicts or
    // without a memory fails.
    let unconfirmed: Set = ["too-large", "claim-without-proof", "parallel-purchases"]
    let all = Set(ConformanceCheck.all.map(\.name))
    #expect(all.subtracting(seen) == unconfirmed)
    #expect(seen.subtracting(all).isEmpty)
  }

  @Test func `checks and bugs have names of their own, and texts that fit a row`() {
    let checks = ConformanceCheck.all
    #expect(Set(checks.map(\.name)).count == checks.count && checks.count >= 300)
    for group in ConformanceGroup.allCases { #expect(checks.contains { $0.group == group }) }
    for check in checks { #expect(check.name.count <= 30 && check.promise.count <= 90, "\(check.name)") }
    let bugs = BrokenBackend.allCases
    #expect(Set(bugs.map(\.rawValue)).count == bugs.count)
    #expect(BrokenBackend(rawValue: "no-such-bug") == nil)
  }

  @Test func `a 429 and a 503 with Retry-After are obeyed`() async throws {
    let fixture = try ConformanceFixture()
    fixture.setFaults(
      FaultPlan([
        FaultPlan.Rule(path: "/v1/orders", fault: .respond, status: 429, retryAfter: 7),
        FaultPlan.Rule(path: "/v1/receipts", fault: .respond, status: 503, retryAfter: 30),
      ]))
    let check = try #require(ConformanceCheck.all.first { $0.name == "upload-granted" })
    let finding = await ConformanceRun(ConformanceLab(fixture.site)).finding(of: check)
    #expect(finding.result == .passed)
    #expect(fixture.paused.value == .seconds(37))
  }

  @Test func `a backend that is busy for ever is not waited for`() async throws {
    let fixture = try ConformanceFixture()
    fixture.setFaults(
      FaultPlan([
        FaultPlan.Rule(path: "/v1/orders", count: nil, fault: .respond, status: 429, retryAfter: 50)
      ]))
    let check = try #require(ConformanceCheck.all.first { $0.name == "order-made" })
    let finding = await ConformanceRun(ConformanceLab(fixture.site)).finding(of: check)
    #expect(finding.result == .failed && finding.exchanges?.count == 4)
    #expect(finding.expected?.contains("429 with a Retry-After of 50 s, so the rule was not checked") == true)
    #expect(fixture.paused.value == .seconds(100))
  }

  @Test(arguments: [nil, 3_600])
  func `a backend that refuses all requests as too many passes no check`(retryAfter: Int?) async throws {
    let fixture = try ConformanceFixture()
    fixture.setFaults(
      FaultPlan([
        FaultPlan.Rule(path: "/", count: nil, fault: .respond, status: 429, retryAfter: retryAfter)
      ]))
    // The length of a body is looked at before a fault strikes.
    let checks = ConformanceCheck.all.filter { $0.name != "too-large" }
    let findings = await ConformanceRun(ConformanceLab(fixture.site)).findings(of: checks)
    #expect(findings.filter { $0.result == .passed }.map(\.check) == [])
    #expect(fixture.paused.value == .zero)
  }

  @Test func `a check whose needs are missing is skipped, and the others run`() async throws {
    var site = try ConformanceFixture().site
    (site.store, site.restart, site.accounts) = (nil, nil, nil)
    site.product = "coins"
    let findings = await ConformanceRun(ConformanceLab(site)).findings(of: ConformanceCheck.all)
    #expect(findings.filter { $0.result == .failed }.map(\.check) == [])
    let passed = findings.filter { $0.result == .passed }.map(\.check)
    #expect(passed.contains("order-made") && passed.contains("auth-missing"))
    for finding in findings where finding.result == .skipped {
      #expect(finding.missing?.isEmpty == false && finding.exchanges == nil)
    }
    #expect(findings.first { $0.check == "upload-granted" }?.missing == [.store])
    #expect(findings.first { $0.check == "restart-key" }?.missing == [.restart])
    #expect(findings.first { $0.check == "order-registered" }?.missing == [.accounts])
  }

  @Test func `the rule of each check stands where it says`() throws {
    let document = try JSONValue(json: OpenAPIDocument.json)
    var found = 0
    for check in ConformanceCheck.all {
      guard case .openAPI(let method, let path, let status) = check.source else { continue }
      let operation = document["paths"]?[path]?[method.lowercased()]
      #expect(operation?["responses"]?["\(status)"] != nil, "\(check.name): \(check.source)")
      found += 1
    }
    #expect(found >= 30)
  }
}
