import CommandLineTools
import ScenarioFormat

/// `scenarios`: lists the built-in scenarios, or prints one as a file.
struct ScenariosCommand {
  let options: ScenariosOptions

  func execute() -> Int32 {
    do {
      switch options.form {
      case .show(let scenario): Terminal.text(try ScenarioFile.text(of: scenario))
      case .json:
        for scenario in Scenario.all { Terminal.line(ScenarioText.oneLine(try scenario.fileValue())) }
      case .long: for scenario in Scenario.all { Terminal.line(Self.long(scenario)) }
      case .short:
        for scenario in Scenario.all { Terminal.line(Table.pad(scenario.name, 32) + scenario.summary) }
      }
      return ExitCode.ok
    } catch {
      Terminal.complain("a scenario could not be written: \(error)")
      return ExitCode.internal
    }
  }

  private static func long(_ scenario: Scenario) -> String {
    """
    \(Terminal.coloured(scenario.name, .bold))
      \(scenario.summary)
    \(WrappedText.lines(scenario.description, width: 76).map { "  " + $0 }.joined(separator: "\n"))
      Attacks: \(scenario.attacks)
      Proves:  \(scenario.proves.joined(separator: ", "))

    """
  }
}

/// The options of `scenarios`.
struct ScenariosOptions: Equatable, CommandOptions {
  static let command = "scenarios"

  enum Form: Equatable {
    case short, long, json
    case show(Scenario)
  }

  var form = Form.short

  static var table: OptionTable<Self> {
    OptionTable([
      OptionTable.Row(name: "--long", help: "what happens, what it attacks, and what it proves") {
        options, _ in
        options.form = .long
      },
      OptionTable.Row(name: "--json", help: "one scenario per line") { options, _ in options.form = .json },
      .value("--show", of: "NAME", "as a file for run") { $0.form = .show(try Scenario.named($1)) },
    ])
  }
}
