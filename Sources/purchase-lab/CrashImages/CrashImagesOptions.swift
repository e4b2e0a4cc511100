import CommandLineTools

/// The options of `crash-images`.
struct CrashImagesOptions: Equatable, CommandOptions {
  static let command = "crash-images"

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
  /// An image, or a run with a fault, to show.
  var replay: ImageAddress?
  /// Whether operations of the disk fail as well.
  var hasFaults = true
  /// Damaged files instead of power cuts.
  var isDamage = false
  /// How many cases of damage are drawn.
  var cases = 20_000
  /// Every case of damage.
  var allCases = false
  /// One case of damage.
  var damageCase: String?

  static var table: OptionTable<Self> {
    OptionTable([
      Row(
        name: "--depth", argument: "N", help: "up to so many operations in a row: 1, 2 or 3 (default: 2)"
      ) {
        $0.depth = try $1.number(of: "--depth")
        guard (1...3).contains($0.depth) else { throw UsageError(message: "--depth is 1, 2 or 3") }
      },
      .number(
        "--seed", \.seed, "where sampled images and SQLite's random numbers start from (default: 1)"),
      .number("--cap", \.cap, in: 2...1_000_000, "at most so many states at one place (default: 160)"),
      .number("--jobs", \.jobs, in: 1...64, "so many worker processes (default: one a core)"),
      .value(
        "--only", of: "WORKLOAD", "this sequence alone, such as enqueue,settle; may be given again"
      ) { $0.only.append(try .named($1)) },
      Row(name: "--no-faults", help: "power cuts only, no failing disk") { options, _ in
        options.hasFaults = false
      },
      .value(
        "--replay", of: "IMAGE",
        "one image or fault, as a failure prints it, with what leads to it; takes --seed"
      ) { $0.replay = try .parse($1) },
      .flag("--json", \.json, "one document"),
      .flag(
        "--damage", \.isDamage,
        "instead: each bit flipped, each page zeroed, repeated, swapped or cut, and the queue opened"),
      .number("--cases", \.cases, in: 1...10_000_000, "so many cases of damage, drawn (default: 20000)"),
      .flag("--all", \.allCases, "every case of damage"),
      .value("--from", of: "N", "with --damage: the seed, or a commit of 40 hexadecimal digits") {
        $0.seed = try ExploreOptions.seed($1)
      },
      .value("--case", of: "CASE", "one case of damage, as a failure prints it") {
        $0.damageCase = try DamageCase.named($1).name
      },
    ])
  }
  private typealias Row = OptionTable<Self>.Row

  static let apart = [
    ("--only", ["--depth"]),
    ("--damage", ["--only", "--depth", "--cap", "--replay", "--no-faults"]),
    ("--all", ["--cases", "--case"]),
    ("--from", ["--seed"]),
    ("--replay", ["--only", "--depth", "--cap", "--jobs", "--no-faults", "--json"]),
  ]

  mutating func complete() throws {
    only = only.unique
    guard !isDamage, allCases || damageCase != nil else { return }
    throw UsageError(message: "--all and --case need --damage")
  }

  var workloads: [ImageWorkload] { only.isEmpty ? ImageWorkload.all(depth: depth) : only }
}

/// The options of the hidden `crash-images-worker`. Standard input holds the names of the workloads, a line each.
struct CrashImagesWorkerOptions: Equatable, CommandOptions {
  static let command = "crash-images-worker"

  var seed: UInt64 = 1
  var cap = 160
  var hasFaults = true

  static var table: OptionTable<Self> {
    OptionTable([
      .number("--seed", \.seed), .number("--cap", \.cap),
      OptionTable<Self>.Row(name: "--no-faults") { options, _ in options.hasFaults = false },
    ])
  }
}
