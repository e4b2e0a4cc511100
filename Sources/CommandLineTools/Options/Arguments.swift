package import Foundation

/// The command line cannot be understood.
package struct UsageError: Error, Equatable {
  package var message: String
  /// The command whose help says more; nil for the page of all commands.
  package var command: String?

  package init(message: String, command: String? = nil) {
    self.message = message
    self.command = command
  }

  package static func unknownOption(_ option: String, of command: String, among known: [String]) -> Self {
    Self(message: "\(command) has no option '\(option)'\(Nearest.name(to: option, in: known))")
  }

  /// Prints the message and where to read more. Returns the exit code.
  package func tell() -> Int32 {
    let page = command.map { "help \($0)" } ?? "help"
    Terminal.complain("\(message)\nTry '\(Program.current.rawValue) \(page)'.")
    return ExitCode.usage
  }
}

/// The words of a command line that are still to be read.
package struct Arguments {
  private var rest: [String]

  package init(_ arguments: [String]) { rest = arguments }

  package mutating func next() -> String? { rest.isEmpty ? nil : rest.removeFirst() }

  package mutating func value(of option: String) throws(UsageError) -> String {
    guard let value = next() else { throw UsageError(message: "\(option) needs a value") }
    return value
  }

  package mutating func number<N: FixedWidthInteger>(
    of option: String, in range: ClosedRange<N>? = nil
  ) throws(UsageError) -> N {
    let text = try value(of: option)
    guard let number = N(text), number >= 0 else {
      throw UsageError(message: "\(option) needs a whole number, not '\(text)'")
    }
    if let range, !range.contains(number) {
      throw UsageError(message: "\(option) needs \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The path of a file or a folder. An empty path is refused: it comes from an environment variable that is not set.
  package mutating func path(of option: String) throws(UsageError) -> String {
    let path = try value(of: option)
    guard !path.isEmpty else { throw UsageError(message: "\(option) needs a path, not ''") }
    return path
  }

  package mutating func url(of option: String) throws(UsageError) -> URL {
    guard let url = URL(string: try value(of: option)) else {
      throw UsageError(message: "\(option) needs a URL")
    }
    return url
  }
}

extension RawRepresentable where RawValue == String, Self: CaseIterable {
  /// The case of that name. The error offers the nearest one; `what` is such as "there is no client".
  package static func named(_ name: String, orSay what: String) throws(UsageError) -> Self {
    guard let value = Self(rawValue: name) else {
      throw UsageError(
        message: "\(what) '\(name)'\(Nearest.name(to: name, in: allCases.map(\.rawValue)))")
    }
    return value
  }
}

extension Array where Element: Hashable {
  /// Without repetitions: two runs of one name would share their files.
  package var unique: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
