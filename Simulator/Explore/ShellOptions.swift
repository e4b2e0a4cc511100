import FaultInjection

/// What `explore --shell` and `replay --shell` are asked to do.
struct ShellOptions: Equatable {
  /// What is done with the seeds.
  enum Task: Equatable {
    /// Explores them.
    case explore
    /// Tells the one that is first.
    case replay
    /// Explores them in this process, and writes what came of each for another process to read.
    case work
  }

  var task = Task.explore
  var seeds = 1_000
  var from: UInt64 = 1
  /// From one seed to the next one of this process.
  var stride: UInt64 = 1
  var jobs = Jobs.usualWidth
  var checkDeterminism = false
  /// A planted bug to find, or all of them.
  var plant: String?
  /// Where this process has its files; of `Task.work` only.
  var directory = ""

  private static let known = [
    "--shell", "--seeds", "--from", "--jobs", "--check-determinism", "--plant", "--seed",
  ]

  static func parse(_ arguments: [String], of command: String) -> Result<ShellOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments, of: command) }
  }

  private static func read(
    _ arguments: [String], of command: String
  ) throws(Command.UsageError) -> ShellOptions {
    var options = ShellOptions()
    if command == "replay" { options.task = .replay }
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch (argument, options.task) {
      case ("--shell", _): continue
      case ("--plant", _): options.plant = try plant(try arguments.value(of: argument), options.task)
      case ("--seed", .replay): options.from = try arguments.number(of: argument)
      case ("--worker", .explore):
        options.task = .work
        options.directory = try arguments.value(of: argument)
      case ("--stride", .work): options.stride = try arguments.number(of: argument)
      case ("--seeds", .explore), ("--seeds", .work):
        options.seeds = try ExploreOptions.positive(argument, &arguments)
      case ("--from", .explore), ("--from", .work):
        options.from = try ExploreOptions.seed(try arguments.value(of: argument))
      case ("--jobs", .explore): options.jobs = try ExploreOptions.jobs(&arguments)
      case ("--check-determinism", .explore): options.checkDeterminism = true
      default:
        let nearest = Nearest.name(to: argument, in: known)
        throw Command.UsageError(message: "\(command) --shell has no option '\(argument)'\(nearest)")
      }
    }
    if options.checkDeterminism, options.plant != nil {
      throw Command.UsageError(message: "--plant and --check-determinism do not go together")
    }
    guard options.task != .explore || options.from <= UInt64(Int64.max) - UInt64(options.seeds) else {
      throw Command.UsageError(message: "there are not so many seeds from \(options.from) on")
    }
    return options
  }

  private static func plant(_ name: String, _ task: Task) throws(Command.UsageError) -> String {
    if name == "all", task == .explore { return name }
    let plant: ShellPlant = try ExploreOptions.named(name, "planted bug of the shell")
    return plant.rawValue
  }
}
