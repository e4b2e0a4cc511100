import BackendConformance
import CommandLineTools
import Foundation
import PurchaseSyncTesting

/// `conformance`: checks a backend against the wire protocol.
struct ConformanceCommand {
  let options: ConformanceOptions

  func execute() async -> Int32 {
    if options.list { return list() }
    if let count = options.random { return await sendRandomRequests(count) }
    if let clients = options.concurrent { return await runConcurrently(clients) }
    do {
      let (lab, notice) = try await ConformanceLab.reaching(options)
      if let notice { Terminal.complain("\(notice)") }
      let run = ConformanceRun(lab)
      if let code = await unready(lab) { return code }
      let page = ConformancePage(isQuiet: options.json)
      // The check that runs is ended first: it puts back the store's clock and its answers.
      Interruption.shared.watch()
      let findings = await run.findings(
        of: options.checks, while: { !Interruption.shared.isAsked }, show: page.show)
      if options.json { Terminal.line(try JSONOutput.document(findings)) }
      if let file = options.junit { try JUnitReport(findings).write(to: file) }
      page.summarize(findings)
      if let code = Interruption.shared.exitCode {
        Terminal.complain("interrupted: \(options.checks.count - findings.count) checks were not made")
        return code
      }
      return Self.code(of: findings)
    } catch let error as InputError {
      return error.tell()
    } catch {
      Terminal.complain("\(error)")
      return ExitCode.internal
    }
  }

  /// Asks the backend one question for each token. The exit code if it does not answer it rightly: all checks would fail
  /// in the same way.
  func unready(_ lab: ConformanceLab) async -> Int32? {
    switch await ConformanceRun(lab).readiness() {
    case .ready: return nil
    case .silent:
      for exchange in await lab.exchanges {
        Terminal.line("FAIL  > \(exchange.sent)\n      < \(exchange.received)")
      }
      Terminal.line(
        "The backend does not answer at \(options.backend): start it, or give its URL with --backend. "
          + "0 of 1 checks passed")
    case .refuses(let option, let status):
      Terminal.line("FAIL  > GET /v1/entitlements with the token of \(option)\n      < \(status)")
      Terminal.line(
        "The backend refuses the token of \(option): give tokens of two of its accounts with --token and "
          + "--other-token. 0 of 1 checks passed")
    }
    return ExitCode.promiseBroken
  }

  /// `conformance --list`: each rule, where it stands, and the check that asks for it; then the rules that none can.
  private func list() -> Int32 {
    let checks = options.checks.map(ConformanceRule.init)
    let others = options.isWhole ? UncheckedRule.all : []
    guard !options.json else {
      do {
        Terminal.line(try JSONOutput.document(ConformanceRuleList(checks: checks, unchecked: others)))
        return ExitCode.ok
      } catch {
        Terminal.complain("\(error)")
        return ExitCode.internal
      }
    }
    for rule in checks { Terminal.line("\(rule.check): \(rule.rule) (\(rule.place))") }
    for rule in others {
      Terminal.line("not checked: \(rule.rule) (\(rule.place)): \(rule.reason)")
    }
    return ExitCode.ok
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
