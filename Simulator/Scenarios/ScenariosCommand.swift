/// `scenarios`: what there is, in a line each, at length, or as the file of a story.
struct ScenariosCommand {
  let options: ScenariosOptions

  func execute() -> Int32 {
    do {
      switch options.form {
      case .show(let scenario): Terminal.text(try StoryFile.text(of: scenario))
      case .json:
        for scenario in Scenario.all { Terminal.line(try scenario.storyNode().written(width: .max)) }
      case .long: for scenario in Scenario.all { Terminal.line(Self.long(scenario)) }
      case .short:
        for scenario in Scenario.all { Terminal.line(Table.pad(scenario.name, 32) + scenario.summary) }
      }
      return ExitCode.ok
    } catch {
      Terminal.error("purchase-simulator: a scenario could not be written: \(error)")
      return ExitCode.internal
    }
  }

  private static func long(_ scenario: Scenario) -> String {
    """
    \(Terminal.coloured(scenario.name, .bold))
      \(scenario.summary)
    \(WrappedText.lines(scenario.story, width: 76).map { "  " + $0 }.joined(separator: "\n"))
      Attacks: \(scenario.attacks)
      Proves:  \(scenario.proves.joined(separator: ", "))

    """
  }
}

/// What `scenarios` is asked to do.
struct ScenariosOptions: Equatable {
  enum Form: Equatable {
    case short, long, json
    case show(Scenario)
  }

  var form = Form.short

  static func parse(_ arguments: [String]) -> Result<ScenariosOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in
      var options = ScenariosOptions()
      var arguments = Arguments(arguments)
      while let argument = arguments.next() {
        switch argument {
        case "--long": options.form = .long
        case "--json": options.form = .json
        case "--show": options.form = .show(try Scenario.named(try arguments.value(of: argument)))
        default:
          throw .unknownOption(argument, of: "scenarios", among: ["--long", "--json", "--show"])
        }
      }
      return options
    }
  }
}
