import BackendConformance
import CommandLineTools
import PurchaseSyncTesting

/// The checks as rows of a terminal, by group, with a summary.
final class ConformancePage {
  private let isQuiet: Bool
  private var group: ConformanceGroup?
  private let width = 2 + (ConformanceCheck.all.map(\.name.count).max() ?? 0)

  init(isQuiet: Bool) { self.isQuiet = isQuiet }

  /// Prints a row; of a failed check also what was sent, what came back, and which rule that breaks.
  func show(_ finding: ConformanceFinding) {
    guard !isQuiet else { return }
    if group != finding.group {
      group = finding.group
      Terminal.line("\(finding.group.rawValue): \(finding.group.summary)")
    }
    let word =
      switch finding.result {
      case .passed: "ok    "
      case .failed: Terminal.coloured("FAIL  ", .red)
      case .skipped: Terminal.coloured("skip  ", .yellow)
      }
    Terminal.line("  " + word + Table.pad(finding.check, width) + finding.promise)
    guard finding.result == .failed else { return }
    for exchange in finding.exchanges ?? [] {
      Terminal.line("        > \(exchange.sent)\n        < \(exchange.received)")
    }
    Terminal.line("        expected: " + (finding.expected ?? ""))
    Terminal.line("        rule: \(finding.promise) (\(finding.source))")
  }

  /// Prints the counts of each group, and what the skipped checks need.
  func summarize(_ findings: [ConformanceFinding]) {
    guard !isQuiet else { return }
    let rows = ConformanceGroup.allCases.compactMap { group -> [String]? in
      let own = findings.filter { $0.group == group }
      guard !own.isEmpty else { return nil }
      let counts = [ConformanceFinding.Result.passed, .failed, .skipped].map { result in
        "\(own.count { $0.result == result })"
      }
      return [group.rawValue] + counts
    }
    Terminal.line("")
    for line in TextTable.lines([["group", "passed", "failed", "skipped"]] + rows) { Terminal.line(line) }
    for need in ConformanceNeed.allCases {
      let names = findings.filter { $0.missing?.contains(need) == true }.map(\.check)
      guard !names.isEmpty else { continue }
      Terminal.line("\(names.count) of the checks need this: \(need.advice).")
      for line in WrappedText.lines(names.joined(separator: " "), width: 76) { Terminal.line("  " + line) }
    }
    let made = findings.filter { $0.result != .skipped }
    let passed = made.count { $0.result == .passed }
    let skipped = findings.count - made.count
    Terminal.line(
      "\(passed) of \(made.count) checks passed" + (skipped > 0 ? ", \(skipped) could not be made" : ""))
  }
}
