import FaultInjection
import Foundation

/// `explore --shell` and `replay --shell`: the real engine under a seeded run queue.
struct ShellCommand {
  let options: ShellOptions

  func execute() -> Int32 {
    // Ends with the process that started it, which sees to its files.
    if options.task == .work { return ShellWorker(options: options).execute() }
    Interruption.shared.watch()
    do {
      let scratch = try Scratch(keep: nil)
      defer { scratch.end() }
      let code = try execute(in: scratch.directory)
      return Interruption.shared.exitCode ?? code
    } catch {
      if let code = Interruption.shared.exitCode { return code }
      let what = options.task == .replay ? "the replay" : "exploring the shell"
      Terminal.error("purchase-simulator: \(what) failed: \(error)")
      return ExitCode.internal
    }
  }

  private func execute(in directory: String) throws -> Int32 {
    switch options.task {
    case .replay: try replay(in: directory)
    case .explore where options.checkDeterminism: try checkDeterminism(in: directory)
    case .explore where options.plant != nil: try findPlants(in: directory)
    case .explore, .work: try explore(in: directory)
    }
  }

  // MARK: Exploring

  private func explore(in directory: String) throws -> Int32 {
    let begin = Date()
    let sum = try ShellSum.gathered(options, in: directory)
    let report = ShellReport(sum: sum, seconds: Date().timeIntervalSince(begin))
    report.lines.forEach(Terminal.line)
    return report.isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  /// Every seed twice, in two processes, whose hashing is seeded differently.
  private func checkDeterminism(in directory: String) throws -> Int32 {
    var alone = options
    alone.jobs = 1
    let first = try ShellSum.gathered(alone, in: directory)
    let second = try ShellSum.gathered(alone, in: directory)
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
      Counted.text(first.hashes.count, "seed is", "seeds are") + " the same run in two processes: "
        + Counted.text(different, "order") + ", hash \(hash)")
    return ExitCode.ok
  }

  // MARK: Planted bugs

  private func findPlants(in directory: String) throws -> Int32 {
    let plants = ShellPlant.allCases.filter { options.plant == "all" || $0.rawValue == options.plant }
    var rows = [["planted bug", "invariant", "seeds", "what was seen"]]
    var replays: [String] = []
    var isGood = true
    for plant in plants {
      var search = options
      search.plant = plant.rawValue
      let sum = try ShellSum.gathered(search, in: directory)
      guard let failure = sum.failures.first else {
        rows.append([plant.rawValue, "not found", "", plant.summary])
        isGood = false
        continue
      }
      // How many lives there are up to that one: other processes are beyond it before it is known.
      let seeds = failure.seed - options.from + 1
      rows.append([plant.rawValue, failure.invariant, String(seeds), failure.what])
      replays.append(ShellReport.replay(failure.seed, plant))
    }
    TextTable.lines(rows).forEach(Terminal.line)
    replays.forEach(Terminal.line)
    Terminal.line(isGood ? "every planted bug was found" : "not every planted bug was found")
    return isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  // MARK: Telling

  private func replay(in directory: String) throws -> Int32 {
    let exploration = ShellWorker.exploration(options.plant, below: directory)
    let (life, lines) = try ShellWorker.onItsThread { [options] in
      Result { try exploration.story(of: options.from) }
    }.get()
    for line in lines where !Interruption.shared.isAsked { Terminal.line(line) }
    Terminal.line(
      "\(Counted.text(life.jobs, "job")), \(Counted.text(life.choices, "choice")), hash \(life.hash)")
    guard let violation = life.violation else {
      Terminal.line("nothing was broken")
      return ExitCode.ok
    }
    Terminal.line(
      "invariant \(violation.invariant.rawValue) is broken (\(violation.invariant.sentence)): \(violation.what)"
    )
    return ExitCode.promiseBroken
  }
}
