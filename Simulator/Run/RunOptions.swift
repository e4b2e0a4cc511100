/// The options of `run`.
struct RunOptions: Equatable, CommandOptions {
  static let command = "run"

  var scenarios: [ScenarioSource] = []
  var client = Client.engine
  var chaos = false
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
      ] + RunSettings.rows(\.settings), takesStandardInput: true
    ) { $0.scenarios.append(try ScenarioSource($1)) }
  }
  private typealias Row = OptionTable<Self>.Row

  mutating func complete() throws {
    scenarios = scenarios.unique
    guard !settings.isSpecified || client == .engine else {
      throw Command.UsageError(
        message: "only the engine follows the protocol: run --all --specification, without --client")
    }
    guard !scenarios.isEmpty else {
      throw Command.UsageError(message: "run needs the name of a scenario, a FILE.json, or --all")
    }
  }
}
