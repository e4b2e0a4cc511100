import CommandLineTools
import Exploration
import Foundation

/// `explore --guided`: the search that prefers what it has not seen.
struct GuidedCommand {
  let options: ExploreOptions
  let choice: SimulationChoice

  /// How many failures become small inputs.
  private static let mostFailures = 3
  /// How many inputs a run may add to its corpus.
  private static let mostAdded = 32

  func execute() throws -> Int32 {
    if options.compares { return try GuidedComparison(options: options, choice: choice).execute() }
    let corpus = try options.corpus.map { try InputCorpus($0) }
    let search = GuidedSearch(
      profile: choice.profile, from: options.from, corpus: corpus?.inputs ?? [])
    if !options.json { Terminal.line(heading(corpus?.inputs.count ?? 0)) }
    var explorer = GuidedExplorer(
      choice, search, jobs: options.jobs, countsKnobs: options.report != nil)
    let begin = ProcessInfo.processInfo.systemUptime
    func elapsed() -> Double { ProcessInfo.processInfo.systemUptime - begin }
    let progress = ExploreProgress(options.limits, marks: choice.catalogue.marks.count)
    try explorer.run(count: options.seconds == nil ? options.seeds : nil) { explorer in
      progress.show(explorer.sum)
      return explorer.broken.count >= options.failures
        || options.seconds.map { elapsed() >= Double($0) } ?? false
    }
    progress.clear()
    let report = ExploreReport(
      options: options, sum: explorer.sum, seconds: elapsed(), wasInterrupted: Interruption.shared.isAsked,
      guided: try GuidedFigures(explorer, choice))
    if options.json { Terminal.json(report.document) } else { report.lines.forEach(Terminal.line) }
    let failures = try failures(explorer)
    try keep(explorer.search, in: corpus)
    if let path = options.report {
      let page = ExplorePage(report, guided: failures, command: ReportFile.commandLine, madeAt: Date())
      guard ReportFile.write(page, to: path) else { return ExitCode.internal }
    }
    if let code = Interruption.shared.exitCode { return code }
    return report.isGood ? ExitCode.ok : ExitCode.promiseBroken
  }

  private func heading(_ inputs: Int) -> String {
    let length = options.seconds.map { "\($0) s" } ?? Counted.text(options.seeds, "run")
    return "guided, profile \(choice.profile.rawValue) on \(choice.storage.rawValue), \(length) from "
      + "\(options.from)" + (options.corpus == nil ? "" : ", corpus of " + Counted.text(inputs, "input"))
  }

  private func failures(_ explorer: GuidedExplorer) throws -> [GuidedFailure] {
    guard !Interruption.shared.isAsked else { return [] }
    var failures: [GuidedFailure] = []
    for broken in explorer.broken.prefix(Self.mostFailures) {
      let failure = try GuidedFailure(choice, broken, below: options.failing ?? ".")
      failure.lines.forEach(tell)
      failures.append(failure)
    }
    return failures
  }

  private func keep(_ search: GuidedSearch, in corpus: InputCorpus?) throws {
    guard let corpus, !options.readsOnly else { return }
    let count = try corpus.add(search.worthKeeping(Self.mostAdded))
    tell(Counted.text(count, "input") + " added to \(corpus.folder)")
  }

  private func tell(_ line: String) { if options.json { Terminal.error(line) } else { Terminal.line(line) } }
}
