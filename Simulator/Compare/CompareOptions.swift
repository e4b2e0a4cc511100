import CommandLineTools
import ScenarioFormat

/// The options of `compare`: all scenarios with all clients, or those that are named.
struct CompareOptions: Equatable, CommandOptions {
  static let command = "compare"

  var scenarios: [ScenarioSource] = []
  var clients: [Client] = []
  var settings = RunSettings()

  static var table: OptionTable<Self> {
    OptionTable(
      [
        .value("--client", of: "NAME", "this client only; may be given again") {
          $0.clients.append(try .named($1, orSay: "there is no client"))
        }
      ] + RunSettings.rows(\.settings)
    ) { $0.scenarios.append(try ScenarioSource($1)) }
  }

  mutating func complete() {
    scenarios = scenarios.isEmpty ? Scenario.all.map(ScenarioSource.builtIn) : scenarios.unique
    clients = clients.isEmpty ? Client.allCases : clients.unique
  }
}
