/// What `crash-matrix` is asked to do.
struct MatrixOptions: Equatable {
  /// Print the failpoints, and do nothing.
  var isList = false
  /// One cell, to be looked at.
  var cell: MatrixCell?
  /// These scenarios of the matrix, or all.
  var scenarios: [Scenario] = []
  /// How many passages of each point are tried.
  var hits = 3
  var settings = RunSettings()

  static let names = ["--list", "--cell", "--scenario", "--hits"]

  static func parse(_ arguments: [String]) -> Result<MatrixOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> MatrixOptions {
    var options = MatrixOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      if try options.settings.take(argument, &arguments) { continue }
      switch argument {
      case "--list": options.isList = true
      case "--hits":
        options.hits = try arguments.number(of: argument)
        guard (1...9).contains(options.hits) else { throw Command.UsageError(message: "--hits needs 1 to 9") }
      case "--scenario":
        let name = try arguments.value(of: argument)
        guard let scenario = Scenario.matrix.first(where: { $0.name == name }) else {
          let nearest = Nearest.name(to: name, in: Scenario.matrix.map(\.name))
          throw Command.UsageError(message: "the matrix has no scenario '\(name)'\(nearest)")
        }
        options.scenarios.append(scenario)
      case "--cell":
        let name = try arguments.value(of: argument)
        guard let cell = MatrixCell(name: name) else {
          throw Command.UsageError(
            message: "'\(name)' is no cell; one is SCENARIO/FAILPOINT:HIT/FATE, see crash-matrix --list")
        }
        options.cell = cell
      default: throw .unknownOption(argument, of: "crash-matrix", among: names + RunSettings.names)
      }
    }
    if let cell = options.cell { options.scenarios = Scenario.matrix.filter { $0.name == cell.scenario } }
    options.scenarios = options.scenarios.unique
    if options.scenarios.isEmpty { options.scenarios = Scenario.matrix }
    return options
  }
}
