/// A command as its users see it: a row of the table that `help` prints, and a page of its own.
struct CommandHelp: Sendable {
  var name: String
  /// What follows the name.
  var arguments: String
  var summary: String
  /// The options, aligned.
  var options: String
  /// More about the command, below its options.
  var more = ""
  /// Lines that can be typed.
  var examples: [String]
  /// The meaning of this command's own exit codes, in addition to the general ones.
  var exits = ""
  var parse: @Sendable ([String]) -> Result<Command, Command.UsageError>

  static func named(_ name: String) -> CommandHelp? { all.first { $0.name == name } }

  /// The page of a command or a topic; nil where there is none of that name.
  static func page(of name: String) -> String? {
    name == "scenario-file" ? ScenarioSchema.text : named(name)?.page
  }

  /// Prints the page of a command or a topic, or that of all commands.
  static func show(_ name: String?) -> Int32 {
    Terminal.line(name.flatMap(page) ?? overview)
    return ExitCode.ok
  }

  private static var overview: String {
    let width = 2 + (all.map(\.name.count).max() ?? 0)
    return """
      purchase-simulator: loses purchases the way apps do, and shows that the
      engine does not.

      COMMANDS
      \(all.map { "  " + Table.pad($0.name, width) + $0.summary }.joined(separator: "\n"))
        \(Table.pad("help", width))help COMMAND, or COMMAND --help: its options and examples;
        \(Table.pad("", width))help scenario-file: how to write a scenario

      EXAMPLES
        purchase-simulator run --all
        purchase-simulator compare --report compare.html

      \(exitCodes)
      """
  }

  var page: String {
    var parts = ["purchase-simulator \(name) \(arguments)\n\n\(Self.wrap(summary))"]
    if !options.isEmpty { parts.append("OPTIONS\n" + options) }
    if !more.isEmpty { parts.append(more) }
    parts.append("EXAMPLES\n" + examples.map { "  purchase-simulator " + $0 }.joined(separator: "\n"))
    if !exits.isEmpty { parts.append("EXIT CODES\n" + exits) }
    return parts.joined(separator: "\n\n")
  }

  private static func wrap(_ text: String) -> String {
    WrappedText.lines(text, width: 78).joined(separator: "\n")
  }

  static let exitCodes = """
    EXIT CODES
      0    every promise was kept
      1    a promise was broken, a bar missed, or no such entry in the queue
      64   wrong usage
      65   a file has the wrong content: no scenario, no queue, not decodable
      66   a file cannot be read
      70   it could not be done: a port in use, no space for files, no child process
      74   standard output could not be written
      75   undecided: a run ran out of time, so that nothing follows from it
      130  ended by Ctrl-C; 143 by a request to end
    """
}
