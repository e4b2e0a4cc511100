import Bench
import CommandLineTools
import Fleet

/// Every command that people call.
extension CommandHelp<Command> {
  static var explore: Self {
    Self(
      name: "explore", arguments: "[options]",
      summary: "run seeded simulations and check every invariant",
      options: ExploreOptions.table.help,
      examples: [
        "explore --seeds 10000", "explore --seconds 3600 --report out.html", "explore --plant all",
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
  }

  static var replay: Self {
    Self(
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
  }

  static var crashImages: Self {
    Self(
      name: "crash-images", arguments: "[options]",
      summary: "cut the power after every write, and open each possible disk",
      options: CrashImagesOptions.table.help,
      examples: [
        "crash-images", "crash-images --depth 3 --json", "crash-images --only enqueue,settle",
        "crash-images --damage --from $(git rev-parse HEAD)",
      ],
      exits: "  1    something was lost, or a control lost nothing",
      parse: { CrashImagesOptions.parse($0).map(Command.crashImages) })
  }

  static var brokenBackends: Self {
    Self(
      name: "broken-backends", arguments: "[options]",
      summary: "run all checks against each backend that is broken on purpose",
      options: BrokenBackendsCommand.table.help,
      examples: [
        "broken-backends", "broken-backends --only double-grant,race-order",
        "broken-backends --sample 40 --from $(git rev-parse HEAD)",
      ],
      exits: """
          1    a check that is about a bug passes, or one fails that the table does not
               name, or one fails a backend that is right
        """,
      parse: { BrokenBackendsCommand.parse($0).map(Command.brokenBackends) })
  }

  static var fleet: Self {
    Self(
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
  }

  static var bench: Self {
    Self(
      name: "bench", arguments: "NAME [options]",
      summary: "measure a part against its bars",
      options: BenchCommand.table(usesDisk: true).help,
      more: "NAMES\n"
        + Benchmark.all.map { "  " + Table.pad($0.name, 9) + $0.summary }.joined(separator: "\n"),
      examples: ["bench queue --quick", "bench serve --check"],
      parse: { BenchCommand.parse($0).map(Command.bench) })
  }
}
