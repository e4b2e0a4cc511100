import BrokenBackends
import CommandLineTools
import PurchaseSQLite

/// `broken-backends`: each planted bug of a backend against all checks, and each variant that is right.
struct BrokenBackendsCommand: Equatable, CommandOptions {
  static let command = "broken-backends"

  var jobs: Int?
  var json = false
  var only: [String] = []

  static var table: OptionTable<Self> {
    OptionTable([
      .value("--only", of: "NAMES", "these backends, separated by commas") { options, text in
        options.only = try text.split(separator: ",", omittingEmptySubsequences: false).map {
          name throws(UsageError) in
          let name = String(name)
          guard !BrokenMatrix.backends.contains(name) else { return name }
          throw UsageError(
            message: "there is no broken backend '\(name)': see purchase-simulator serve --help")
        }
      },
      .number("--jobs", \.jobs, in: 1...64, "runs at the same time; one per processor unless given"),
      .flag("--json", \.json, "a line of JSON for each backend"),
    ])
  }

  func execute() async -> Int32 {
    Interruption.shared.watch()
    let names = only.isEmpty ? BrokenMatrix.backends : only
    let next = Locked(names.makeIterator())
    let wrong = Locked(0)
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<(jobs ?? Jobs.usualWidth) {
          group.addTask {
            while !Interruption.shared.isAsked, let name = next.withLock({ $0.next() }) {
              let verdict = try await BrokenMatrix.verdict(on: name)
              wrong.withLock { $0 += verdict.problems.isEmpty ? 0 : 1 }
              show(verdict)
            }
          }
        }
        try await group.waitForAll()
      }
    } catch {
      Terminal.complain("a run could not be made: \(error)")
      return ExitCode.internal
    }
    if let code = Interruption.shared.exitCode { return code }
    if !json {
      Terminal.line(
        "\(names.count) backends against all checks: \(names.count - wrong.value) as the table has them")
    }
    return wrong.value == 0 ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func show(_ verdict: BrokenMatrix.Verdict) {
    if json { return Terminal.json(verdict) }
    for problem in verdict.problems { Terminal.line("\(verdict.backend): \(problem)") }
  }
}
