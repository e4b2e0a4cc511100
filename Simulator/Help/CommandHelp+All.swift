/// Every command that people call.
extension CommandHelp {
  static let all: [CommandHelp] =
    [run, compare, crashMatrix, crashImages, explore, replay, scenarios, story] + [
      serve, conformance, inspect, decode, bench,
    ]

  private static let run = CommandHelp(
    name: "run", arguments: "NAME…|--all [options]",
    summary: "play scenarios with one client, a row each",
    options: """
        --all           all scenarios
        --client NAME   who handles the purchases (default: engine); see compare
        --chaos         SIGKILL the app at moments drawn from the seed as well
      \(RunSettings.help)
      """,
    examples: [
      "run --all", "run reinstall crash-loop -v", "run --all --chaos --seed 7",
      "run --all --client fire-and-forget --report naive.html",
    ], exits: "  1    the engine lost, doubled or misplaced something, or left it stuck",
    parse: {
      RunOptions.parse($0).map(Command.run)
    })

  private static let compare = CommandHelp(
    name: "compare", arguments: "[NAME…] [options]",
    summary: "play scenarios with every client: what each of them loses",
    options: """
        --client NAME   only this client; may be given again
      \(RunSettings.help)

      CLIENTS
      \(Client.allCases.map { "  " + Table.pad($0.rawValue, 17) + $0.summary }.joined(separator: "\n"))
      """,
    examples: ["compare", "compare reinstall backend-outage", "compare --report out.html", "compare --json"],
    exits: "  1    the engine's column is not clean; the others promise nothing",
    parse: {
      CompareOptions.parse($0).map(Command.compare)
    })

  private static let crashMatrix = CommandHelp(
    name: "crash-matrix", arguments: "[options]",
    summary: "kill app and backend at every boundary there is",
    options: """
        --list          the failpoints, and do nothing
        --scenario S    only this scenario of the matrix; may be given again
        --hits N        the first N passages of each failpoint (default: 3)
        --cell NAME     one cell alone: SCENARIO/FAILPOINT:HIT/FATE
      \(RunSettings.help)
      """,
    examples: [
      "crash-matrix", "crash-matrix --list", "crash-matrix --scenario update --hits 1",
      "crash-matrix --cell update/settle.committed:1/reinstall",
    ], exits: "  1    a cell lost, doubled or misplaced something, or never came to its end",
    parse: {
      MatrixOptions.parse($0).map(Command.crashMatrix)
    })

  private static let crashImages = CommandHelp(
    name: "crash-images", arguments: "[options]",
    summary: "cut the power after every write, and open what can be left",
    options: """
        --depth N         up to so many operations in a row: 1, 2 or 3 (default: 2)
        --seed N          what sampled images and SQLite's random numbers follow from
                          (default: 1)
        --cap N           at most so many states at one place (default: 160)
        --jobs N          so many worker processes (default: one a core)
        --only WORKLOAD   this sequence alone, such as enqueue,settle; may be given
                          again
        --no-faults       power cuts only, no failing disk
        --replay IMAGE    one image or fault, as a failure prints it, with what leads
                          to it; takes --seed
        --json            one document
      """, examples: ["crash-images", "crash-images --depth 3 --json", "crash-images --only enqueue,settle"],
    exits: "  1    something was lost, or a control lost nothing",
    parse: { CrashImagesOptions.parse($0).map(Command.crashImages) })

  private static let explore = CommandHelp(
    name: "explore", arguments: "[options]",
    summary: "live many lives of a purchase, and hold each to the invariants",
    options: """
        --seeds N             so many lives (default: 1000)
        --from N              the first one's seed (default: 1); a commit's 40
                              hexadecimal digits are a number too: its first 15
        --profile NAME        calm, network, crash, accounts, subscriptions, store or
                              swarm (default)
        --storage KIND        memory (default), or sqlite: the real queue
        --jobs N              threads (default: one per core)
        --minutes N           as many lives as fit into that time
        --failures N          no new life after so many that broke an invariant
                              (default: 100)
        --report FILE         a page with the verdict, what was seen how often, and
                              the failures
        --stories DIR         each of the first failures as a file for story
        --plant NAME|all      plant this bug, and find it in so many lives of one
                              profile after the other, or of --profile alone; all:
                              each of them, and each invariant has to be broken by
                              one
        --check-determinism   every life twice, in two processes; the first random
                              number that differs is named
        --json                one JSON document
        --shell               the real engine with its tasks, on one run queue; takes
                              --seeds, --from, --jobs (processes), --plant and
                              --check-determinism
      """,
    examples: [
      "explore --seeds 10000", "explore --minutes 60 --report out.html", "explore --plant all",
      "explore --storage sqlite --seeds 100", "explore --check-determinism --from $(git rev-parse HEAD)",
    ],
    exits: """
        1    an invariant is broken, or was exercised too rarely; a mark was not hit;
             a planted bug was not found, or breaks nothing; two runs differ
       70    it could not be done: no folder for the page or the stories
      """,
    parse: {
      $0.contains("--shell")
        ? ShellOptions.parse($0, of: "explore").map(Command.shell)
        : ExploreOptions.parse($0).map(Command.explore)
    })

  private static let replay = CommandHelp(
    name: "replay", arguments: "[options]",
    summary: "tell one life of explore again; a failure prints how",
    options: """
        --seed N          which life (default: 1)
        --profile NAME, --storage KIND, --plant NAME   as in explore
        --keep PLACES     only these acts of it, as a failure prints them, or none
        --stop-at N       up to this event
        --shell           a life of explore --shell; takes --seed and --plant
      """, examples: ["replay --seed 7 --profile swarm"],
    exits: "  1    an invariant is broken in it",
    parse: {
      $0.contains("--shell")
        ? ShellOptions.parse($0, of: "replay").map(Command.shell)
        : ReplayOptions.parse($0).map(Command.replay)
    })

  private static let scenarios = CommandHelp(
    name: "scenarios", arguments: "[--long | --json | --show NAME]",
    summary: "list the scenarios, a line each",
    options: """
        --long        the story, what it attacks, and what it proves
        --json        one story per line
        --show NAME   as the file of a story
      """,
    examples: ["scenarios", "scenarios --long", "scenarios --show reinstall > reinstall.json"],
    parse: {
      ScenariosOptions.parse($0).map(Command.scenarios)
    })

  private static let story = CommandHelp(
    name: "story", arguments: "FILE|- [options]",
    summary: "play a scenario that somebody wrote, in JSON",
    options: """
        --client NAME   who handles the purchases (default: engine); see compare
      \(RunSettings.help)

      \(StorySchema.text)
      """,
    examples: [
      "scenarios --show reinstall > mine.json", "story mine.json",
      "story mine.json --client keychain-list --report mine.html",
    ],
    exits:
      "  1    the engine broke a promise, or what the story expects did not come\n  65   FILE is no story: the line, the path and what was expected are said",
    parse: { StoryOptions.parse($0).map(Command.story) })

  private static let serve = CommandHelp(
    name: "serve", arguments: "[options]",
    summary: "a mock App Store and backend for an app under development",
    options: """
        --port P          listen there; 0 for a free port (default: 8080)
        --host ADDRESS    not only on 127.0.0.1: whoever reaches it can pay and grant
        --database FILE   the backend's file; one from an earlier run is continued
                          (default: a new one, removed)
        --faults FILE     what goes wrong, as JSON; the status page can change it
        --speed X         the world's clock goes so much faster (default: 1)
        --seed N          what tokens and transaction ids follow from (default: 1)
        --broken KIND     a backend with a bug: double-grant, bare-200 or forgets
        --json            the addresses as one JSON document
      """, examples: ["serve", "serve --port 0 --json", "serve --speed 1000 --faults plan.json"],
    parse: { ServeOptions.parse($0).map(Command.serve) })

  private static let conformance = CommandHelp(
    name: "conformance", arguments: "[options]",
    summary: "hold a backend to the wire protocol",
    options: """
        --backend URL     the backend (default: http://127.0.0.1:8080, which is serve)
        --token T         of one account (default: token-alice)
        --other-token T   of another (default: token-bob)
        --store URL       where paid proofs come from (default: the backend's URL
                          and /store)
        --json            one JSON document
        --random N        instead of the checks, N random requests after the OpenAPI
                          document: none may be a 5xx
        --seed N          what they follow from (default: 1)
      """,
    examples: ["conformance --backend https://staging.example.com", "conformance --random 100000"],
    parse: { ConformanceOptions.parse($0).map(Command.conformance) })

  private static let inspect = CommandHelp(
    name: "inspect", arguments: "FILE [--case ID | --order NUMBER] [--json]",
    summary: "what is in a queue's file; changes nothing, also beside an app",
    options: """
        --case ID       the history of one entry: its key, or what follows the slash
        --order NUMBER  the histories of the entries of one order
        --json          one document
      """, examples: ["inspect queue.sqlite", "inspect queue.sqlite --order order-1"],
    parse: { InspectOptions.parse($0).map(Command.inspect) })

  private static let decode = CommandHelp(
    name: "decode", arguments: "FILE|- [--json] [--at MOMENT]",
    summary: "what a receipt, a JWS, an answer or a notification says",
    options: """
        --json          one document
        --at MOMENT     judge subscriptions as of then, such as 2026-11-21T08:00:00Z
                        (default: now)
      """, examples: ["decode receipt.der", "pbpaste | purchase-simulator decode - --json"],
    parse: { DecodeOptions.parse($0).map(Command.decode) })

  private static let bench = CommandHelp(
    name: "bench", arguments: "NAME [options]",
    summary: "measure a part against its bars",
    options: """
        --quick         fewer repetitions: a look, not a verdict
        --check         exit with 1 when a bar is missed
        --json          one JSON document
        --only N        this bar alone; may be given again
        --directory DIR the disk to measure on (default: the current directory)

      NAMES
      \(Bench.all.map { "  " + Table.pad($0.name, 9) + $0.summary }.joined(separator: "\n"))
      """, examples: ["bench queue --quick", "bench serve --check"],
    parse: { BenchOptions.parse($0).map(Command.bench) })
}
