import FaultInjection
import Foundation

/// `explore --shell` and `replay --shell`: the real engine under a seeded run queue.
struct ShellCommand {
  let options: ShellOptions

  func execute() -> Int32 {
    if options.task == .explore { Interruption.shared.watch() }
    do {
      switch options.task {
      case .replay: return replay()
      case .work: return ShellWorker(options: options).execute()
      case .explore where options.checkDeterminism: return try checkDeterminism()
      case .explore where options.plant != nil: return try findPlants()
      case .explore: return try explore()
      }
    } catch {
      if let code = Interruption.shared.exitCode { return code }
      Terminal.error("purchase-simulator: exploring the shell failed: \(error)")
      return ExitCode.internal
    }
  }

  // MARK: Exploring

  private func explore() throws -> Int32 {
    let begin = Date()
    let sum = try ShellSum.gathered(options)
    let report = ShellReport(sum: sum, seconds: Date().timeIntervalSince(begin))
    report.lines.forEach(Terminal.line)
    return report.isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  /// Every seed twice, in two processes, whose hashing is seeded differently.
  private func checkDeterminism() throws -> Int32 {
    var alone = options
    alone.jobs = 1
    let (first, second) = (try ShellSum.gathered(alone), try ShellSum.gathered(alone))
    guard first.hashes.count == second.hashes.count else {
      Terminal.error("purchase-simulator: a process ended early")
      return ExitCode.internal
    }
    for (left, right) in zip(first.hashes, second.hashes) where left != right {
      Terminal.line("seed \(left.seed) is not the same run twice")
      return ExitCode.promiseBroken
    }
    let different = Set(first.hashes.map(\.hash)).count
    let hash = first.hashes.reduce(UInt64(14_695_981)) { ($0 ^ $1.hash) &* 0x9E37_79B9_7F4A_7C15 }
    Terminal.line(
      "\(first.hashes.count) seeds are the same run in two processes: \(different) orders, hash \(hash)")
    return ExitCode.ok
  }

  // MARK: Planted bugs

  private func findPlants() throws -> Int32 {
    let plants = ShellPlant.allCases.filter { options.plant == "all" || $0.rawValue == options.plant }
    var rows = [["planted bug", "invariant", "seeds", "what was seen"]]
    var replays: [String] = []
    var isGood = true
    for plant in plants {
      var search = options
      search.plant = plant.rawValue
      let sum = try ShellSum.gathered(search)
      guard let failure = sum.failures.first else {
        rows.append([plant.rawValue, "not found", "", plant.summary])
        isGood = false
        continue
      }
      rows.append([plant.rawValue, failure.invariant, String(sum.seeds), failure.what])
      replays.append(ShellReport.replay(failure.seed, plant))
    }
    TextTable.lines(rows).forEach(Terminal.line)
    replays.forEach(Terminal.line)
    Terminal.line(isGood ? "every planted bug was found" : "not every planted bug was found")
    return isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  // MARK: Telling

  private func replay() -> Int32 {
    ShellWorker.onItsThread { [options] in
      do {
        let (life, lines) = try ShellWorker.exploration(options.plant).story(of: options.from)
        lines.forEach(Terminal.line)
        Terminal.line("\(life.jobs) jobs, \(life.choices) choices, hash \(life.hash)")
        guard let violation = life.violation else {
          Terminal.line("nothing was broken")
          return ExitCode.ok
        }
        Terminal.line(
          "invariant \(violation.invariant.rawValue) is broken (\(violation.invariant.sentence)): \(violation.what)"
        )
        return ExitCode.promiseBroken
      } catch {
        Terminal.error("purchase-simulator: the replay failed: \(error)")
        return ExitCode.internal
      }
    }
  }
}
