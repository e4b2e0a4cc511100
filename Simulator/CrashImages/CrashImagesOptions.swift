/// What `crash-images` is asked to do.
struct CrashImagesOptions: Equatable {
  /// The longest sequences of operations.
  var depth = 2
  var json = false
  var seed: UInt64 = 1
  /// The most states at one place.
  var cap = 160
  /// Worker processes; nil: as many as there are cores.
  var jobs: Int?
  /// Workloads by name; none: all of them.
  var only: [ImageWorkload] = []
  /// An image, or a run with a fault, to be shown.
  var replay: ImageAddress?
  /// Whether operations of the disk are to fail as well.
  var hasFaults = true

  static func parse(_ arguments: [String]) -> Result<CrashImagesOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> CrashImagesOptions {
    var options = CrashImagesOptions()
    var given: Set<String> = []
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      given.insert(argument)
      switch argument {
      case "--depth":
        options.depth = try arguments.number(of: argument)
        guard (1...3).contains(options.depth) else {
          throw Command.UsageError(message: "--depth is 1, 2 or 3")
        }
      case "--json": options.json = true
      case "--seed": options.seed = try arguments.number(of: argument)
      case "--cap":
        options.cap = try arguments.number(of: argument)
        guard (2...1_000_000).contains(options.cap) else {
          throw Command.UsageError(message: "--cap needs 2 to 1000000")
        }
      case "--jobs": options.jobs = try ExploreOptions.jobs(&arguments)
      case "--no-faults": options.hasFaults = false
      case "--only": options.only.append(try ImageWorkload.named(try arguments.value(of: argument)))
      case "--replay": options.replay = try ImageAddress.parse(try arguments.value(of: argument))
      default:
        let known = ["--depth", "--json", "--seed", "--cap", "--jobs", "--only", "--no-faults", "--replay"]
        let nearest = Nearest.name(to: argument, in: known)
        throw Command.UsageError(message: "crash-images has no option '\(argument)'\(nearest)")
      }
    }
    try ExploreOptions.check(given, apart)
    options.only = options.only.unique
    return options
  }

  /// What has no sense together with what.
  private static let apart: [(String, [String])] = [
    ("--only", ["--depth"]),
    ("--replay", ["--only", "--depth", "--cap", "--jobs", "--no-faults", "--json"]),
  ]

  var workloads: [ImageWorkload] { only.isEmpty ? ImageWorkload.all(depth: depth) : only }
}

/// What a worker is asked to do: the hidden `crash-images-worker`. The workloads come by standard input, a name a line.
struct CrashImagesWorkerOptions: Equatable {
  var seed: UInt64 = 1
  var cap = 160
  var hasFaults = true

  static func parse(_ arguments: [String]) -> Result<CrashImagesWorkerOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> CrashImagesWorkerOptions {
    var options = CrashImagesWorkerOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch argument {
      case "--seed": options.seed = try arguments.number(of: argument)
      case "--cap": options.cap = try arguments.number(of: argument)
      case "--no-faults": options.hasFaults = false
      default: throw Command.UsageError(message: "crash-images-worker has no option '\(argument)'")
      }
    }
    return options
  }
}
