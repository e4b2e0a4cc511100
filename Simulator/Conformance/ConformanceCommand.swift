import Foundation
import PurchaseSyncTesting

/// `conformance`: checks a backend against the wire protocol.
struct ConformanceCommand {
  let options: ConformanceOptions

  /// The result of one check.
  struct Finding: Encodable {
    var check: String
    var promise: String
    var ok: Bool
    /// What was expected, if the check failed.
    var expected: String?
    /// What was sent and received, if the check failed; without credentials and proofs.
    var exchanges: [ConformanceLab.Exchange]?
  }

  func execute() async -> Int32 {
    if let count = options.random { return await sendRandomRequests(count) }
    let findings: [Finding]
    do {
      let lab = try ConformanceLab(options)
      findings = await check(lab)
      if options.json {
        Terminal.line(try JSONOutput.document(findings))
      }
    } catch {
      Terminal.error("purchase-simulator: \(error)")
      return ExitCode.internal
    }
    let failed = findings.filter { !$0.ok }
    if !options.json {
      Terminal.line("\(findings.count - failed.count) of \(findings.count) checks passed")
    }
    return failed.isEmpty ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func check(_ lab: ConformanceLab) async -> [Finding] {
    var findings: [Finding] = []
    let width = (ConformanceCheck.all.map(\.name.count).max() ?? 0) + 2
    for check in ConformanceCheck.all {
      await lab.begin()
      var finding = Finding(check: check.name, promise: check.promise, ok: true)
      do {
        try await check.run(lab)
      } catch {
        finding.ok = false
        finding.expected = (error as? ConformanceFailure)?.expected ?? "\(error)"
        finding.exchanges = await lab.exchanges
      }
      findings.append(finding)
      if !options.json { show(finding, width) }
      // No backend answers: all other checks would fail in the same way.
      if findings.count == 1, !finding.ok, finding.expected == "an answer" { break }
    }
    return findings
  }

  private func show(_ finding: Finding, _ width: Int) {
    Terminal.line((finding.ok ? "ok    " : "FAIL  ") + Table.pad(finding.check, width) + finding.promise)
    guard !finding.ok else { return }
    Terminal.line("      expected: " + (finding.expected ?? ""))
    for exchange in finding.exchanges ?? [] {
      Terminal.line("      > \(exchange.sent)\n      < \(exchange.received)")
    }
  }
}
