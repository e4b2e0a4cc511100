import FaultInjection
import Foundation

/// The set-up of the simulated app, by argument.
struct AppOptions: Equatable {
  var client = Client.engine
  /// The backend, and the store where that has no URL of its own.
  var server = URL(fileURLWithPath: "/")
  var store: URL?
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
  /// Tells on standard output what happens, for the report.
  var isTraced = false
  /// Where the counts of the failpoints are to be written.
  var counts: String?
  /// How far the phone's clock is ahead, in milliseconds.
  var clockShift: Int64 = 0
  var isVaultLocked = false
  /// Where the app is killed.
  var crash: Failpoints.Moment?
  /// Every delay of the retry policy is divided by this.
  var timeScale: Int64 = 1_000
  /// The app is closed after this, whatever is still pending.
  var seconds: Int64 = 20

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
    case "--server": server = try arguments.url(of: option)
    case "--store": store = try arguments.url(of: option)
    case "--container": container = try arguments.value(of: option)
    case "--vault": vault = try arguments.value(of: option)
    case "--signed-in":
      signedIn = try arguments.value(of: option).split(separator: ",").map(String.init)
    case "--steps": steps = try Self.steps(try arguments.value(of: option))
    case "--entries": entries = try arguments.number(of: option)
    case "--verbose": verbose = true
    case "--trace": isTraced = true
    case "--counts": counts = try arguments.value(of: option)
    case "--clock-shift": clockShift = try arguments.number(of: option)
    case "--vault-locked": isVaultLocked = true
    case "--crash-at": crash = try arguments.passage(of: option)
    case "--crash-at-passage": crash = .any(hit: try arguments.number(of: option))
    case "--time-scale": timeScale = try arguments.number(of: option)
    case "--seconds": seconds = try arguments.number(of: option)
    default: throw Command.UsageError(message: "app has no option '\(option)'")
    }
  }

  /// As in a story: `[{"do": "buy", …}, …]`.
  private static func steps(_ text: String) throws(Command.UsageError) -> [AppStep] {
    do {
      let nodes = try JSONDecoder().decode([StoryNode].self, from: Data(text.utf8))
      return try nodes.map { try AppStep(story: $0, at: []) }
    } catch {
      throw Command.UsageError(message: "--steps needs a JSON array of steps: \(error)")
    }
  }
}
