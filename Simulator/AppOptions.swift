import FaultInjection
import Foundation

/// The set-up of the simulated app, by argument.
struct AppOptions: Equatable {
  var client = Client.engine
  var server = URL(fileURLWithPath: "/")
  var container = ""
  var vault = ""
  /// Who is signed in when it starts.
  var signedIn: [String] = []
  /// What the person does in this run of the app.
  var steps: [AppStep] = []
  /// The most entries of the queue; nil for the documented number.
  var entries: Int?
  /// Tells on standard error what happens.
  var verbose = false
  /// Where the app is killed.
  var crash: Failpoints.Moment?
  /// Every delay of the retry policy is divided by this.
  var timeScale: Int64 = 1_000
  /// The app is closed after this, whatever is still pending.
  var seconds: Int64 = 10

  static func parse(_ arguments: [String]) -> Result<AppOptions, Command.UsageError> {
    Result { () throws(Command.UsageError) in
      var options = AppOptions()
      var arguments = Arguments(arguments)
      while let argument = arguments.next() {
        try options.read(argument, &arguments)
      }
      return options
    }
  }

  private mutating func read(_ option: String, _ arguments: inout Arguments) throws(Command.UsageError) {
    switch option {
    case "--client":
      guard let client = Client(rawValue: try arguments.value(of: option)) else {
        throw Command.UsageError(message: "--client: no such client")
      }
      self.client = client
    case "--server":
      guard let server = URL(string: try arguments.value(of: option)) else {
        throw Command.UsageError(message: "--server needs a URL")
      }
      self.server = server
    case "--container": container = try arguments.value(of: option)
    case "--vault": vault = try arguments.value(of: option)
    case "--signed-in":
      signedIn = try arguments.value(of: option).split(separator: ",").map(String.init)
    case "--steps": steps = try Self.steps(try arguments.value(of: option))
    case "--entries": entries = try arguments.number(of: option)
    case "--verbose": verbose = true
    case "--crash-at": crash = .passage(of: try arguments.value(of: option), hit: 1)
    case "--crash-at-passage": crash = .any(hit: try arguments.number(of: option))
    case "--time-scale": timeScale = try arguments.number(of: option)
    case "--seconds": seconds = try arguments.number(of: option)
    default: throw Command.UsageError(message: "app has no option '\(option)'")
    }
  }

  private static func steps(_ text: String) throws(Command.UsageError) -> [AppStep] {
    do {
      return try JSONDecoder().decode([AppStep].self, from: Data(text.utf8))
    } catch {
      throw Command.UsageError(message: "--steps needs a JSON array of steps")
    }
  }
}
