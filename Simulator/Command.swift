import Bench

/// A parsed command line.
enum Command: Equatable {
  /// The page of a command or a topic; nil for the page of all commands.
  case help(String?)
  case version
  case scenarios(ScenariosOptions)
  case run(RunOptions)
  case compare(CompareOptions)
  case crashMatrix(MatrixOptions)
  case crashImages(CrashImagesOptions)
  case explore(ExploreOptions)
  case replay(ReplayOptions)
  case inspect(InspectOptions)
  case decode(DecodeOptions)
  case bench(BenchOptions)
  case fleet(FleetOptions)
  case serve(ServeOptions)
  case conformance(ConformanceOptions)
  // Hidden commands: child processes of the others.
  case app(AppOptions)
  case backend(BackendOptions)
  case crashImagesWorker(CrashImagesWorkerOptions)
  case damageWorker(DamageWorkerOptions)
  case exploreWorker(SimulationChoice)
  case benchLoad(BenchLoadOptions)
  case benchUpload(UploadLoad)

  static func parse(_ arguments: [String]) -> Result<Command, UsageError> {
    guard let name = arguments.first else { return .success(.help(nil)) }
    let rest = Array(arguments.dropFirst())
    switch name {
    case "--help", "-h": return .success(.help(nil))
    case "--version": return .success(.version)
    case "help": return help(rest)
    case "app": return AppOptions.parse(rest).map(Command.app)
    case "backend": return BackendOptions.parse(rest).map(Command.backend)
    case "crash-images-worker": return CrashImagesWorkerOptions.parse(rest).map(Command.crashImagesWorker)
    case "damage-worker": return DamageWorkerOptions.parse(rest).map(Command.damageWorker)
    case "explore-worker": return SimulationChoice.parse(rest).map(Command.exploreWorker)
    case "bench-load": return BenchLoadOptions.parse(rest).map(Command.benchLoad)
    case "bench-upload": return UploadLoad.parse(rest).map(Command.benchUpload)
    default: break
    }
    guard let entry = CommandHelp.named(name) else { return .failure(unknown(name)) }
    if rest.contains(where: { $0 == "--help" || $0 == "-h" }) { return .success(.help(name)) }
    return entry.parse(rest).mapError { UsageError(message: $0.message, command: name) }
  }

  private static func help(_ rest: [String]) -> Result<Command, UsageError> {
    guard let name = rest.first else { return .success(.help(nil)) }
    guard rest.count == 1 else { return .failure(UsageError(message: "help takes one COMMAND")) }
    return CommandHelp.page(of: name) == nil ? .failure(unknown(name)) : .success(.help(name))
  }

  private static func unknown(_ name: String) -> UsageError {
    let nearest = Nearest.name(to: name, in: CommandHelp.all.map(\.name) + ["help", "scenario-file"])
    return UsageError(message: "there is no command '\(name)'\(nearest)")
  }

  func execute() async -> Int32 {
    switch self {
    case .help(let name): return CommandHelp.show(name)
    case .version:
      Terminal.line(Version.text)
      return ExitCode.ok
    case .scenarios(let options): return ScenariosCommand(options: options).execute()
    case .run(let options): return await RunCommand(options: options).execute()
    case .compare(let options): return await CompareCommand(options: options).execute()
    case .crashMatrix(let options): return await MatrixCommand(options: options).execute()
    case .explore(let options): return ExploreCommand(options: options).execute()
    case .replay(let options): return ReplayCommand(options: options).execute()
    case .crashImages(let options): return await CrashImagesCommand(options: options).execute()
    case .inspect(let options): return InspectCommand(options: options).execute()
    case .decode(let options): return DecodeCommand(options: options).execute()
    case .fleet(let options): return FleetCommand(options: options).execute()
    case .bench(let options): return await BenchCommand(options: options).execute()
    case .serve(let options): return await ServeCommand(options: options).execute()
    case .conformance(let options): return await ConformanceCommand(options: options).execute()
    case .app(let options): return await SimulatedApp(options: options).execute()
    case .backend(let options): return await BackendCommand(options: options).execute()
    case .crashImagesWorker(let options): return CrashImagesWorker(options: options).execute()
    case .damageWorker(let options): return options.execute()
    case .exploreWorker(let choice): return ExploreWorker(choice: choice).execute()
    case .benchLoad(let options): return options.execute()
    case .benchUpload(let load): return await load.execute()
    }
  }
}
