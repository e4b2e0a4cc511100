import CommandLineTools
import Exploration
import Foundation
import PurchaseQueue

/// `replay --why`: explains one failing run, or measures how well planted bugs are explained.
struct WhyCommand {
  let options: ReplayOptions
  let choice: SimulationChoice

  func execute() throws -> Int32 {
    if options.measuresPlants { return try WhyMeasure(options: options, choice: choice).execute() }
    guard let runner = choice.runner() as? MachineRunner else { return ExitCode.usage }
    let maker: FailingRun.Maker = { (places, trace) throws(QueueError) in
      try runner.simulation(options.seed, keeping: places, trace: trace)
    }
    let codes: [FailingRun.Code] = choice.bug == nil ? [.same] : [.mended, .same]
    guard
      let explanation = try FailureExplanation(
        keeping: options.keep, seed: options.seed, codes: codes, make: maker)
    else {
      Terminal.line("nothing was broken: there is no failure to explain")
      return ExitCode.ok
    }
    let replay = FailureScenario.replay(
      choice, seed: options.seed, keep: explanation.places, stopAt: explanation.violation.event)
    let page = WhyPage(explanation, replay: replay, command: ReportFile.commandLine, madeAt: Date())
    if options.json {
      Terminal.json(page)
    } else {
      WhyWords(explanation).lines(replay: replay).forEach(Terminal.line)
    }
    if let path = options.report {
      guard ReportFile.write(page, to: path) else { return ExitCode.internal }
    }
    return ExitCode.promiseBroken
  }
}
