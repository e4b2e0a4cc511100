import CommandLineTools
import Exploration
import Foundation
import MemoryModels
import PurchaseSyncTesting

/// `explore --exhaustive`: every state of a small world, and with `--plant` the shortest way to each planted bug.
struct ExhaustiveCommand {
  let options: ExploreOptions

  func execute() throws -> Int32 {
    if let name = options.choice.bug { return try find(name) }
    var report = try report(on: SmallWorld())
    for world in [SmallWorld.withSeat, .withBundle] where report.isGood {
      report.others.append(try self.report(on: world))
    }
    if options.json { Terminal.json(report.document) } else { report.lines.forEach(Terminal.line) }
    if let code = Interruption.shared.exitCode { return code }
    return report.isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func report(on world: SmallWorld) throws -> ExhaustiveReport {
    let (result, seconds) = try search(world, nil)
    return ExhaustiveReport(world: world, result: result, seconds: seconds)
  }

  private func search(_ world: SmallWorld, _ bug: ExhaustiveBug?) throws -> (ExhaustiveResult, Double) {
    let begin = ProcessInfo.processInfo.systemUptime
    func seconds() -> Double { ProcessInfo.processInfo.systemUptime - begin }
    let progress = ProgressLine()
    defer { progress.clear() }
    let search = try ExhaustiveSearch(world, bug: bug, mostBytes: options.mostBytes) {
      MemoryStorage(limits: $0)
    }
    let result = try search.run { result in
      progress.show { seconds in
        "\(result.states) states, \(Int(Double(result.states) / seconds))/s, depth \(result.depth), "
          + "\(result.bytes >> 20) MiB"
      }
      return !Interruption.shared.isAsked
    }
    return (result, seconds())
  }

  // MARK: Planted bugs

  private func find(_ name: String) throws -> Int32 {
    let bugs = ExhaustiveBug.allCases.filter { name == "all" || $0.rawValue == name }
    var found: [ExhaustiveFinding] = []
    for bug in bugs where !Interruption.shared.isAsked {
      let (result, seconds) = try search(bug.world, bug)
      if Interruption.shared.isAsked { break }
      found.append(ExhaustiveFinding(bug, result, seconds))
    }
    let isGood = found.count == bugs.count && found.allSatisfy(\.isFound)
    if options.json {
      Terminal.json(ExhaustiveFinding.Document(plants: found, good: isGood))
    } else {
      ExhaustiveFinding.lines(found).forEach(Terminal.line)
      let ended = found.count == bugs.count ? nil : found.count
      Terminal.line(BugSearch.verdict(ended, of: bugs.count, isGood))
    }
    if let code = Interruption.shared.exitCode { return code }
    return isGood ? ExitCode.ok : ExitCode.promiseBroken
  }
}
