import BackendConformance
import CommandLineTools
import PurchaseSyncTesting

/// Every command that people call.
extension CommandHelp<Command> {
  private static var undecided: String { "\n  75   no promise was broken, but a run ran out of time" }

  static var run: Self {
    Self(
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
  }

  static var compare: Self {
    Self(
      name: "compare", arguments: "[NAME…|FILE.json…] [options]",
      summary: "play scenarios with every client, and count what each loses",
      options: CompareOptions.table.help,
      more: "CLIENTS\n"
        + Client.allCases.map { "  " + Table.pad($0.rawValue, 17) + $0.summary }
        .joined(separator: "\n"),
      examples: [
        "compare", "compare reinstall backend-outage", "compare --report out.html", "compare --json",
      ],
      exits: "  1    the engine's column is not clean; the others promise nothing" + undecided,
      parse: { CompareOptions.parse($0).map(Command.compare) })
  }

  static var crashMatrix: Self {
    Self(
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
  }

  static var scenarios: Self {
    Self(
      name: "scenarios", arguments: "[--long | --json | --show NAME]",
      summary: "list the scenarios, a line each", options: ScenariosOptions.table.help,
      examples: ["scenarios", "scenarios --long", "scenarios --show reinstall > reinstall.json"],
      parse: { ScenariosOptions.parse($0).map(Command.scenarios) })
  }

  static var serve: Self {
    Self(
      name: "serve", arguments: "[options]",
      summary: "run a mock App Store and backend for an app under development",
      options: ServeOptions.table.help,
      more: "BROKEN BACKENDS\n" + rows(BrokenBackend.allCases.map { ($0.rawValue, $0.summary) }),
      examples: [
        "serve", "serve --port 0 --json", "serve --speed 1000 --faults plan.json",
        "serve --broken double-grant",
      ],
      parse: { ServeOptions.parse($0).map(Command.serve) })
  }

  static var conformance: Self {
    Self(
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
  }

  static var inspect: Self {
    Self(
      name: "inspect", arguments: "FILE [--case ID | --order NUMBER] [--json]",
      summary: "print a queue's file; changes nothing, also while an app uses it",
      options: InspectOptions.table.help,
      examples: ["inspect queue.sqlite", "inspect queue.sqlite --order order-1"],
      exits: "  1    the queue has no such entry or order\n  65   FILE is no queue, or is damaged",
      parse: { InspectOptions.parse($0).map(Command.inspect) })
  }

  static var decode: Self {
    Self(
      name: "decode", arguments: "FILE|- [--json] [--at MOMENT]",
      summary: "print the content of a receipt, JWS, answer or notification",
      options: DecodeOptions.table.help,
      examples: ["decode receipt.der", "decode - --json < answer.json"],
      parse: { DecodeOptions.parse($0).map(Command.decode) })
  }
}
