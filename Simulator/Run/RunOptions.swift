import CommandLineTools
import ScenarioFormat

/// The options of `run`.
struct RunOptions: Equatable, CommandOptions {
  static let command = "run"

  var scenarios: [ScenarioSource] = []
  var client = Client.engine
  var chaos = false
  /// Planted around the engine, to see the specification refuse it; nil for none.
  var bug: AppBug?
  var settings = RunSettings()

  static var table: OptionTable<Self> {
    OptionTable(
      [
        Row(name: "--all", help: "all built-in scenarios") { options, _ in
          options.scenarios = Scenario.all.map(ScenarioSource.builtIn)
        },
        .value("--client", of: "NAME", "who handles the purchases (default: engine); see compare") {
          $0.client = try .named($1, orSay: "there is no client")
        },
        .flag("--chaos", \.chaos, "SIGKILL the app at moments drawn from the seed as well"),
        RunSettings.specification(\.settings),
        .value(
          "--plant", of: "BUG",
          "plant a bug of the protocol: \(AppBug.allCases.map(\.rawValue).joined(separator: ", "))"
        ) { $0.bug = try .named($1, orSay: "there is no bug") },
      ] + RunSettings.rows(\.settings), takesStandardInput: true
    ) { $0.scenarios.append(try ScenarioSource($1)) }
  }
  private typealias Row = OptionTable<Self>.Row

  mutating func complete() throws {
    scenarios = scenarios.unique
    guard bug == nil || settings.isSpecified else {
      throw UsageError(
        message: "a planted bug is for the specification: run purchase --specification --plant sendsTwice")
    }
    guard !settings.isSpecified || client == .engine else {
      throw UsageError(
        message: "only the engine follows the protocol: run --all --specification, without --client")
    }
    guard !scenarios.isEmpty else {
      throw UsageError(message: "run needs the name of a scenario, a FILE.json, or --all")
    }
  }
}
