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
    /// So many for each backend, other ones with another seed. Each check alone, and time passes as the seed says.
    case sample(Int, seed: UInt64)

    fileprivate func checks(for backend: String, about finder: String) -> [ConformanceCheck] {
      guard case .sample(let count, _) = self else { return ConformanceCheck.all }
      var generator = SplitMix64(seed: seed(for: backend))
      let drawn = Set(ConformanceCheck.all.map(\.name).shuffled(using: &generator).prefix(count))
      return ConformanceCheck.all.filter { $0.name == finder || drawn.contains($0.name) }
    }

    /// FNV-1a: of two backends, or two checks, each has a seed of its own.
    private func seed(for name: String) -> UInt64 {
      guard case .sample(_, let seed) = self else { return 0 }
      return name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// The clock of a backend for this check; nil for the system's.
    fileprivate func clock(for backend: String, about check: String) -> SlowClock? {
      self == .all ? nil : SlowClock(seed: seed(for: backend + " " + check))
    }
  }

  /// Runs the checks against this backend; of a right variant all of them.
  /// - Throws: If there is none of that name, or its files cannot be made.
  package static func verdict(on backend: String, others: Others = .all) async throws -> Verdict {
    if let variant = RightVariant.all.first(where: { $0.name == backend }) {
      let failed = try await failures(ConformanceFixture(hooks: variant.hooks), of: ConformanceCheck.all)
      return Verdict(
        backend: backend, failed: failed,
        problems: failed.map { "fails \($0.check), and is right: it expected \($0.expected)" })
    }
    guard let row = BrokenTable.rows.first(where: { $0.bug == backend }),
      let broken = BrokenBackend(rawValue: backend)
    else { throw UnknownBackend(name: backend) }
    let checks = others.checks(for: backend, about: row.finder)
    // A sample lacks checks, so none of it may see what one before it leaves in the account.
    let alone = others != .all
    var failed: [Failure] = []
    for part in alone ? checks.map({ [$0] }) : [checks] {
      let clock = others.clock(for: backend, about: part[0].name)
      failed += try await failures(ConformanceFixture(broken, clock: clock), of: part)
    }
    // A race needs requests that overlap, which a busy machine may run one after another.
    let finder = ConformanceCheck.all.filter { $0.name == row.finder }
    for _ in 0..<200 where row.isRace && !failed.contains(where: { $0.check == row.finder }) {
      failed += try await failures(ConformanceFixture(broken), of: finder)
    }
    return Verdict(
      backend: backend, failed: failed,
      problems: row.problems(
        ran: Set(checks.map(\.name)), failed: Set(failed.map(\.check)), alone: alone))
  }

  private static func failures(
    _ fixture: ConformanceFixture, of checks: [ConformanceCheck]
  ) async throws -> [Failure] {
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
