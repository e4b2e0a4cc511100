import FaultInjection
import Foundation

/// `explore`: worlds from seeds, each held to the invariants.
struct ExploreCommand {
  let options: ExploreOptions

  /// So many failures are made small stories; the others keep their seed.
  private static let told = 3

  func execute() -> Int32 {
    Interruption.shared.watch()
    do {
      try ExplorePlaces.check(options)
      try ExploredDisks.prepare(options.storage)
      if options.checkDeterminism { return try DeterminismCheck(options: options).execute() }
      if let plant = options.plant { return try PlantSearch(options: options).execute(plant) }
      return try explore()
    } catch {
      Terminal.error("purchase-simulator: exploring failed: \(error)")
      return ExitCode.internal
    }
  }

  private func explore() throws -> Int32 {
    let explorer = Explorer(
      options.profile, options.storage, jobs: options.jobs, countsKnobs: options.report != nil)
    if !options.json { Terminal.line(heading) }
    let begin = ProcessInfo.processInfo.systemUptime
    let progress = ExploreProgress(options.limits)
    let sum = try explorer.run(options.limits) { progress.show($0) }
    progress.clear()
    let seconds = ProcessInfo.processInfo.systemUptime - begin
    let report = ExploreReport(
      options: options, sum: sum, seconds: seconds, wasInterrupted: Interruption.shared.isAsked)
    if options.json { Terminal.json(report.document) } else { report.lines.forEach(Terminal.line) }
    let stories = try tell(sum, explorer)
    if let path = options.report {
      let page = ExplorePage(report, stories: stories, command: ReportFile.commandLine, madeAt: Date())
      guard ReportFile.write(to: path, { try ReportPage.html(page) }) else { return ExitCode.internal }
    }
    if let code = Interruption.shared.exitCode {
      let lives =
        sum.seeds == 0
        ? "before the first life was over" : "after " + Counted.text(sum.seeds, "life", "lives")
      Terminal.error("purchase-simulator: ended \(lives)")
      return code
    }
    return report.isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  private var heading: String {
    let length = options.minutes.map { "\($0) min" } ?? Counted.text(options.seeds, "seed")
    return "profile \(options.profile.rawValue) on \(options.storage.rawValue), \(length) from "
      + "\(options.from)"
  }

  /// The first failures as small stories: told, and as files of `story`. Whoever wants to leave does not wait for that.
  private func tell(_ sum: ExplorationSum, _ explorer: Explorer) throws -> [FailureStory] {
    guard !Interruption.shared.isAsked else { return [] }
    let wanted = options.report == nil && options.stories == nil ? 1 : Self.told
    var stories: [FailureStory] = []
    for failure in sum.broken.prefix(wanted) {
      let story = try FailureStory(explorer.exploration, options.storage, failure)
      story.lines().forEach(tell)
      if let directory = options.stories { try tell(story.file(below: directory)) }
      stories.append(story)
    }
    return stories
  }

  private func tell(_ line: String) { if options.json { Terminal.error(line) } else { Terminal.line(line) } }
}

/// Whether what is to be written has a place: said before hours of work, not behind them.
enum ExplorePlaces {
  static func check(_ options: ExploreOptions) throws {
    if let report = options.report {
      let folder = URL(fileURLWithPath: report).deletingLastPathComponent().path
      try check(folder, for: report)
      if let reason = ReportFile.refusal(of: report) {
        throw ExplorePlaceError(description: "\(report) could not be written: \(reason)")
      }
    }
    if let stories = options.stories {
      do {
        try FileManager.default.createDirectory(atPath: stories, withIntermediateDirectories: true)
      } catch {
        throw ExplorePlaceError(description: "\(stories) cannot be made: \(error.localizedDescription)")
      }
      try check(stories, for: stories)
    }
  }

  private static func check(_ folder: String, for path: String) throws {
    var isFolder: ObjCBool = false
    let isThere = unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder)
    guard isThere, isFolder.boolValue else {
      throw ExplorePlaceError(description: "\(path) could not be written: there is no folder \(folder)")
    }
    guard FileManager.default.isWritableFile(atPath: folder) else {
      throw ExplorePlaceError(description: "\(path) could not be written: nobody may write to \(folder)")
    }
  }
}

/// Why there is no place for a file.
struct ExplorePlaceError: Error, CustomStringConvertible {
  var description: String
}
