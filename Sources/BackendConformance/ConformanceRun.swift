import PurchaseSyncTesting

/// The result of one check.
package struct ConformanceFinding: Sendable, Encodable {
  package enum Result: String, Sendable, Encodable { case passed, failed, skipped }

  package var check: String
  package var group: ConformanceGroup
  /// The rule in one sentence.
  package var promise: String
  /// Where the rule stands.
  package var source: String
  package var result: Result
  /// True if it passed, false if it failed; nil if it could not be made.
  package var ok: Bool?
  /// What was expected, if it failed.
  package var expected: String?
  /// What was sent and received, if it failed; without credentials and proofs.
  package var exchanges: [ConformanceLab.Exchange]?
  /// What the check needs and does not have, if it was skipped.
  package var missing: [ConformanceNeed]?

  init(_ check: ConformanceCheck, _ result: Result) {
    self.check = check.name
    group = check.group
    promise = check.promise
    source = check.source.description
    self.result = result
    ok = result == .skipped ? nil : result == .passed
  }
}

/// Makes checks, one after the other.
package struct ConformanceRun: Sendable {
  package let lab: ConformanceLab

  package init(_ lab: ConformanceLab) { self.lab = lab }

  /// Makes these checks in their order and calls `show` after each. The store posts no notifications until the last one ends.
  /// - Parameter goesOn: Asked before each check: whether it is still to be made.
  package func findings(
    of checks: [ConformanceCheck], while goesOn: () -> Bool = { true },
    show: (ConformanceFinding) -> Void = { _ in }
  ) async -> [ConformanceFinding] {
    await lab.pauseNotifications()
    var findings: [ConformanceFinding] = []
    for check in checks where goesOn() {
      let finding = await finding(of: check)
      // The end of the run may be what failed it: it also ends the command that restarts the backend.
      guard finding.result != .failed || goesOn() else { break }
      findings.append(finding)
      show(finding)
    }
    await lab.resumeNotifications()
    return findings
  }

  /// Makes one check. What it needs and the site does not have is the reason of a skip.
  package func finding(of check: ConformanceCheck) async -> ConformanceFinding {
    let missing = check.needs.intersection(lab.site.missing)
    guard missing.isEmpty else {
      var skipped = ConformanceFinding(check, .skipped)
      skipped.missing = ConformanceNeed.allCases.filter(missing.contains)
      return skipped
    }
    await lab.begin()
    do {
      try await check.run(lab)
      return ConformanceFinding(check, .passed)
    } catch {
      var failed = ConformanceFinding(check, .failed)
      failed.expected = (error as? ConformanceFailure)?.expected ?? "\(error)"
      failed.exchanges = await lab.exchanges
      return failed
    }
  }

  /// What one question to the backend for each token says, before a run.
  package enum Readiness: Sendable, Equatable {
    case ready
    /// No answer at all.
    case silent
    /// The token of an option is refused with this status.
    case refuses(option: String, status: Int)
  }

  /// Whether the backend answers, and takes the tokens: else all checks would fail in the same way.
  package func readiness() async -> Readiness {
    for (option, caller) in [("--token", ConformanceLab.Caller.alice), ("--other-token", .bob)] {
      await lab.begin()
      do {
        let status = try await lab.send("GET", "v1/entitlements", as: caller).status
        if status == 401 || status == 403 { return .refuses(option: option, status: status) }
      } catch {
        guard (error as? ConformanceFailure)?.busyStatus != nil else { return .silent }
      }
    }
    return .ready
  }
}
