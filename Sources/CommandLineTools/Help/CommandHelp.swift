/// A command as its users see it: a row of the table that `help` prints, and a page of its own.
package struct CommandHelp<Command: ProgramCommand>: Sendable {
  package var name: String
  /// What follows the name.
  package var arguments: String
  package var summary: String
  /// The options, aligned.
  package var options: String
  /// More about the command, below its options.
  package var more: String
  /// Lines that can be typed.
  package var examples: [String]
  /// The meaning of this command's own exit codes, in addition to the general ones.
  package var exits: String
  package var parse: @Sendable ([String]) -> Result<Command, UsageError>

  package init(
    name: String, arguments: String, summary: String, options: String, more: String = "", examples: [String],
    exits: String = "", parse: @escaping @Sendable ([String]) -> Result<Command, UsageError>
  ) {
    (self.name, self.arguments, self.summary, self.options) = (name, arguments, summary, options)
    (self.more, self.examples, self.exits, self.parse) = (more, examples, exits, parse)
  }

  package static var all: [CommandHelp] { Command.commands }

  package static func named(_ name: String) -> CommandHelp? { all.first { $0.name == name } }

  /// The page of a command or a topic; nil where there is none of that name.
  package static func page(of name: String) -> String? {
    Command.topics.first { $0.name == name }?.text ?? named(name)?.page
  }

  /// Prints the page of a command or a topic, or that of all commands.
  package static func show(_ name: String?) -> Int32 {
    Terminal.line(name.flatMap(page) ?? overview)
    return ExitCode.ok
  }

  package static var overview: String {
    let width = 2 + (all.map(\.name.count).max() ?? 0)
    let topics = Command.topics.map { "help \($0.name): \($0.summary)" }
    let help = ["help COMMAND, or COMMAND --help: its options and examples"] + topics
    let rows = help.joined(separator: ";\n  " + Table.pad("", width))
    return """
      \(Command.introduction)

      COMMANDS
      \(all.map { "  " + Table.pad($0.name, width) + $0.summary }.joined(separator: "\n"))
        \(Table.pad("help", width))\(rows)

      EXAMPLES
      \(Command.examples.map { "  \(Command.program.rawValue) " + $0 }.joined(separator: "\n"))

      \(exitCodes)
      """
  }

  package var page: String {
    let program = Command.program.rawValue
    var parts = ["\(program) \(name) \(arguments)\n\n\(Self.wrap(summary))"]
    if !options.isEmpty { parts.append("OPTIONS\n" + options) }
    if !more.isEmpty { parts.append(more) }
    parts.append("EXAMPLES\n" + examples.map { "  \(program) " + $0 }.joined(separator: "\n"))
    if !exits.isEmpty { parts.append("EXIT CODES\n" + exits) }
    return parts.joined(separator: "\n\n")
  }

  private static func wrap(_ text: String) -> String {
    WrappedText.lines(text, width: 78).joined(separator: "\n")
  }

  /// Names with their texts, aligned, within 80 columns.
  package static func rows(_ rows: [(name: String, text: String)]) -> String {
    let width = 4 + (rows.map(\.name.count).max() ?? 0)
    return rows.flatMap { name, text in
      WrappedText.lines(text, width: 80 - width).enumerated().map { number, line in
        Table.pad(number == 0 ? "  " + name : "", width) + line
      }
    }.joined(separator: "\n")
  }

  package static var exitCodes: String {
    """
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
}
