import Foundation

/// The options of a command, a row each: the parser and the help page are made of the same rows.
package struct OptionTable<Options> {
  package struct Row {
    package var name: String
    /// A longer spelling, such as `--quiet`.
    package var long: String?
    /// What follows the name, for the help page.
    package var argument: String
    /// Nil for an option that the help page does not show.
    package var help: String?
    package var take: (inout Options, inout Arguments) throws -> Void

    package init(
      name: String, long: String? = nil, argument: String = "", help: String? = nil,
      take: @escaping (inout Options, inout Arguments) throws -> Void
    ) {
      (self.name, self.long, self.argument) = (name, long, argument)
      (self.help, self.take) = (help, take)
    }
  }

  package var rows: [Row]
  /// Takes a word that is no option; nil where the command has none.
  package var word: ((inout Options, String) throws -> Void)?
  /// Whether `-`, which stands for standard input, is a word.
  package var takesStandardInput = false

  package init(
    _ rows: [Row], takesStandardInput: Bool = false, word: ((inout Options, String) throws -> Void)? = nil
  ) {
    self.rows = rows
    self.word = word
    self.takesStandardInput = takesStandardInput
  }

  /// Reads a whole command line into `options`. Returns the names of the options that it has.
  private func read(_ words: [String], into options: inout Options, of command: String) throws -> Set<String>
  {
    var arguments = Arguments(words)
    var given: Set<String> = []
    while let argument = arguments.next() {
      if let row = rows.first(where: { $0.name == argument || $0.long == argument }) {
        try row.take(&options, &arguments)
        given.insert(row.name)
      } else if let word, !argument.hasPrefix("-") || argument == "-" && takesStandardInput {
        try word(&options, argument)
      } else {
        throw UsageError.unknownOption(argument, of: command, among: rows.map(\.name))
      }
    }
    return given
  }

  /// The same, as a result.
  package func parse(
    _ words: [String], into options: Options, of command: String,
    _ complete: (inout Options, Set<String>) throws -> Void = { _, _ in }
  ) -> Result<Options, UsageError> {
    var options = options
    do {
      try complete(&options, try read(words, into: &options, of: command))
      return .success(options)
    } catch let error as UsageError {
      return .failure(error)
    } catch {
      return .failure(UsageError(message: "\(error)"))
    }
  }

  /// The rows that have a help text, aligned, within 80 columns.
  package var help: String {
    let shown = rows.compactMap { row in
      row.help.map { ([row.name, row.long].compactMap { $0 }.joined(separator: ", ") + row.suffix, $0) }
    }
    let width = 4 + (shown.map(\.0.count).max() ?? 0)
    return shown.flatMap { name, text in
      WrappedText.lines(text, width: 80 - width).enumerated().map { number, line in
        Table.pad(number == 0 ? "  " + name : "", width) + line
      }
    }.joined(separator: "\n")
  }
}

/// The options of a command line. The defaults are those of an empty command line.
package protocol CommandOptions {
  init()
  /// The command's name, as its messages have it.
  static var command: String { get }
  static var table: OptionTable<Self> { get }
  /// Options, each with the options that exclude it.
  static var apart: [(String, [String])] { get }
  /// Called when everything is read: refuses what does not go together, and fills in defaults.
  mutating func complete() throws
}

extension CommandOptions {
  package static var apart: [(String, [String])] { [] }
  package mutating func complete() throws {}

  package static func parse(_ arguments: [String]) -> Result<Self, UsageError> {
    table.parse(arguments, into: Self(), of: command) { options, given in
      for (one, others) in apart where given.contains(one) {
        guard let other = others.first(where: given.contains) else { continue }
        throw UsageError(message: "\(one) and \(other) do not go together")
      }
      try options.complete()
    }
  }
}

extension OptionTable.Row {
  fileprivate var suffix: String { argument.isEmpty ? "" : " " + argument }

  package static func flag(
    _ name: String, long: String? = nil, _ path: WritableKeyPath<Options, Bool>, _ help: String? = nil
  ) -> Self {
    Self(name: name, long: long, help: help) { options, _ in options[keyPath: path] = true }
  }

  /// Any text; `read` makes the value of it, or throws.
  package static func value(
    _ name: String, of argument: String = "", _ help: String? = nil,
    _ read: @escaping (inout Options, String) throws -> Void
  ) -> Self {
    Self(name: name, argument: argument, help: help) { try read(&$0, try $1.value(of: name)) }
  }

  package static func text(
    _ name: String, _ path: WritableKeyPath<Options, String>, of argument: String = "", _ help: String? = nil
  ) -> Self {
    value(name, of: argument, help) { $0[keyPath: path] = $1 }
  }

  package static func text(
    _ name: String, _ path: WritableKeyPath<Options, String?>, of argument: String = "", _ help: String? = nil
  ) -> Self {
    value(name, of: argument, help) { $0[keyPath: path] = $1 }
  }

  /// A path that is not empty.
  package static func path(
    _ name: String, _ path: WritableKeyPath<Options, String?>, of argument: String, _ help: String? = nil
  ) -> Self {
    Self(name: name, argument: argument, help: help) { $0[keyPath: path] = try $1.path(of: name) }
  }

  /// A whole number from 0 up; within `range` where there is one.
  package static func number<N: FixedWidthInteger>(
    _ name: String, _ path: WritableKeyPath<Options, N>, in range: ClosedRange<N>? = nil,
    of argument: String = "N", _ help: String? = nil
  ) -> Self {
    Self(name: name, argument: argument, help: help) {
      $0[keyPath: path] = try $1.number(of: name, in: range)
    }
  }

  package static func number<N: FixedWidthInteger>(
    _ name: String, _ path: WritableKeyPath<Options, N?>, in range: ClosedRange<N>? = nil,
    _ help: String? = nil
  ) -> Self {
    Self(name: name, argument: "N", help: help) { $0[keyPath: path] = try $1.number(of: name, in: range) }
  }
}
