import FaultInjection

/// What a phone's disk is in an exploration.
enum ExploredStorage: String, CaseIterable {
  /// A plain queue in memory.
  case memory
  /// The real queue, on a file in memory.
  case sqlite
}

/// What `explore` is asked to do.
struct ExploreOptions: Equatable {
  var seeds = 1_000
  var from: UInt64 = 1
  var profile = ExplorationProfile.swarm
  var storage = ExploredStorage.memory
  var jobs = 0
  var minutes: Int?
  var json = false
  var checkDeterminism = false
  /// A planted bug to find, or all of them.
  var plant: String?
  /// Of `--check-determinism`: the other process, which prints its hashes.
  var printsHashes = false

  private static let known = [
    "--seeds", "--from", "--profile", "--storage", "--jobs", "--minutes", "--json", "--check-determinism",
    "--plant",
  ]

  static func parse(_ arguments: [String]) -> Result<ExploreOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> ExploreOptions {
    var options = ExploreOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch argument {
      case "--seeds": options.seeds = try arguments.number(of: argument)
      case "--from": options.from = try arguments.number(of: argument)
      case "--profile": options.profile = try named(try arguments.value(of: argument), "profile")
      case "--storage": options.storage = try named(try arguments.value(of: argument), "storage")
      case "--jobs": options.jobs = try arguments.number(of: argument)
      case "--minutes": options.minutes = try arguments.number(of: argument)
      case "--json": options.json = true
      case "--check-determinism": options.checkDeterminism = true
      case "--print-hashes": options.printsHashes = true
      case "--plant": options.plant = try plant(try arguments.value(of: argument))
      default:
        let nearest = Nearest.name(to: argument, in: known)
        throw Command.UsageError(message: "explore has no option '\(argument)'\(nearest)")
      }
    }
    return options
  }

  static func named<Value: RawRepresentable & CaseIterable>(
    _ name: String, _ what: String
  ) throws(Command.UsageError) -> Value where Value.RawValue == String {
    guard let value = Value(rawValue: name) else {
      let nearest = Nearest.name(to: name, in: Value.allCases.map(\.rawValue))
      throw Command.UsageError(message: "there is no \(what) '\(name)'\(nearest)")
    }
    return value
  }

  private static func plant(_ name: String) throws(Command.UsageError) -> String {
    if name == "all" { return name }
    let plant: Plant = try named(name, "planted bug")
    return plant.rawValue
  }
}

/// What `replay` is asked to do.
struct ReplayOptions: Equatable {
  var seed: UInt64 = 1
  var profile = ExplorationProfile.swarm
  var storage = ExploredStorage.memory
  var plant: Plant?
  /// The places of the acts that are kept; nil for all.
  var keep: [Int]?
  var stopAt = Int.max

  static func parse(_ arguments: [String]) -> Result<ReplayOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> ReplayOptions {
    var options = ReplayOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch argument {
      case "--seed": options.seed = try arguments.number(of: argument)
      case "--profile":
        options.profile = try ExploreOptions.named(try arguments.value(of: argument), "profile")
      case "--storage":
        options.storage = try ExploreOptions.named(try arguments.value(of: argument), "storage")
      case "--plant":
        options.plant = try ExploreOptions.named(try arguments.value(of: argument), "planted bug")
      case "--keep": options.keep = try places(try arguments.value(of: argument))
      case "--stop-at": options.stopAt = try arguments.number(of: argument)
      default:
        let known = ["--seed", "--profile", "--storage", "--plant", "--keep", "--stop-at"]
        let nearest = Nearest.name(to: argument, in: known)
        throw Command.UsageError(message: "replay has no option '\(argument)'\(nearest)")
      }
    }
    return options
  }

  private static func places(_ text: String) throws(Command.UsageError) -> [Int] {
    var places: [Int] = []
    for word in text.split(separator: ",") where word != "none" {
      guard let place = Int(word) else {
        throw Command.UsageError(message: "--keep needs places of acts such as 3,17, not '\(word)'")
      }
      places.append(place)
    }
    return places
  }
}
