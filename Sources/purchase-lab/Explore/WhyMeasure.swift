import CommandLineTools
import Exploration
import Foundation
import PurchaseQueue

/// `replay --why --plant all`: whether the named event is the one in which a planted bug did its damage.
///
/// The guilty event follows from no future: the simulation records each event in which the code of the planted bug did
/// otherwise than the right code (`PlantedDeeds`), and the guilty one is the last of them without which this very run
/// does not fail. A bug that is a wrong number, and one that only a check knows of, does nothing in
/// particular: the event of its failure is guilty, by definition.
struct WhyMeasure {
  let options: ReplayOptions
  let choice: SimulationChoice

  /// A named event so far from the guilty one is right.
  private static let tolerance = 2
  private static let permilleNeeded = 900
  private static let mostSeconds = 30.0

  struct Row: Encodable {
    var plant: String
    /// The event of the failure; nil if no run failed.
    var fails: Int?
    var named: Int?
    var guilty: Int?
    /// Whether the guilty event is that of the failure by definition.
    var isByDefinition = false
    var before: Double?
    var after: Double?
    /// What the futures with the code that failed name.
    var namedBySame: Int?
    var futures: Int?
    var seconds: Double
    var replay: String?

    var distance: Int? { named.flatMap { named in guilty.map { named - $0 } } }
    var isRight: Bool { isRight(named) }
    var isRightBySame: Bool { isRight(namedBySame) }
    /// Whether the guilty event lies between the one that the code that failed names, and the failure.
    var isBetween: Bool {
      guard let namedBySame, let guilty, let fails else { return false }
      return namedBySame...max(namedBySame, fails) ~= guilty
    }
    /// Whether the event of the failure would do as well.
    var isRightByFailure: Bool { isRight(fails) }

    private func isRight(_ event: Int?) -> Bool {
      guard let event, let guilty else { return false }
      return abs(event - guilty) <= WhyMeasure.tolerance
    }
  }

  private struct Document: Encodable {
    var plants: [Row]
    var right: Int
    /// The same without those that are guilty by definition.
    var rightOfDeeds: Int
    var deeds: Int
    var rightByFailure: Int
    var rightBySame: Int
    var betweenBySame: Int
    var slowest: Double
    var good: Bool
  }

  func execute() throws -> Int32 {
    let known = choice.checksProtocol ? choice.catalogue.protocolBugs : choice.catalogue.bugs
    let bugs = known.filter { choice.bug == "all" || $0.name == choice.bug }
    let progress = Progress(count: bugs.count, isShown: true)
    var rows: [Row] = []
    for bug in bugs where !Interruption.shared.isAsked {
      rows.append(try row(bug.name))
      progress.step()
    }
    progress.end()
    if let code = Interruption.shared.exitCode { return code }
    let right = rows.count(where: \.isRight)
    let slowest = rows.map(\.seconds).max() ?? 0
    let good = right * 1_000 >= rows.count * Self.permilleNeeded && slowest <= Self.mostSeconds
    let document = Document(
      plants: rows, right: right, rightOfDeeds: rows.count { $0.isRight && !$0.isByDefinition },
      deeds: rows.count { !$0.isByDefinition }, rightByFailure: rows.count(where: \.isRightByFailure),
      rightBySame: rows.count(where: \.isRightBySame), betweenBySame: rows.count(where: \.isBetween),
      slowest: slowest,
      good: good)
    if options.json { Terminal.json(document) } else { tell(document) }
    return good ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func row(_ bug: String) throws -> Row {
    let begin = ProcessInfo.processInfo.systemUptime
    var row = Row(plant: bug, seconds: 0)
    if let explanation = try explanation(of: bug) {
      let jump = explanation.explained.jump
      let guilty = try explanation.explained.run.guiltyEvent()
      (row.fails, row.named) = (explanation.explained.violation.event, jump.event)
      (row.guilty, row.isByDefinition) = (guilty ?? row.fails, guilty == nil)
      (row.before, row.after) = (jump.before, jump.after)
      row.namedBySame = explanation.explained.curves.last?.shares.jump.event
      row.futures = explanation.explained.curves.map(\.shares.futures).reduce(0, +)
      row.replay = explanation.replay
    }
    row.seconds = ProcessInfo.processInfo.systemUptime - begin
    return row
  }

  /// Of the smallest scenario that `explore --plant` finds.
  private func explanation(of bug: String) throws -> (explained: FailureExplanation, replay: String)? {
    var search = ExploreOptions()
    (search.choice, search.from, search.hasOwnProfile) = (choice, options.seed, options.hasOwnProfile)
    guard let (found, scenario) = try BugSearch(options: search, choice: choice).smallest(bug) else {
      return nil
    }
    var planted = choice
    (planted.bug, planted.profile) = (bug, found.profile)
    guard let runner = planted.runner() as? MachineRunner else { return nil }
    let explained = try FailureExplanation(
      keeping: scenario.shrinking.places, seed: scenario.seed, codes: [.mended, .same]
    ) { (places, trace) throws(QueueError) in
      try runner.simulation(scenario.seed, keeping: places, trace: trace)
    }
    return explained.map {
      let line = FailureScenario.replay(planted, seed: scenario.seed, keep: $0.places, stopAt: .max)
      return ($0, line + " --why")
    }
  }

  private func tell(_ document: Document) {
    var table = [
      ["planted bug", "fails", "named", "guilty", "off", "before", "after", "same code", "off", "seconds"]
    ]
    for row in document.plants {
      func text(_ number: Int?) -> String { number.map(String.init) ?? "" }
      let guilty = text(row.guilty) + (row.isByDefinition ? "*" : "")
      let offBySame = row.namedBySame.flatMap { same in row.guilty.map { same - $0 } }
      table.append([
        row.plant, row.fails.map(String.init) ?? "not found", text(row.named), guilty, text(row.distance),
        row.before.map(WhyWords.percent) ?? "", row.after.map(WhyWords.percent) ?? "", text(row.namedBySame),
        text(offBySame), Table.seconds(row.seconds),
      ])
    }
    TextTable.lines(table).forEach(Terminal.line)
    if document.deeds < document.plants.count {
      Terminal.line(
        "* what the bug did is not on record (a wrong number): the event of the failure, by definition")
    }
    let all = document.plants.count
    Terminal.line(
      "named within \(Self.tolerance) events of the guilty one: \(document.right) of \(all), and "
        + "\(document.rightOfDeeds) of the \(document.deeds) without *; the slowest took "
        + "\(Table.seconds(document.slowest)) s")
    Terminal.line("the event of the failure itself is so near in \(document.rightByFailure) of \(all)")
    Terminal.line(
      "with the code that failed in the futures: \(document.rightBySame) of \(all); and in "
        + "\(document.betweenBySame) the guilty event lies between the named one and the failure")
  }
}
