import CommandLineTools
import Exploration

/// The storage of the phones in the machine's simulation.
enum ExploredStorage: String, CaseIterable {
  /// A plain queue in memory.
  case memory
  /// The real queue, on a file in memory.
  case sqlite
}

/// Which simulation runs, and with which options. `explore`, `replay` and their child processes share these options.
struct SimulationChoice: Equatable, Sendable, CommandOptions {
  /// The hidden command whose options are those of a choice.
  static let command = "explore-worker"

  /// The real engine with its tasks; else the machine in virtual time.
  var isEngine = false
  var profile = SimulationProfile.swarm
  /// Of the machine's simulation only: the engine always has the real queue.
  var storage = ExploredStorage.memory
  /// The name of a planted bug.
  var bug: String?
  /// Whether the specification of the protocol judges each step too.
  var checksProtocol = false
  /// A planted bug of the simulation itself, for tests: see `DrawLog`.
  var hasOwnRandomness = false
  /// Where runs of the engine have their files.
  var directory = ""

  var catalogue: SimulationCatalogue { isEngine ? EngineRunner.catalogue : MachineRunner.catalogue }

  /// For reports: the engine's file is real.
  var storageName: String { isEngine ? ExploredStorage.sqlite.rawValue : storage.rawValue }

  static let apart = [("--engine", ["--storage"])]

  static var table: OptionTable<Self> {
    OptionTable(
      rows(\.self) + [
        .text("--directory", \.directory), .flag("--own-randomness", \.hasOwnRandomness),
      ])
  }

  /// - Parameter hasOwnProfile: Set where the profile is named.
  static func rows<Options>(
    _ path: WritableKeyPath<Options, SimulationChoice>, hasOwnProfile: WritableKeyPath<Options, Bool>? = nil
  ) -> [OptionTable<Options>.Row] {
    [
      .flag(
        "--engine", path.appending(path: \.isEngine),
        "the real engine with its tasks, on one run queue (default: the machine in virtual time)"),
      .value(
        "--profile", of: "NAME",
        "calm, network, crash, accounts, subscriptions, store or swarm (default)"
      ) {
        $0[keyPath: path].profile = try .named($1, orSay: "there is no profile")
        if let hasOwnProfile { $0[keyPath: hasOwnProfile] = true }
      },
      .value(
        "--storage", of: "KIND", "memory (default), or sqlite: the real queue; not with --engine"
      ) { $0[keyPath: path].storage = try .named($1, orSay: "there is no storage") },
      .flag(
        "--specification", path.appending(path: \.checksProtocol),
        "the specification of the protocol judges each step too"),
      .text(
        "--plant", path.appending(path: \.bug), of: "NAME",
        "plant this bug; explore finds it in the seeds of one profile after the other, or of --profile "
          + "alone; its --plant all plants every bug, and some bug has to break each invariant"),
    ]
  }

  func complete() throws { try checkBug() }

  /// Call it after all options are read: `--engine` may follow `--plant`. `names`: those of another search.
  func checkBug(allowsAll: Bool = false, among names: [String]? = nil) throws(UsageError) {
    guard let bug, !allowsAll || bug != "all" else { return }
    let names = names ?? catalogue.bugs.map(\.name)
    guard !names.contains(bug) else { return }
    throw UsageError(message: "there is no planted bug '\(bug)'\(Nearest.name(to: bug, in: names))")
  }

  /// The options that choose the same again.
  var words: [String] {
    (isEngine ? ["--engine"] : []) + ["--profile", profile.rawValue]
      + (isEngine ? [] : ["--storage", storage.rawValue]) + (checksProtocol ? ["--specification"] : [])
      + (bug.map { ["--plant", $0] } ?? [])
  }

  // MARK: Running

  /// A runner for one thread. The engine runs in a child process: Swift's hook for jobs belongs to the process.
  func runner() -> any SimulationRunner { isEngine ? ChildRunner(self) : machineRunner }

  /// The runner of a process that has nothing else to do.
  func ownRunner() -> any SimulationRunner {
    guard isEngine else { return machineRunner }
    var runner = EngineRunner(
      below: directory, profile: profile, bug: bug.flatMap(EngineBug.init(rawValue:))
    ) { Interruption.shared.isAsked }
    runner.checksProtocol = checksProtocol
    return runner
  }

  /// The runner of one input of the machine's simulation; nil for that of the seeds.
  func runner(of input: MachineInput?) -> MachineRunner {
    var runner = machineRunner
    runner.input = input
    return runner
  }

  private var machineRunner: MachineRunner {
    var runner = MachineRunner(
      profile: profile, bug: bug.flatMap(MachineBug.init(rawValue:)), disks: ExploredDisks.maker(storage))
    runner.hasOwnRandomness = hasOwnRandomness
    runner.checksProtocol = checksProtocol
    return runner
  }

  /// Does something with a place for the engine's files.
  func withFiles<R>(_ body: (SimulationChoice) throws -> R) throws -> R {
    guard isEngine else {
      try ExploredDisks.prepare(storage)
      return try body(self)
    }
    let scratch = try Scratch(keep: nil)
    defer { scratch.end() }
    var choice = self
    choice.directory = scratch.directory
    return try body(choice)
  }
}
