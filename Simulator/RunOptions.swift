/// What `run` is asked to do.
struct RunOptions: Equatable {
  var scenarios: [Scenario] = []
  var client = Client.engine
  var seed: UInt64 = 1
  var chaos = false
  var json = false
  var keep: String?

  static func parse(_ arguments: [String]) -> Result<RunOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> RunOptions {
    var options = RunOptions()
    var arguments = Arguments(arguments)
    var all = false
    while let argument = arguments.next() {
      switch argument {
      case "--all": all = true
      case "--chaos": options.chaos = true
      case "--json": options.json = true
      case "--seed": options.seed = try arguments.number(of: argument)
      case "--keep": options.keep = try arguments.value(of: argument)
      case "--client": options.client = try client(try arguments.value(of: argument))
      case _ where argument.hasPrefix("-"):
        let known = ["--all", "--chaos", "--json", "--seed", "--keep", "--client"]
        let nearest = Nearest.name(to: argument, in: known)
        throw Command.UsageError(message: "run has no option '\(argument)'\(nearest)")
      default: options.scenarios.append(try scenario(argument))
      }
    }
    if all { options.scenarios = Scenario.all }
    guard !options.scenarios.isEmpty else {
      throw Command.UsageError(message: "run needs the name of a scenario, or --all")
    }
    return options
  }

  private static func client(_ name: String) throws(Command.UsageError) -> Client {
    guard let client = Client(rawValue: name) else {
      let nearest = Nearest.name(to: name, in: Client.allCases.map(\.rawValue))
      throw Command.UsageError(message: "there is no client '\(name)'\(nearest)")
    }
    return client
  }

  private static func scenario(_ name: String) throws(Command.UsageError) -> Scenario {
    guard let scenario = Scenario.all.first(where: { $0.name == name }) else {
      let nearest = Nearest.name(to: name, in: Scenario.all.map(\.name))
      throw Command.UsageError(message: "there is no scenario '\(name)'\(nearest)")
    }
    return scenario
  }
}

/// Who handles the purchase in the simulated app.
enum Client: String, CaseIterable {
  case engine
  case fireAndForget = "fire-and-forget"
}
