/// What `run` is asked to do.
struct RunOptions: Equatable {
  var scenarios: [Scenario] = []
  var client = Client.engine
  var chaos = false
  var settings = RunSettings()

  static func parse(_ arguments: [String]) -> Result<RunOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> RunOptions {
    var options = RunOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      if try options.settings.take(argument, &arguments) { continue }
      switch argument {
      case "--all": options.scenarios = Scenario.all
      case "--chaos": options.chaos = true
      case "--client": options.client = try Client.named(try arguments.value(of: argument))
      case _ where argument.hasPrefix("-"):
        throw .unknownOption(
          argument, of: "run", among: ["--all", "--chaos", "--client"] + RunSettings.names)
      default: options.scenarios.append(try Scenario.named(argument))
      }
    }
    options.scenarios = options.scenarios.unique
    guard !options.scenarios.isEmpty else {
      throw Command.UsageError(message: "run needs the name of a scenario, or --all")
    }
    return options
  }
}

extension Client {
  static func named(_ name: String) throws(Command.UsageError) -> Client {
    guard let client = Client(rawValue: name) else {
      let nearest = Nearest.name(to: name, in: Client.allCases.map(\.rawValue))
      throw Command.UsageError(message: "there is no client '\(name)'\(nearest)")
    }
    return client
  }
}

extension Scenario {
  static func named(_ name: String) throws(Command.UsageError) -> Scenario {
    guard let scenario = Scenario.all.first(where: { $0.name == name }) else {
      let nearest = Nearest.name(to: name, in: Scenario.all.map(\.name))
      throw Command.UsageError(message: "there is no scenario '\(name)'\(nearest)")
    }
    return scenario
  }
}

extension Array where Element: Hashable {
  /// Each once: two runs of one name would share their files.
  var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}

extension Command.UsageError {
  static func unknownOption(_ option: String, of command: String, among known: [String]) -> Self {
    Self(message: "\(command) has no option '\(option)'\(Nearest.name(to: option, in: known))")
  }
}
