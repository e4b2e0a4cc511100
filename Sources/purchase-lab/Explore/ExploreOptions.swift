import CommandLineTools
import Exploration

/// The options of `explore`.
struct ExploreOptions: Equatable, CommandOptions {
  static let command = "explore"

  /// The number of runs; nil for the usual one.
  var ownSeeds: Int?
  /// Bugs that few runs can show need more of them.
  var seeds: Int { ownSeeds ?? (choice.bug == nil ? 1_000 : 3_000) }
  var from: UInt64 = 1
  /// The planted bug of the choice may be "all".
  var choice = SimulationChoice()
  /// Whether the command line names the profile: the search for a planted bug then uses no other.
  var hasOwnProfile = false
  /// Threads, or processes of the engine; 0 for one per core.
  var jobs = 0
  /// As many runs as that time allows, instead of a number of them.
  var seconds: Int?
  /// No new run begins after so many that broke an invariant.
  var failures = 100
  var json = false
  /// Every state of a small world, and no seeds.
  var isExhaustive = false
  /// Of the exhaustive search: how much memory its table may take.
  var mostBytes = 8 << 30
  var checkDeterminism = false
  /// The search prefers what it has not seen.
  var isGuided = false
  /// The guided search next to the random one.
  var compares = false
  /// The folder of the inputs that earlier searches kept.
  var corpus: String?
  /// Whether nothing is added to it.
  var readsOnly = false
  /// Where the inputs of failing runs go.
  var failing: String?
  /// The file of the page.
  var report: String?
  /// The directory of the failures' scenario files.
  var scenarios: String?

  var limits: ExploreLimits {
    ExploreLimits(
      from: from, seeds: seconds == nil ? UInt64(seeds) : nil, seconds: seconds.map(Double.init),
      failures: failures)
  }

  static var table: OptionTable<Self> {
    let many = 1...1_000_000_000
    return OptionTable(
      [
        .number(
          "--seeds", \.ownSeeds, in: many,
          "the number of runs (default: 1000; 3000 to look for a planted bug)"),
        .value(
          "--from", of: "N",
          "the first seed (default: 1); the 40 hexadecimal digits of a commit are a number too: the first 15 "
            + "count"
        ) { $0.from = try seed($1) },
      ] + SimulationChoice.rows(\.choice, hasOwnProfile: \.hasOwnProfile) + [
        .number("--jobs", \.jobs, in: 1...64, "threads, or processes of the engine (default: one per core)"),
        .number("--seconds", \.seconds, in: many, "as many runs as that time allows"),
        .number(
          "--failures", \.failures, in: many,
          "no new run after so many that broke an invariant (default: 100)"),
        .path("--report", \.report, of: "FILE", "a page with the verdict, the counts and the failures"),
        .path("--scenarios", \.scenarios, of: "DIR", "the first failures as scenario files"),
        .flag(
          "--check-determinism", \.checkDeterminism,
          "every run twice, in two processes; the first random number that differs is named"),
        .flag(
          "--guided", \.isGuided,
          "after 48 random runs, mostly change the inputs that showed what is rare; not with --engine"),
        .path(
          "--corpus", \.corpus, of: "DIR", "with --guided: begin with its inputs, and add the best ones"),
        .flag("--read-only", \.readsOnly, "add nothing to the corpus"),
        .path(
          "--failing", \.failing, of: "DIR", "with --guided: for the inputs of failing runs (default: here)"),
        .flag(
          "--compare", \.compares,
          "with --guided: the random search and this one, at equal processor time"),
        .flag(
          "--exhaustive", \.isExhaustive,
          "every state of a small world instead of seeds; its --plant has bugs of its own"),
        .flag("--json", \.json, "one JSON document"),
      ])
  }

  static let apart =
    [
      ("--seconds", ["--seeds"]),
      (
        "--exhaustive",
        [
          "--seeds", "--from", "--engine", "--profile", "--storage", "--specification", "--jobs", "--seconds",
          "--failures", "--report", "--scenarios", "--check-determinism", "--guided",
        ]
      ),
      ("--plant", ["--seconds", "--failures", "--report", "--check-determinism"]),
      ("--check-determinism", ["--seconds", "--failures", "--report", "--scenarios", "--json"]),
      ("--guided", ["--engine", "--check-determinism", "--scenarios"]),
      (
        "--compare",
        ["--seconds", "--failures", "--report", "--plant", "--specification", "--corpus", "--jobs"]
      ),
    ] + SimulationChoice.apart

  func complete() throws {
    let names = isExhaustive ? ExhaustiveBug.allCases.map(\.rawValue) : nil
    try choice.checkBug(allowsAll: !isGuided, among: names)
    let needing = [
      ("--corpus", corpus != nil), ("--failing", failing != nil), ("--compare", compares),
    ]
    if !isGuided, let (name, _) = needing.first(where: \.1) {
      throw UsageError(
        message: "\(name) needs --guided, such as explore --guided --corpus inputs")
    }
    if readsOnly, corpus == nil {
      throw UsageError(
        message: "--read-only needs a corpus, such as explore --guided --corpus inputs --read-only")
    }
  }

  /// A number, or a commit: the first 15 of its 40 hexadecimal digits are one.
  static func seed(_ text: String) throws(UsageError) -> UInt64 {
    let isCommit = text.utf8.count == 40 && text.allSatisfy(\.isHexDigit)
    // Half of all numbers, so that the seeds after it exist.
    guard let seed = isCommit ? UInt64(text.prefix(15), radix: 16) : UInt64(text), seed <= Int64.max else {
      throw UsageError(
        message: "--from needs a whole number, or a commit of 40 hexadecimal digits, not '\(text)'")
    }
    return seed
  }
}
