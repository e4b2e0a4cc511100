import CommandLineTools
import ScenarioFormat

/// A parsed command line.
enum Command: ProgramCommand {
  case help(String?)
  case version
  case scenarios(ScenariosOptions)
  case run(RunOptions)
  case compare(CompareOptions)
  case crashMatrix(MatrixOptions)
  case inspect(InspectOptions)
  case decode(DecodeOptions)
  case serve(ServeOptions)
  case conformance(ConformanceOptions)
  // Hidden commands: child processes of the others.
  case app(AppOptions)
  case backend(BackendOptions)

  static let program = Program.simulator
  static let introduction = """
    purchase-simulator: loses purchases the way apps do, and shows that the
    engine does not.
    """
  static let examples = ["run --all", "compare --report compare.html"]
  static let commands: [CommandHelp<Command>] = [
    .run, .compare, .crashMatrix, .scenarios, .serve, .conformance, .inspect, .decode,
  ]
  static let topics = [
    HelpTopic(name: "scenario-file", summary: "how to write a scenario", text: ScenarioSchema.text)
  ]

  static func hidden(_ name: String, _ arguments: [String]) -> Result<Command, UsageError>? {
    switch name {
    case "app": AppOptions.parse(arguments).map(Command.app)
    case "backend": BackendOptions.parse(arguments).map(Command.backend)
    default: nil
    }
  }

  func execute() async -> Int32 {
    switch self {
    case .help(let name): return CommandHelp<Command>.show(name)
    case .version:
      Terminal.line(Version.text)
      return ExitCode.ok
    case .scenarios(let options): return ScenariosCommand(options: options).execute()
    case .run(let options): return await RunCommand(options: options).execute()
    case .compare(let options): return await CompareCommand(options: options).execute()
    case .crashMatrix(let options): return await MatrixCommand(options: options).execute()
    case .inspect(let options): return InspectCommand(options: options).execute()
    case .decode(let options): return DecodeCommand(options: options).execute()
    case .serve(let options): return await ServeCommand(options: options).execute()
    case .conformance(let options): return await ConformanceCommand(options: options).execute()
    case .app(let options): return await SimulatedApp(options: options).execute()
    case .backend(let options): return await BackendCommand(options: options).execute()
    }
  }
}
