import CommandLineTools
import Fleet

/// `fleet --experiments`: published figures next to ours.
struct FleetExperiments {
  let options: FleetOptions

  func execute() -> Int32 {
    let figures = PublishedExperiment.all(seed: options.scenario.seed)
    if options.json {
      figures.forEach(Terminal.json)
    } else {
      Self.lines(figures).forEach(Terminal.line)
    }
    return figures.allSatisfy(\.agrees) ? ExitCode.ok : ExitCode.promiseBroken
  }

  /// An experiment's figures below its name.
  static func lines(_ figures: [PublishedFigure]) -> [String] {
    var lines: [String] = []
    var experiment: String?
    for figure in figures {
      if figure.experiment != experiment {
        lines += (experiment == nil ? [] : [""]) + [figure.experiment]
        experiment = figure.experiment
      }
      lines.append("  " + figure.name + (figure.agrees ? "" : ": DIFFERS"))
      lines.append("    published: " + figure.published)
      lines.append("    ours:      " + figure.ours)
    }
    return lines
  }
}
