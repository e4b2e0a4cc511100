import BackendConformance
import CommandLineTools
import Foundation
import PurchaseSyncTesting

extension ConformanceCommand {
  /// `conformance --concurrent N`: requests at the same time, whose history is checked.
  func runConcurrently(_ clients: Int) async -> Int32 {
    do {
      let (lab, notice) = try await ConformanceLab.reaching(options)
      if let code = await unready(lab) { return code }
      if let notice {
        Terminal.complain("\(notice): \(ConformanceNeed.store.advice)")
        return ExitCode.undecided
      }
      let plan = ConcurrentRun.Plan(clients: clients, operations: options.operations, seed: options.seed)
      do {
        return show(try await ConcurrentRun(lab, plan: plan).run(), clients)
      } catch let failure as ConformanceFailure {
        let all = await lab.exchanges
        if let exchange = failure.exchange ?? all.last {
          Terminal.line("FAIL  > \(exchange.sent)\n      < \(exchange.received)")
        }
        Terminal.line("      expected: \(failure.expected)")
        return ExitCode.promiseBroken
      }
    } catch {
      Terminal.complain("\(error)")
      return ExitCode.internal
    }
  }

  private func show(_ history: ConcurrentRun.History, _ clients: Int) -> Int32 {
    let clock = ContinuousClock()
    let start = clock.now
    let verdict = ConcurrentVerdict(history)
    let seconds = Table.seconds((clock.now - start) / .seconds(1))
    Terminal.line(
      "\(history.callCount) requests by \(clients) clients, seed \(options.seed): "
        + "\(history.unansweredCount) without an answer, \(history.kills) kills; checked in \(seconds) s")
    if options.restart == nil {
      Terminal.line("The backend was not killed: \(ConformanceNeed.restart.advice).")
    }
    let (found, expected) = history.credited
    if found != expected {
      Terminal.line("FAIL  \(expected) transactions were paid and uploaded, and \(found) are credited")
    }
    if let first = verdict.contradictions.first {
      Terminal.line(
        "FAIL  \(verdict.contradictions.count) histories cannot be. These answers contradict each other, "
          + "whatever the other requests did:")
      for line in first.split(separator: "\n") { Terminal.line("      \(line)") }
    }
    guard verdict.contradictions.isEmpty, found == expected else { return ExitCode.promiseBroken }
    Terminal.line("Linearizable: each key made one order, and each transaction was credited once.")
    return ExitCode.ok
  }
}
