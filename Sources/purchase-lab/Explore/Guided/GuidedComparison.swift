import CommandLineTools
import Exploration

/// `explore --guided --compare`: the guided search next to the random one, at equal processor time, on one thread.
struct GuidedComparison {
  let options: ExploreOptions
  let choice: SimulationChoice

  /// The bar: so many times the behaviours.
  private static let ratio = 1.5
  /// Each bug is looked for so often, from other seeds each time.
  private static let trials = 3
  /// Processor time for one bug, in seconds.
  private static let patience = 20.0

  /// When one search saw one bug, over the trials.
  struct Found: Encodable {
    /// The run, from 1; nil where it was not found.
    var runs: [Int?] = []
    /// Processor time.
    var seconds: [Double?] = []

    var isFound: Bool { runs.contains { $0 != nil } }
    /// A bug that was not found counts as found never.
    var medianRuns: Int? { Self.median(runs) }
    var medianSeconds: Double? { Self.median(seconds) }

    static func median<N: Comparable>(_ values: [N?]) -> N? {
      let found = values.compactMap { $0 }.sorted()
      let place = values.count / 2
      return found.indices.contains(place) ? found[place] : nil
    }
  }

  struct Row: Encodable {
    var plant: String
    var random: Found
    var guided: Found
    /// Every trial saw it within the runs that both searches begin with.
    var isShared: Bool
  }

  private struct Document: Encodable {
    var seeds: Int
    var seconds: Double
    var randomRuns: Int
    var guidedRuns: Int
    var randomBehaviours: Int
    var guidedBehaviours: Int
    var plants: [Row]
    var verdict: [String]
    var good: Bool
  }

  func execute() throws -> Int32 {
    var random = explorer(choice, from: options.from, isGuided: false)
    try random.run(count: options.seeds)
    var guided = explorer(choice, from: options.from, isGuided: true)
    try guided.run { $0.seconds >= random.seconds }
    var rows: [Row] = []
    let progress = Progress(count: choice.catalogue.bugs.count, isShown: true)
    for bug in choice.catalogue.bugs where !Interruption.shared.isAsked {
      rows.append(try row(bug.name))
      progress.step()
    }
    progress.end()
    if let code = Interruption.shared.exitCode { return code }
    let verdict = GuidedVerdict(
      behaviours: (random.search.behaviours, guided.search.behaviours), ratio: Self.ratio, rows)
    let broken = random.broken + guided.broken
    let isGood = verdict.isGood && broken.isEmpty
    if options.json {
      Terminal.json(
        Document(
          seeds: options.seeds, seconds: random.seconds, randomRuns: random.search.runs,
          guidedRuns: guided.search.runs, randomBehaviours: random.search.behaviours,
          guidedBehaviours: guided.search.behaviours, plants: rows, verdict: verdict.lines, good: isGood))
    } else {
      lines(random, guided, rows).forEach(Terminal.line)
      verdict.lines.forEach(Terminal.line)
    }
    for broken in broken.prefix(3) {
      try GuidedFailure(choice, broken, below: options.failing ?? ".").lines.forEach(Terminal.error)
    }
    return isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func explorer(_ choice: SimulationChoice, from: UInt64, isGuided: Bool) -> GuidedExplorer {
    GuidedExplorer(
      choice, GuidedSearch(profile: choice.profile, from: from, isGuided: isGuided), jobs: 1)
  }

  // MARK: Planted bugs

  /// Both searches begin with the same runs, which are made once.
  private func row(_ bug: String) throws -> Row {
    var choice = choice
    choice.bug = bug
    var row = Row(plant: bug, random: Found(), guided: Found(), isShared: true)
    for trial in 0..<Self.trials {
      let from = options.from + UInt64(trial) * 1_000_000
      var guided = explorer(choice, from: from, isGuided: true)
      try guided.run(count: Int(GuidedSearch.first)) { !$0.broken.isEmpty }
      var random = guided
      if guided.broken.isEmpty {
        row.isShared = false
        random = guided.continued(as: guided.search.unguided)
        try random.run { !$0.broken.isEmpty || $0.seconds > Self.patience }
        try guided.run { !$0.broken.isEmpty || $0.seconds > Self.patience }
      }
      row.random.runs.append(random.broken.first?.number)
      row.random.seconds.append(random.broken.first?.seconds)
      row.guided.runs.append(guided.broken.first?.number)
      row.guided.seconds.append(guided.broken.first?.seconds)
    }
    return row
  }

  // MARK: Text

  private func lines(_ random: GuidedExplorer, _ guided: GuidedExplorer, _ rows: [Row]) -> [String] {
    func text(_ found: Found) -> [String] {
      guard let runs = found.medianRuns, let seconds = found.medianSeconds else { return ["not found", ""] }
      return ["\(runs)", Table.seconds(seconds)]
    }
    let searches = [
      ["search", "runs", "processor s", "behaviours"],
      ["random", "\(random.search.runs)", Table.seconds(random.seconds), "\(random.search.behaviours)"],
      ["guided", "\(guided.search.runs)", Table.seconds(guided.seconds), "\(guided.search.behaviours)"],
    ]
    var table = [["planted bug", "random: runs", "s", "guided: runs", "s"]]
    for row in rows where !row.isShared { table.append([row.plant] + text(row.random) + text(row.guided)) }
    let shared = rows.count(where: \.isShared)
    return TextTable.lines(searches) + [
      "",
      "\(shared) of \(rows.count) planted bugs are seen within the \(GuidedSearch.first) runs that both begin "
        + "with. The others, medians of \(Self.trials) trials:",
    ] + TextTable.lines(table) + [""]
  }
}

/// Whether the guided search is better, a sentence for each bar.
struct GuidedVerdict {
  let lines: [String]
  let isGood: Bool

  init(behaviours: (random: Int, guided: Int), ratio bar: Double, _ rows: [GuidedComparison.Row]) {
    let ratio = Double(behaviours.guided) / Double(max(1, behaviours.random))
    let (random, guided) = (rows.count(where: \.random.isFound), rows.count(where: \.guided.isFound))
    func median(_ path: KeyPath<GuidedComparison.Row, GuidedComparison.Found>) -> Double? {
      GuidedComparison.Found.median(rows.map { $0[keyPath: path].medianSeconds })
    }
    func words(_ seconds: Double?) -> String { seconds.map { Table.seconds($0) + " s" } ?? "never" }
    let (early, late) = (median(\.guided), median(\.random))
    let later = rows.filter { row in
      guard let here = row.guided.medianSeconds else { return row.random.medianSeconds != nil }
      return row.random.medianSeconds.map { here > $0 } ?? false
    }
    let bars: [(String, Bool)] = [
      (
        "\(Table.seconds(ratio)) times the behaviours of the random search (at least \(bar))", ratio >= bar
      ),
      ("\(guided) planted bugs found, \(random) by the random search", guided >= random),
      (
        "the median bug is found after: \(words(early)); by the random search: \(words(late))",
        early ?? .infinity <= late ?? .infinity
      ),
    ]
    isGood = bars.allSatisfy(\.1)
    lines =
      bars.map { ($0.1 ? "good: " : "MISSED: ") + $0.0 }
      + [
        later.isEmpty
          ? "no bug is found later than by the random search"
          : "found later than by the random search: " + later.map(\.plant).joined(separator: ", ")
      ]
  }
}
