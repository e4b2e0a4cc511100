import Foundation

/// What the command line asks for.
enum Command: Equatable {
  case help
  case scenarios
  case run(RunOptions)
  case inspect(InspectOptions)
  case decode(DecodeOptions)
  case app(AppOptions)
  case bench(BenchOptions)
  case benchLoad(BenchLoadOptions)
  case benchUpload(UploadLoad)
  case serve(ServeOptions)
  case conformance(ConformanceOptions)
  case explore(ExploreOptions)
  case replay(ReplayOptions)

  struct UsageError: Error, Equatable {
    var message: String
  }

  static let usage = """
    purchase-simulator: loses purchases the way apps do, and shows that the engine does not.

    USAGE
      purchase-simulator scenarios             list the scenarios, a line each
      purchase-simulator run NAME… [options]   run some of them
      purchase-simulator run --all [options]   run all of them
      purchase-simulator serve [options]       a mock App Store and backend for an app under development
      purchase-simulator conformance [options] hold a backend to the wire protocol
      purchase-simulator explore [options]     live many lives of a purchase, and hold each to the invariants
      purchase-simulator replay [options]      tell one of them again; a failure prints how
    \(Bench.usage)
      purchase-simulator inspect FILE [--case ID | --order NUMBER] [--json]
                                               what is in a queue's file; changes nothing, also beside an app
      purchase-simulator decode FILE|- [--json] [--at MOMENT]
                                               what a receipt, a JWS, an answer or a notification says

    OPTIONS OF run
      --client engine|fire-and-forget   who handles the purchase (default: engine)
      --seed N                          what random choices follow from (default: 1)
      --chaos                           SIGKILL the app at moments drawn from the seed as well
      --json                            one object per line
      --keep DIR                        keep each run's files below DIR

    OPTIONS OF serve
      --port P          listen there; 0 for a free port (default: 8080)
      --host ADDRESS    not only on 127.0.0.1: whoever reaches it can pay and grant
      --database FILE   the backend's file; one from an earlier run is continued (default: a new one, removed)
      --faults FILE     what goes wrong, as JSON; the status page can change it
      --speed X         the world's clock goes so much faster than the real one (default: 1)
      --seed N          what tokens and transaction ids follow from (default: 1)
      --broken KIND     a backend with a bug: double-grant, bare-200 or forgets

    OPTIONS OF conformance
      --backend URL     the backend (default: http://127.0.0.1:8080, which is serve)
      --token T         of one account (default: token-alice)
      --other-token T   of another (default: token-bob)
      --store URL       where paid proofs come from (default: the backend's URL and /store)
      --json            one JSON document
      --random N        instead of the checks, N random requests after the OpenAPI document: none may be a 5xx
      --seed N          what they follow from (default: 1)

    OPTIONS OF explore
      --seeds N             so many lives (default: 1000), from the one of --from N (default: 1)
      --profile NAME        calm, network, crash, accounts, subscriptions, store or swarm (default)
      --storage KIND        memory (default), or sqlite: the real queue
      --jobs N              threads (default: one per core)
      --minutes N           as many lives as fit into that time
      --plant NAME|all      plant this bug, and find it
      --check-determinism   every life twice, in two processes
      --json                one JSON document

    OPTIONS OF bench
      --quick                           fewer repetitions: a look, not a verdict
      --check                           exit with 1 when a bar is missed
      --json                            one JSON document
      --only N                          this bar alone; may be given again
      --directory DIR                   of bench queue: the disk to measure on (default: the current directory)

    OPTIONS OF inspect
      --case ID       the history of one entry: its key, or what follows the slash of its key
      --order NUMBER  the histories of the entries of one order
      --json          one document

    OPTIONS OF decode
      --json          one document
      --at MOMENT     judge subscriptions as of then, such as 2026-11-21T08:00:00Z (default: now)

    EXIT CODES
      0  every engine row is clean: paid = granted, and nothing lost, doubled or pending; or FILE is sound
      1  a promise was broken, or a bar missed; or FILE knows nothing of that ID or NUMBER
      64 wrong usage     65 FILE is not decodable, no queue, damaged, or a newer version's
      66 FILE cannot be read
      70 internal error     74 standard output cannot be written
    """

  static func parse(_ arguments: [String]) -> Result<Command, UsageError> {
    guard let name = arguments.first else { return .success(.help) }
    let rest = Array(arguments.dropFirst())
    switch name {
    case "--help", "-h", "help": return .success(.help)
    case "scenarios":
      guard rest.isEmpty else { return .failure(UsageError(message: "scenarios takes no arguments")) }
      return .success(.scenarios)
    case "run": return RunOptions.parse(rest).map(Command.run)
    case "inspect": return InspectOptions.parse(rest).map(Command.inspect)
    case "decode": return DecodeOptions.parse(rest).map(Command.decode)
    case "app": return AppOptions.parse(rest).map(Command.app)
    case "bench": return BenchOptions.parse(rest).map(Command.bench)
    case "bench-load": return BenchLoadOptions.parse(rest).map(Command.benchLoad)
    case "conformance": return ConformanceOptions.parse(rest).map(Command.conformance)
    case "serve": return ServeOptions.parse(rest).map(Command.serve)
    case "explore": return ExploreOptions.parse(rest).map(Command.explore)
    case "replay": return ReplayOptions.parse(rest).map(Command.replay)
    case "bench-upload": return UploadLoad.parse(rest).map(Command.benchUpload)
    default:
      let nearest = Nearest.name(
        to: name,
        in: [
          "scenarios", "run", "serve", "conformance", "bench", "inspect", "decode", "explore", "replay",
          "help",
        ])
      return .failure(UsageError(message: "there is no command '\(name)'\(nearest)"))
    }
  }

  func execute() async -> Int32 {
    switch self {
    case .help:
      Terminal.line(Self.usage)
      return ExitCode.ok
    case .scenarios:
      for scenario in Scenario.all { Terminal.line(Table.pad(scenario.name, 28) + scenario.summary) }
      return ExitCode.ok
    case .run(let options): return await RunCommand(options: options).execute()
    case .inspect(let options): return InspectCommand(options: options).execute()
    case .decode(let options): return DecodeCommand(options: options).execute()
    case .app(let options): return await SimulatedApp(options: options).execute()
    case .bench(let options): return await BenchCommand(options: options).execute()
    case .benchLoad(let options): return BenchLoad(options: options).execute()
    case .benchUpload(let load): return await load.execute()
    case .conformance(let options): return await ConformanceCommand(options: options).execute()
    case .explore(let options): return ExploreCommand(options: options).execute()
    case .replay(let options): return ReplayCommand(options: options).execute()
    case .serve(let options): return await ServeCommand(options: options).execute()
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
}

/// Suggests what somebody may have meant.
enum Nearest {
  static func name(to typed: String, in names: [String]) -> String {
    let scored = names.map { (name: $0, distance: distance(typed, $0)) }
    guard let best = scored.min(by: { $0.distance < $1.distance }), best.distance <= max(2, typed.count / 2)
    else { return "" }
    return "; did you mean '\(best.name)'?"
  }

  /// Insertions, deletions and replacements from one word to the other.
  static func distance(_ left: String, _ right: String) -> Int {
    let target = Array(right)
    var row = Array(0...target.count)
    for (i, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in target.indices {
        let replaced = diagonal + (target[j] == character ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[target.count]
  }
}
