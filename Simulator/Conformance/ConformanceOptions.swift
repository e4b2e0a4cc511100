import Foundation

/// What `conformance` is asked to check. The defaults fit `serve`.
struct ConformanceOptions: Equatable {
  var backend = "http://127.0.0.1:8080"
  var token = "token-alice"
  var otherToken = "token-bob"
  /// Where paid proofs come from; nil: below the backend, as with `serve`.
  var store: String?
  var json = false
  /// So many random requests instead of the checks.
  var random: Int?
  var seed: UInt64 = 1

  private static let names = [
    "--backend", "--token", "--other-token", "--store", "--json", "--random", "--seed",
  ]

  static func parse(_ arguments: [String]) -> Result<ConformanceOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in try read(arguments) }
  }

  private static func read(_ arguments: [String]) throws(Command.UsageError) -> ConformanceOptions {
    var options = ConformanceOptions()
    var arguments = Arguments(arguments)
    while let argument = arguments.next() {
      switch argument {
      case "--backend": options.backend = try url(try arguments.value(of: argument), argument)
      case "--store": options.store = try url(try arguments.value(of: argument), argument)
      case "--token": options.token = try arguments.value(of: argument)
      case "--other-token": options.otherToken = try arguments.value(of: argument)
      case "--json": options.json = true
      case "--random": options.random = try arguments.number(of: argument)
      case "--seed": options.seed = try arguments.number(of: argument)
      default:
        let nearest = Nearest.name(to: argument, in: names)
        throw Command.UsageError(message: "conformance has no option '\(argument)'\(nearest)")
      }
    }
    guard options.token != options.otherToken else {
      throw Command.UsageError(message: "--token and --other-token have to be of two accounts")
    }
    return options
  }

  private static func url(_ text: String, _ option: String) throws(Command.UsageError) -> String {
    guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https", url.host != nil else {
      throw Command.UsageError(message: "\(option) needs a URL such as http://127.0.0.1:8080, not '\(text)'")
    }
    return text.hasSuffix("/") ? String(text.dropLast()) : text
  }
}
