import Foundation

/// What the command line asks for.
enum Command: Equatable {
  /// Nil for the page of all commands.
  case help(String?)
  case version
  case scenarios(ScenariosOptions)
  case run(RunOptions)
  case compare(CompareOptions)
  case story(StoryOptions)
  case crashMatrix(MatrixOptions)
  case crashImages(CrashImagesOptions)
  case explore(ExploreOptions)
  case replay(ReplayOptions)
  case shell(ShellOptions)
  case inspect(InspectOptions)
  case decode(DecodeOptions)
  case bench(BenchOptions)
  case serve(ServeOptions)
  case conformance(ConformanceOptions)
  // Children of the others; nobody calls them by hand.
  case app(AppOptions)
  case backend(BackendOptions)
  case crashImagesWorker(CrashImagesWorkerOptions)
  case exploreTwin(ExploreTwinOptions)
  case benchLoad(BenchLoadOptions)
  case benchUpload(UploadLoad)

  struct UsageError: Error, Equatable {
    var message: String
    /// The command whose help says more; nil for all of it.
    var command: String?

    init(message: String, command: String? = nil) {
      self.message = message
      self.command = command
    }

    /// Says what is wrong, and where to read more. Returns the exit code.
    func tell() -> Int32 {
      let page = command.map { "help \($0)" } ?? "help"
      Terminal.error("purchase-simulator: \(message)\nTry 'purchase-simulator \(page)'.")
      return ExitCode.usage
    }
  }

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
    case "explore-twin": return ExploreTwinOptions.parse(rest).map(Command.exploreTwin)
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
    return CommandHelp.named(name) == nil ? .failure(unknown(name)) : .success(.help(name))
  }

  private static func unknown(_ name: String) -> UsageError {
    let nearest = Nearest.name(to: name, in: CommandHelp.all.map(\.name) + ["help"])
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
    case .story(let options): return await StoryCommand(options: options).execute()
    case .crashMatrix(let options): return await MatrixCommand(options: options).execute()
    case .explore(let options): return ExploreCommand(options: options).execute()
    case .replay(let options): return ReplayCommand(options: options).execute()
    case .shell(let options): return ShellCommand(options: options).execute()
    case .crashImages(let options): return await CrashImagesCommand(options: options).execute()
    case .inspect(let options): return InspectCommand(options: options).execute()
    case .decode(let options): return DecodeCommand(options: options).execute()
    case .bench(let options): return await BenchCommand(options: options).execute()
    case .serve(let options): return await ServeCommand(options: options).execute()
    case .conformance(let options): return await ConformanceCommand(options: options).execute()
    case .app(let options): return await SimulatedApp(options: options).execute()
    case .backend(let options): return await BackendCommand(options: options).execute()
    case .crashImagesWorker(let options): return CrashImagesWorker(options: options).execute()
    case .exploreTwin(let options): return ExploreTwin(options: options).execute()
    case .benchLoad(let options): return BenchLoad(options: options).execute()
    case .benchUpload(let load): return await load.execute()
    }
  }
}

/// Options as they come: names with or without a value, and words.
struct Arguments {
  private var rest: [String]

  init(_ arguments: [String]) { rest = arguments }

  mutating func next() -> String? { rest.isEmpty ? nil : rest.removeFirst() }

  mutating func value(of option: String) throws(Command.UsageError) -> String {
    guard let value = next() else { throw Command.UsageError(message: "\(option) needs a value") }
    return value
  }

  mutating func number<N: FixedWidthInteger>(of option: String) throws(Command.UsageError) -> N {
    let text = try value(of: option)
    guard let number = N(text), number >= 0 else {
      throw Command.UsageError(message: "\(option) needs a whole number, not '\(text)'")
    }
    return number
  }

  /// A file's or a folder's; not empty, as that of a variable that is not set is.
  mutating func path(of option: String) throws(Command.UsageError) -> String {
    let path = try value(of: option)
    guard !path.isEmpty else { throw Command.UsageError(message: "\(option) needs a path, not ''") }
    return path
  }
}
