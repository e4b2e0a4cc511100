import CommandLineTools
import Exploration
import Foundation

/// `explore`: runs a simulation by seeds and checks the invariants in each run.
struct ExploreCommand {
  let options: ExploreOptions

  /// How many failures become small scenarios; the others keep their seed only.
  private static let mostScenarios = 3

  func execute() -> Int32 {
    Interruption.shared.watch()
    do {
      try ExplorePlaces.check(options)
      if options.isExhaustive { return try ExhaustiveCommand(options: options).execute() }
      return try options.choice.withFiles { try execute($0) }
    } catch {
      if let code = Interruption.shared.exitCode { return code }
      Terminal.complain("exploring failed: \(error)")
      return ExitCode.internal
    }
  }

  private func execute(_ choice: SimulationChoice) throws -> Int32 {
    if options.checkDeterminism {
      // Each run needs two processors.
      let jobs = max(1, (options.jobs > 0 ? options.jobs : Jobs.usualWidth) / 2)
      var limits = options.limits
      limits.failures = 1
      return try DeterminismCheck(choice: choice, jobs: jobs).execute(limits, of: options.seeds)
    }
    if options.isGuided { return try GuidedCommand(options: options, choice: choice).execute() }
    if let bug = choice.bug { return try BugSearch(options: options, choice: choice).execute(bug) }
    return try explore(choice)
  }

  private func explore(_ choice: SimulationChoice) throws -> Int32 {
    let explorer = Explorer(choice, jobs: options.jobs, countsKnobs: options.report != nil)
    if !options.json { Terminal.line(heading) }
    let begin = ProcessInfo.processInfo.systemUptime
    let progress = ExploreProgress(options.limits, marks: choice.catalogue.marks.count)
    let sum = try explorer.run(options.limits) { progress.show($0) }
    progress.clear()
    let seconds = ProcessInfo.processInfo.systemUptime - begin
    let report = ExploreReport(
      options: options, sum: sum, seconds: seconds, wasInterrupted: Interruption.shared.isAsked)
    if options.json { Terminal.json(report.document) } else { report.lines.forEach(Terminal.line) }
    let scenarios = try scenarios(sum, choice)
    if let path = options.report {
      let page = ExplorePage(report, scenarios: scenarios, command: ReportFile.commandLine, madeAt: Date())
      guard ReportFile.write(page, to: path) else { return ExitCode.internal }
    }
    if let code = Interruption.shared.exitCode {
      let runs =
        sum.runs == 0 ? "before the first run was complete" : "after " + Counted.text(sum.runs, "run")
      Terminal.complain("ended \(runs)")
      return code
    }
    return report.isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  private var heading: String {
    let length = options.seconds.map { "\($0) s" } ?? Counted.text(options.seeds, "seed")
    let what = options.choice.isEngine ? "the engine" : options.choice.storage.rawValue
    return "profile \(options.choice.profile.rawValue) on \(what), \(length) from \(options.from)"
  }

  /// The first failures as small scenarios: printed, and written as files. An interruption ends this as well.
  private func scenarios(_ sum: RunSum, _ choice: SimulationChoice) throws -> [FailureScenario] {
    guard !Interruption.shared.isAsked else { return [] }
    let wanted = options.report == nil && options.scenarios == nil ? 1 : Self.mostScenarios
    var scenarios: [FailureScenario] = []
    for failure in sum.broken.prefix(wanted) {
      let scenario = try FailureScenario(choice, failure)
      scenario.lines().forEach(tell)
      if let directory = options.scenarios { try tell(scenario.file(below: directory)) }
      scenarios.append(scenario)
    }
    return scenarios
  }

  private func tell(_ line: String) { if options.json { Terminal.error(line) } else { Terminal.line(line) } }
}

/// Checks before hours of work that the page and the scenario files can be written.
enum ExplorePlaces {
  static func check(_ options: ExploreOptions) throws {
    if let report = options.report {
      let folder = URL(fileURLWithPath: report).deletingLastPathComponent().path
      try check(folder, for: report)
      if let reason = ReportFile.refusal(of: report) {
        throw ExplorePlaceError(description: "\(report) could not be written: \(reason)")
      }
    }
    if let scenarios = options.scenarios {
      do {
        try FileManager.default.createDirectory(atPath: scenarios, withIntermediateDirectories: true)
      } catch {
        throw ExplorePlaceError(description: "\(scenarios) cannot be made: \(error.localizedDescription)")
      }
      try check(scenarios, for: scenarios)
    }
  }

  private static func check(_ folder: String, for path: String) throws {
    var isFolder: ObjCBool = false
    let isThere = unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder)
    guard isThere, isFolder.boolValue else {
      throw ExplorePlaceError(description: "\(path) could not be written: there is no folder \(folder)")
    }
    guard FileManager.default.isWritableFile(atPath: folder) else {
      throw ExplorePlaceError(
        description: "\(path) could not be written: there is no permission to write to \(folder)")
    }
  }
}

/// Why there is no place for a file.
struct ExplorePlaceError: Error, CustomStringConvertible {
  var description: String
}
