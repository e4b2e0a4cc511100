import Foundation
import PurchaseQueue

/// What `decode` is asked to do.
struct DecodeOptions: Equatable {
  /// A path; "-" for standard input.
  var path = ""
  var json = false
  /// The moment at which subscriptions are judged; nil for now.
  var moment: Timestamp?

  static func parse(_ arguments: [String]) -> Result<DecodeOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> DecodeOptions {
    var options = DecodeOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch argument {
      case "--json": options.json = true
      case "--at": options.moment = try moment(try arguments.value(of: argument))
      case _ where argument.hasPrefix("-") && argument != "-":
        let nearest = Nearest.name(to: argument, in: ["--json", "--at"])
        throw Command.UsageError(message: "decode has no option '\(argument)'\(nearest)")
      default:
        guard options.path.isEmpty else {
          throw Command.UsageError(message: "decode takes one file, not '\(argument)' as well")
        }
        options.path = argument
      }
    }
    guard !options.path.isEmpty else {
      throw Command.UsageError(message: "decode needs the path of a file, or - for standard input")
    }
    return options
  }

  private static func moment(_ text: String) throws(Command.UsageError) -> Timestamp {
    do {
      let date = try Date(text, strategy: .iso8601)
      return Timestamp(milliseconds: Int64(date.timeIntervalSince1970 * 1_000))
    } catch {
      throw Command.UsageError(message: "--at needs a moment such as 2026-11-21T08:00:00Z, not '\(text)'")
    }
  }
}
