/// What `compare` is asked to do: all scenarios with all clients, or those that are named.
struct CompareOptions: Equatable {
  var scenarios: [Scenario] = []
  var clients: [Client] = []
  var settings = RunSettings()

  static func parse(_ arguments: [String]) -> Result<CompareOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in
      var options = CompareOptions()
      var arguments = Arguments(arguments)
      while let argument = arguments.next() {
        if try options.settings.take(argument, &arguments) { continue }
        switch argument {
        case "--client": options.clients.append(try Client.named(try arguments.value(of: argument)))
        case _ where argument.hasPrefix("-"):
          throw .unknownOption(argument, of: "compare", among: ["--client"] + RunSettings.names)
        default: options.scenarios.append(try Scenario.named(argument))
        }
      }
      (options.scenarios, options.clients) = (options.scenarios.unique, options.clients.unique)
      if options.scenarios.isEmpty { options.scenarios = Scenario.all }
      if options.clients.isEmpty { options.clients = Client.allCases }
      return options
    }
  }
}
