/// A command as its users see it: a row of the table that `help` prints, and a page of its own.
struct CommandHelp: Sendable {
  var name: String
  /// What follows the name.
  var arguments: String
  var summary: String
  /// The options, aligned.
  var options: String
  /// Lines that can be typed.
  var examples: [String]
  /// What it means when it does not end with 0, beyond the general ones.
  var exits = ""
  var parse: @Sendable ([String]) -> Result<Command, Command.UsageError>

  static func named(_ name: String) -> CommandHelp? { all.first { $0.name == name } }

  /// The page of one command, or of all.
  static func show(_ name: String?) -> Int32 {
    Terminal.line(name.flatMap(named)?.page ?? overview)
    return ExitCode.ok
  }

  private static var overview: String {
    let width = 2 + (all.map(\.name.count).max() ?? 0)
    return """
      purchase-simulator: loses purchases the way apps do, and shows that the
      engine does not.

      COMMANDS
      \(all.map { "  " + Table.pad($0.name, width) + $0.summary }.joined(separator: "\n"))
        \(Table.pad("help", width))help COMMAND, or COMMAND --help: its options and examples

      EXAMPLES
        purchase-simulator run --all
        purchase-simulator compare --report compare.html

      \(exitCodes)
      """
  }

  var page: String {
    var parts = ["purchase-simulator \(name) \(arguments)\n\n\(Self.wrap(summary))"]
    if !options.isEmpty { parts.append("OPTIONS\n" + options) }
    parts.append("EXAMPLES\n" + examples.map { "  purchase-simulator " + $0 }.joined(separator: "\n"))
    if !exits.isEmpty { parts.append("EXIT CODES\n" + exits) }
    return parts.joined(separator: "\n\n")
  }

  private static func wrap(_ text: String) -> String {
    WrappedText.lines(text, width: 78).joined(separator: "\n")
  }

  static let exitCodes = """
    EXIT CODES
      0    everything is as promised
      1    a promise was broken, a bar missed, or there is nothing of that name
      64   wrong usage
      65   a file that is not what it should be: no story, no queue, not decodable
      66   a file that cannot be read
      70   it could not be done: a port in use, no room for files, no child process
      74   standard output could not be written
      130  ended by Ctrl-C; 143 by a request to end
    """
}
