import BackendConformance
import PurchaseSyncTesting

/// Complete runs of the checks against a backend that is broken, or right in another way, without sockets.
package enum BrokenMatrix {
  /// A check that failed.
  package struct Failure: Sendable, Codable {
    package var check: String
    package var expected: String
  }

  /// What a run found.
  package struct Verdict: Sendable, Codable {
    /// The planted bug, or the right variant.
    package var backend: String
    /// The checks that failed, in their order, and what they expected.
    package var failed: [Failure]
    /// What is against its row, or against a right variant; empty if it is as it must be.
    package var problems: [String]
  }

  /// The names of all backends: each planted bug, and each right variant.
  package static var backends: [String] { BrokenTable.rows.map(\.bug) + RightVariant.all.map(\.name) }

  /// Which checks are run apart from the one that is about a bug.
  package enum Others: Sendable, Hashable {
    case all
    /// So many for each backend, other ones with another seed.
    case sample(Int, seed: UInt64)

    fileprivate func checks(for backend: String, about finder: String) -> [ConformanceCheck] {
      guard case .sample(let count, _) = self else { return ConformanceCheck.all }
      var generator = SplitMix64(seed: seed(for: backend))
      let drawn = Set(ConformanceCheck.all.map(\.name).shuffled(using: &generator).prefix(count))
      return ConformanceCheck.all.filter { $0.name == finder || drawn.contains($0.name) }
    }

    /// A clock for this run of this backend.
    fileprivate func clock(for run: String) -> SlowClock { SlowClock(seed: seed(for: run)) }

    /// FNV-1a: of two runs each has a seed of its own.
    private func seed(for run: String) -> UInt64 {
      var start: UInt64 = 0
      if case .sample(_, let seed) = self { start = seed }
      return run.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
  }

  /// Runs the checks against this backend, one after the other in one account; of a right variant all of them. Time
  /// passes as the seed says.
  ///
  /// A check of a sample that disagrees with the row runs once more with a backend of its own, and that result counts:
  /// what a row says of checks that follow others is true of all of them, and not of the few that were drawn.
  /// - Throws: If there is none of that name, or its files cannot be made.
  package static func verdict(on backend: String, others: Others = .all) async throws -> Verdict {
    if let variant = RightVariant.all.first(where: { $0.name == backend }) {
      let fixture = try ConformanceFixture(hooks: variant.hooks, clock: others.clock(for: backend))
      let failed = await failures(fixture, of: ConformanceCheck.all)
      return Verdict(
        backend: backend, failed: failed,
        problems: failed.map { "fails \($0.check), and is right: it expected \($0.expected)" })
    }
    guard let row = BrokenTable.rows.first(where: { $0.bug == backend }),
      let broken = BrokenBackend(rawValue: backend)
    else { throw UnknownBackend(name: backend) }
    let checks = others.checks(for: backend, about: row.finder)
    var failed: [String: Failure] = [:]
    func run(_ checks: [ConformanceCheck], as name: String) async throws {
      let fixture = try ConformanceFixture(broken, clock: others.clock(for: name))
      for check in checks { failed[check.name] = nil }
      for failure in await failures(fixture, of: checks) { failed[failure.check] = failure }
    }
    try await run(checks, as: backend)
    // A race needs requests that overlap, which a busy machine may run one after another.
    let finder = checks.filter { $0.name == row.finder }
    for attempt in 0..<200 where row.isRace && failed[row.finder] == nil {
      try await run(finder, as: "\(backend) \(attempt)")
    }
    func problem(of check: ConformanceCheck) -> String? {
      row.problem(of: check.name, failed: failed[check.name] != nil, inSample: others != .all)
    }
    if others != .all {
      for check in checks where problem(of: check) != nil {
        try await run([check], as: "\(backend) \(check.name)")
      }
    }
    return Verdict(
      backend: backend, failed: checks.compactMap { failed[$0.name] }, problems: checks.compactMap(problem))
  }

  private static func failures(
    _ fixture: ConformanceFixture, of checks: [ConformanceCheck]
  ) async -> [Failure] {
    let findings = await ConformanceRun(ConformanceLab(fixture.site)).findings(of: checks)
    return findings.filter { $0.result != .passed }.map { finding in
      Failure(check: finding.check, expected: finding.expected ?? "what the site does not have")
    }
  }
}

/// A name that no planted bug and no right variant has.
package struct UnknownBackend: Error, CustomStringConvertible {
  let name: String

  package var description: String { "there is no broken backend '\(name)'" }
}
