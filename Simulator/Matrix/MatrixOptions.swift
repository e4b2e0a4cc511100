import CommandLineTools
import ScenarioFormat

/// The options of `crash-matrix`.
struct MatrixOptions: Equatable, CommandOptions {
  static let command = "crash-matrix"

  /// Print the checkpoints and run nothing.
  var isList = false
  /// Run this cell only.
  var cell: MatrixCell?
  /// These scenarios of the matrix; all of them if there is none.
  var scenarios: [Scenario] = []
  /// How many passages of each checkpoint are tried.
  var hits = 3
  var settings = RunSettings()

  static var table: OptionTable<Self> {
    OptionTable(
      [
        .flag("--list", \.isList, "print the checkpoints and run nothing"),
        .value("--scenario", of: "S", "this scenario of the matrix only; may be given again") {
          options, name in
          guard let scenario = Scenario.matrix.first(where: { $0.name == name }) else {
            let nearest = Nearest.name(to: name, in: Scenario.matrix.map(\.name))
            throw UsageError(message: "the matrix has no scenario '\(name)'\(nearest)")
          }
          options.scenarios.append(scenario)
        },
        .number("--hits", \.hits, in: 1...9, "the first N passages of each checkpoint (default: 3)"),
        .value("--cell", of: "NAME", "one cell only: SCENARIO/CHECKPOINT:HIT/AFTERMATH") { options, name in
          guard let cell = MatrixCell(name: name) else {
            throw UsageError(
              message:
                "'\(name)' is no cell; one is SCENARIO/CHECKPOINT:HIT/AFTERMATH, see crash-matrix --list")
          }
          options.cell = cell
        },
        RunSettings.specification(\.settings),
      ] + RunSettings.rows(\.settings))
  }

  mutating func complete() {
    if let cell { scenarios = Scenario.matrix.filter { $0.name == cell.scenario } }
    scenarios = scenarios.isEmpty ? Scenario.matrix : scenarios.unique
  }
}
