import BackendConformance
import Bench
import Fleet
import PurchaseSyncTesting

/// Every command that people call.
extension CommandHelp {
  static let all: [CommandHelp] =
    [run, compare, crashMatrix, crashImages, explore, replay, fleet, scenarios] + [
      serve, conformance, inspect, decode, bench,
    ]

  private static let undecided = "\n  75   no promise was broken, but a run ran out of time"

  private static let run = CommandHelp(
    name: "run", arguments: "NAME…|FILE.json…|--all [options]",
    summary: "play scenarios with one client, a row each",
    options: RunOptions.table.help,
    more: """
      A name that ends in .json, or has a / in it, is a file with a scenario; - is
      standard input. See help scenario-file.
      """,
    examples: [
      "run --all", "run reinstall crash-loop -v", "run --all --chaos --seed 7",
      "run --all --specification",
      "run mine.json --client keychain-list --report mine.html",
    ],
    exits: """
        1    the engine lost, doubled or misplaced something, left it stuck, or missed
             what the scenario expects, or the specification refused a step
        65   FILE is no scenario: the line, the path and what was expected are printed
      """ + undecided,
    parse: { RunOptions.parse($0).map(Command.run) })

  private static let compare = CommandHelp(
    name: "compare", arguments: "[NAME…|FILE.json…] [options]",
    summary: "play scenarios with every client, and count what each loses",
    options: CompareOptions.table.help,
    more: "CLIENTS\n"
      + Client.allCases.map { "  " + Table.pad($0.rawValue, 17) + $0.summary }
      .joined(separator: "\n"),
    examples: ["compare", "compare reinstall backend-outage", "compare --report out.html", "compare --json"],
    exits: "  1    the engine's column is not clean; the others promise nothing" + undecided,
    parse: { CompareOptions.parse($0).map(Command.compare) })

  private static let crashMatrix = CommandHelp(
    name: "crash-matrix", arguments: "[options]",
    summary: "kill app and backend at every checkpoint",
    options: MatrixOptions.table.help,
    examples: [
      "crash-matrix", "crash-matrix --list", "crash-matrix --scenario update --hits 1",
      "crash-matrix --cell update/settle.committed:1/reinstall", "crash-matrix --specification",
    ],
    exits: """
        1    a cell lost, doubled or misplaced something, was left unfinished, or the
             specification refused a step
      """ + undecided,
    parse: { MatrixOptions.parse($0).map(Command.crashMatrix) })

  private static let crashImages = CommandHelp(
    name: "crash-images", arguments: "[options]",
    summary: "cut the power after every write, and open each possible disk",
    options: CrashImagesOptions.table.help,
    examples: [
      "crash-images", "crash-images --depth 3 --json", "crash-images --only enqueue,settle",
      "crash-images --damage --from $(git rev-parse HEAD)",
    ],
    exits: "  1    something was lost, or a control lost nothing",
    parse: { CrashImagesOptions.parse($0).map(Command.crashImages) })

  private static let explore = CommandHelp(
    name: "explore", arguments: "[options]",
    summary: "run seeded simulations and check every invariant",
    options: ExploreOptions.table.help,
    examples: [
      "explore --seeds 10000", "explore --minutes 60 --report out.html", "explore --plant all",
      "explore --exhaustive", "explore --engine --seeds 2000", "explore --storage sqlite --seeds 100",
      "explore --check-determinism --from $(git rev-parse HEAD)",
      "explore --guided --corpus inputs --report out.html", "explore --guided --compare --seeds 5000",
    ],
    exits: """
        1    an invariant is broken, or was exercised too rarely; a mark was not hit;
             a planted bug was not found, or breaks nothing; two runs differ; the
             guided search is not better than the random one
       70    it could not be done: no folder for the page or the scenarios
      """,
    parse: { ExploreOptions.parse($0).map(Command.explore) })

  private static let replay = CommandHelp(
    name: "replay", arguments: "[options]",
    summary: "trace one run of explore, or explain why it failed",
    options: ReplayOptions.table.help,
    examples: [
      "replay --seed 7 --profile swarm", "replay --engine --seed 7", "replay --input failing.json",
      "replay --why --seed 1 --plant doubleSend --report why.html",
      "replay --why --plant all",
    ],
    exits: """
        1    an invariant is broken in it; fewer than 90 of 100 planted bugs are
             explained, or one takes more than 30 s
       65   FILE is no input: the reason is printed
       70    it could not be done: the page could not be written
      """,
    parse: { ReplayOptions.parse($0).map(Command.replay) })

  private static let fleet = CommandHelp(
    name: "fleet", arguments: "[options]",
    summary: "show what retry policies do to a backend that comes back",
    options: FleetOptions.table.help,
    more: "POLICIES\n" + rows(FleetPolicyName.allCases.map { ($0.rawValue, $0.summary) }),
    examples: [
      "fleet --devices 1000000 --outage 4h --capacity 2000",
      "fleet --policy engine --policy exponential --clocks aligned",
      "fleet --advise --devices 50000 --capacity 100", "fleet --experiments",
      "fleet --whole --devices 10000 --capacity 20",
    ],
    exits: "  1    with --experiments or --whole: a figure does not agree",
    parse: { FleetOptions.parse($0).map(Command.fleet) })

  private static let scenarios = CommandHelp(
    name: "scenarios", arguments: "[--long | --json | --show NAME]",
    summary: "list the scenarios, a line each", options: ScenariosOptions.table.help,
    examples: ["scenarios", "scenarios --long", "scenarios --show reinstall > reinstall.json"],
    parse: { ScenariosOptions.parse($0).map(Command.scenarios) })

  /// Names with their texts, aligned, within 80 columns.
  private static func rows(_ rows: [(name: String, text: String)]) -> String {
    let width = 4 + (rows.map(\.name.count).max() ?? 0)
    return rows.flatMap { name, text in
      WrappedText.lines(text, width: 80 - width).enumerated().map { number, line in
        Table.pad(number == 0 ? "  " + name : "", width) + line
      }
    }.joined(separator: "\n")
  }

  private static let serve = CommandHelp(
    name: "serve", arguments: "[options]",
    summary: "run a mock App Store and backend for an app under development",
    options: ServeOptions.table.help,
    more: "BROKEN BACKENDS\n" + rows(BrokenBackend.allCases.map { ($0.rawValue, $0.summary) }),
    examples: [
      "serve", "serve --port 0 --json", "serve --speed 1000 --faults plan.json",
      "serve --broken double-grant",
    ],
    parse: { ServeOptions.parse($0).map(Command.serve) })

  private static let conformance = CommandHelp(
    name: "conformance", arguments: "[options]",
    summary: "check a backend against the wire protocol",
    options: ConformanceOptions.table.help,
    more: "GROUPS\n"
      + rows(
        ConformanceGroup.allCases.map { group in
          let names = ConformanceCheck.all.filter { $0.group == group }.map(\.name)
          return (group.rawValue, group.summary + ": " + names.joined(separator: ", "))
        }),
    examples: [
      "conformance --backend https://staging.example.com", "conformance --group refunds --junit out.xml",
      "conformance --restart ./restart-backend.sh", "conformance --concurrent 16",
      "conformance --random 100000",
    ],
    exits: """
        1    a check failed, or a history cannot be: requests and answers are printed
        75   no check failed, and some could not be made without a store, or none was
             made
      """,
    parse: { ConformanceOptions.parse($0).map(Command.conformance) })

  private static let inspect = CommandHelp(
    name: "inspect", arguments: "FILE [--case ID | --order NUMBER] [--json]",
    summary: "print a queue's file; changes nothing, also while an app uses it",
    options: InspectOptions.table.help,
    examples: ["inspect queue.sqlite", "inspect queue.sqlite --order order-1"],
    exits: "  1    the queue has no such entry or order\n  65   FILE is no queue, or is damaged",
    parse: { InspectOptions.parse($0).map(Command.inspect) })

  private static let decode = CommandHelp(
    name: "decode", arguments: "FILE|- [--json] [--at MOMENT]",
    summary: "print the content of a receipt, JWS, answer or notification",
    options: DecodeOptions.table.help,
    examples: ["decode receipt.der", "decode - --json < answer.json"],
    parse: { DecodeOptions.parse($0).map(Command.decode) })

  private static let bench = CommandHelp(
    name: "bench", arguments: "NAME [options]",
    summary: "measure a part against its bars",
    options: BenchCommand.table(usesDisk: true).help,
    more: "NAMES\n" + Benchmark.all.map { "  " + Table.pad($0.name, 9) + $0.summary }.joined(separator: "\n"),
    examples: ["bench queue --quick", "bench serve --check"],
    parse: { BenchCommand.parse($0).map(Command.bench) })
}
