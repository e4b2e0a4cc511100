import BrokenBackends
import CommandLineTools
import PurchaseSQLite

/// `broken-backends`: each planted bug of a backend against all checks, and each variant that is right.
struct BrokenBackendsCommand: Equatable, CommandOptions {
  static let command = "broken-backends"

  var jobs: Int?
  var json = false
  var only: [String] = []
  var sample: Int?
  var seed: UInt64?

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
      .number(
        "--sample", \.sample, in: 0...10_000,
        "of the checks that are about something else only so many for each broken backend"),
      .value("--from", of: "N", "with --sample: which ones; a seed, or a commit of 40 hexadecimal digits") {
        $0.seed = try ExploreOptions.seed($1)
      },
      .number("--jobs", \.jobs, in: 1...64, "runs at the same time; one per processor unless given"),
      .flag("--json", \.json, "a line of JSON for each backend"),
    ])
  }

  func complete() throws {
    if seed != nil, sample == nil {
      throw UsageError(message: "--from needs --sample, such as broken-backends --sample 40 --from 7")
    }
  }

  func execute() async -> Int32 {
    Interruption.shared.watch()
    let names = only.isEmpty ? BrokenMatrix.backends : only
    let others = sample.map { BrokenMatrix.Others.sample($0, seed: seed ?? 1) } ?? .all
    let next = Locked(names.makeIterator())
    let wrong = Locked(0)
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<(jobs ?? Jobs.usualWidth) {
          group.addTask {
            while !Interruption.shared.isAsked, let name = next.withLock({ $0.next() }) {
              let verdict = try await BrokenMatrix.verdict(on: name, others: others)
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
        "\(names.count) backends against \(sample.map { "their checks and \($0) others" } ?? "all checks"): "
          + "\(names.count - wrong.value) as the table has them")
    }
    return wrong.value == 0 ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func show(_ verdict: BrokenMatrix.Verdict) {
    if json { return Terminal.json(verdict) }
    for problem in verdict.problems { Terminal.line("\(verdict.backend): \(problem)") }
  }
}
