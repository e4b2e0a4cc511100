import Bench
import CommandLineTools

/// A parsed command line.
enum Command: ProgramCommand {
  case help(String?)
  case version
  case explore(ExploreOptions)
  case replay(ReplayOptions)
  case crashImages(CrashImagesOptions)
  case brokenBackends(BrokenBackendsCommand)
  case fleet(FleetOptions)
  case bench(BenchOptions)
  // Hidden commands: child processes of the others.
  case crashImagesWorker(CrashImagesWorkerOptions)
  case damageWorker(DamageWorkerOptions)
  case exploreWorker(SimulationChoice)
  case benchLoad(BenchLoadOptions)
  case benchUpload(UploadLoad)
  case benchPurchase(PurchaseLoad)

  static let program = Program.lab
  static let introduction = """
    purchase-lab: proves what purchase-simulator shows, with seeded simulations,
    cut power, fleets of devices and measurements.
    """
  static let examples = ["explore --seeds 10000", "crash-images"]
  static let commands: [CommandHelp<Command>] = [
    .explore, .replay, .crashImages, .brokenBackends, .fleet, .bench,
  ]
  static let topics: [HelpTopic] = []

  static func hidden(_ name: String, _ arguments: [String]) -> Result<Command, UsageError>? {
    switch name {
    case "crash-images-worker": CrashImagesWorkerOptions.parse(arguments).map(Command.crashImagesWorker)
    case "damage-worker": DamageWorkerOptions.parse(arguments).map(Command.damageWorker)
    case "explore-worker": SimulationChoice.parse(arguments).map(Command.exploreWorker)
    case "bench-load": BenchLoadOptions.parse(arguments).map(Command.benchLoad)
    case "bench-upload": UploadLoad.parse(arguments).map(Command.benchUpload)
    case "bench-purchase": PurchaseLoad.parse(arguments).map(Command.benchPurchase)
    default: nil
    }
  }

  func execute() async -> Int32 {
    switch self {
    case .help(let name): return CommandHelp<Command>.show(name)
    case .version:
      Terminal.line(Version.text)
      return ExitCode.ok
    case .explore(let options): return ExploreCommand(options: options).execute()
    case .replay(let options): return ReplayCommand(options: options).execute()
    case .crashImages(let options): return await CrashImagesCommand(options: options).execute()
    case .brokenBackends(let command): return await command.execute()
    case .fleet(let options): return FleetCommand(options: options).execute()
    case .bench(let options): return await BenchCommand(options: options).execute()
    case .crashImagesWorker(let options): return CrashImagesWorker(options: options).execute()
    case .damageWorker(let options): return options.execute()
    case .exploreWorker(let choice): return ExploreWorker(choice: choice).execute()
    case .benchLoad(let options): return options.execute()
    case .benchUpload(let load): return await load.execute()
    case .benchPurchase(let load): return await load.execute()
    }
  }
}
