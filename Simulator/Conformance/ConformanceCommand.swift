import BackendConformance
import CommandLineTools
import Foundation
import PurchaseSyncTesting

/// `conformance`: checks a backend against the wire protocol.
struct ConformanceCommand {
  let options: ConformanceOptions

  func execute() async -> Int32 {
    if let count = options.random { return await sendRandomRequests(count) }
    if let clients = options.concurrent { return await runConcurrently(clients) }
    do {
      let (lab, notice) = try await ConformanceLab.reaching(options)
      if let notice { Terminal.complain("\(notice)") }
      let run = ConformanceRun(lab)
      guard await run.answers() else { return await noAnswer(lab) }
      let page = ConformancePage(isQuiet: options.json)
      let findings = await run.findings(of: options.checks, show: page.show)
      if options.json { Terminal.line(try JSONOutput.document(findings)) }
      if let file = options.junit { try JUnitReport(findings).write(to: file) }
      page.summarize(findings)
      return Self.code(of: findings)
    } catch let error as InputError {
      return error.tell()
    } catch {
      Terminal.complain("\(error)")
      return ExitCode.internal
    }
  }

  /// All other checks would fail in the same way.
  func noAnswer(_ lab: ConformanceLab) async -> Int32 {
    for exchange in await lab.exchanges {
      Terminal.line("FAIL  > \(exchange.sent)\n      < \(exchange.received)")
    }
    Terminal.line(
      "The backend does not answer at \(options.backend): start it, or give its URL with --backend. "
        + "0 of 1 checks passed")
    return ExitCode.promiseBroken
  }

  /// `undecided` if a check had no store, or if none was made.
  static func code(of findings: [ConformanceFinding]) -> Int32 {
    if findings.contains(where: { $0.result == .failed }) { return ExitCode.promiseBroken }
    let lacksStore = findings.contains {
      $0.missing?.contains(.store) == true || $0.missing?.contains(.product) == true
    }
    let isEmpty = !findings.contains { $0.result == .passed }
    return lacksStore || isEmpty ? ExitCode.undecided : ExitCode.ok
  }
}
