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
  /// Whether somebody asked for that profile: a planted bug is looked for in no other then.
  var hasOwnProfile = false
  var storage = ExploredStorage.memory
  /// Threads; 0 for one per core.
  var jobs = 0
  /// As many lives as fit into that, in place of a number of them.
  var minutes: Int?
  /// No new life begins after so many that broke an invariant.
  var failures = 100
  var json = false
  var checkDeterminism = false
  /// A planted bug to find, or all of them.
  var plant: String?
  /// Where the page goes.
  var report: String?
  /// Where the stories of what failed go.
  var stories: String?

  private static let known = [
    "--seeds", "--from", "--profile", "--storage", "--jobs", "--minutes", "--failures", "--json",
    "--check-determinism", "--plant", "--report", "--stories",
  ]

  var limits: ExploreLimits {
    ExploreLimits(
      from: from, seeds: minutes == nil ? UInt64(seeds) : nil, seconds: minutes.map { Double($0) * 60 },
      failures: failures)
  }

  static func parse(_ arguments: [String]) -> Result<ExploreOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> ExploreOptions {
    var options = ExploreOptions()
    var given: Set<String> = []
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      given.insert(argument)
      switch argument {
      case "--seeds": options.seeds = try positive(argument, &arguments)
      case "--from": options.from = try seed(try arguments.value(of: argument))
      case "--profile": options.profile = try named(try arguments.value(of: argument), "profile")
      case "--storage": options.storage = try named(try arguments.value(of: argument), "storage")
      case "--jobs":
        options.jobs = try jobs(&arguments)
      case "--minutes": options.minutes = try positive(argument, &arguments)
      case "--failures": options.failures = try positive(argument, &arguments)
      case "--json": options.json = true
      case "--check-determinism": options.checkDeterminism = true
      case "--plant": options.plant = try plant(try arguments.value(of: argument))
      case "--report": options.report = try arguments.path(of: argument)
      case "--stories": options.stories = try arguments.path(of: argument)
      default:
        let nearest = Nearest.name(to: argument, in: known)
        throw Command.UsageError(message: "explore has no option '\(argument)'\(nearest)")
      }
    }
    options.hasOwnProfile = given.contains("--profile")
    try check(given, apart)
    return options
  }

  /// - Parameter apart: Options, each with those that make no sense beside it.
  static func check(_ given: Set<String>, _ apart: [(String, [String])]) throws(Command.UsageError) {
    for (one, others) in apart where given.contains(one) {
      guard let other = others.first(where: given.contains) else { continue }
      throw Command.UsageError(message: "\(one) and \(other) do not go together")
    }
  }

  /// What has no sense together with what.
  private static let apart: [(String, [String])] = [
    ("--minutes", ["--seeds"]),
    ("--plant", ["--minutes", "--failures", "--report", "--check-determinism"]),
    ("--check-determinism", ["--minutes", "--failures", "--report", "--stories", "--json"]),
  ]

  /// The value of `--jobs`.
  static func jobs(_ arguments: inout Arguments) throws(Command.UsageError) -> Int {
    let jobs: Int = try arguments.number(of: "--jobs")
    guard (1...64).contains(jobs) else { throw Command.UsageError(message: "--jobs needs 1 to 64") }
    return jobs
  }

  static func positive(
    _ option: String, _ arguments: inout Arguments
  ) throws(Command.UsageError) -> Int {
    let number: Int = try arguments.number(of: option)
    guard (1...1_000_000_000).contains(number) else {
      throw Command.UsageError(message: "\(option) needs 1 to 1000000000")
    }
    return number
  }

  /// A number, or a commit: the first 15 of its 40 hexadecimal digits are one.
  static func seed(_ text: String) throws(Command.UsageError) -> UInt64 {
    let isCommit = text.utf8.count == 40 && text.allSatisfy(\.isHexDigit)
    // Half of all numbers: those that follow have room.
    guard let seed = isCommit ? UInt64(text.prefix(15), radix: 16) : UInt64(text), seed <= Int64.max else {
      throw Command.UsageError(
        message: "--from needs a whole number, or a commit of 40 hexadecimal digits, not '\(text)'")
    }
    return seed
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
