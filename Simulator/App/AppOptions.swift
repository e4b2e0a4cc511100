import AppStoreReceipts
import CommandLineTools
import Foundation
import ProcessFaults
import PurchaseSync
import ScenarioFormat

/// The options of the hidden command `app`, which runs the simulated app.
struct AppOptions: Equatable, CommandOptions {
  static let command = "app"

  var client = Client.engine
  /// The backend's URL, and the store's where that has none of its own.
  var server = URL(fileURLWithPath: "/")
  var store: URL?
  var container = ""
  var vault = ""
  /// The accounts that are signed in at the start.
  var signedIn: [String] = []
  /// What the person does in this launch of the app.
  var steps: [AppStep] = []
  /// The most entries of the queue; nil for the documented number.
  var entries: Int?
  /// Print messages on standard error.
  var verbose = false
  /// Print what happens on standard output, for the report.
  var isTraced = false
  /// The file that gets the counts of the checkpoints.
  var counts: String?
  /// How far the phone's clock is ahead, in milliseconds.
  var clockShift: Int64 = 0
  var isVaultLocked = false
  /// Whether the device makes an order if the backend does not.
  var makesOrders = false
  /// Whether the engine believes only signed answers.
  var verifiesReplies = false
  /// The phone's name in the store.
  var phone = Scenario.phone
  var unclaimed = UnclaimedPolicy.device
  /// Where the app is killed.
  var crash: Checkpoints.Moment?
  /// The clock of the run.
  var clock = FastClock.Words()
  /// How long the app waits for progress, see `AppPatience`.
  var seconds: Int64 = 20
  /// The pipe of the trace for the specification; nil for none.
  var specification: String?
  /// A bug that is planted around the engine; nil for none.
  var bug: AppBug?
  /// The last use of the app does not end before this file exists.
  var openUntil: String?

  static var table: OptionTable<Self> {
    OptionTable([
      .value("--client") { $0.client = try .named($1, orSay: "there is no client") },
      Row(name: "--server") { $0.server = try $1.url(of: "--server") },
      Row(name: "--store") { $0.store = try $1.url(of: "--store") },
      .text("--container", \.container), .text("--vault", \.vault),
      .value("--signed-in") { $0.signedIn = $1.split(separator: ",").map(String.init) },
      .value("--steps") { $0.steps = try steps($1) },
      .number("--entries", \.entries), .flag("--verbose", \.verbose), .flag("--trace", \.isTraced),
      .text("--counts", \.counts), .number("--clock-shift", \.clockShift),
      .flag("--vault-locked", \.isVaultLocked), .flag("--makes-orders", \.makesOrders),
      .flag("--verifies-replies", \.verifiesReplies), .text("--phone", \.phone),
      .value("--unclaimed") { $0.unclaimed = UnclaimedPolicy(rawValue: $1) ?? .device },
      Row(name: "--crash-at") { $0.crash = try $1.passage(of: "--crash-at") },
      Row(name: "--crash-at-passage") { $0.crash = .any(hit: try $1.number(of: "--crash-at-passage")) },
      Row(name: "--clock") { $0.clock = try $1.clock(of: "--clock") },
      .number("--seconds", \.seconds), .text("--open-until", \.openUntil),
      .text("--specification", \.specification),
      .value("--plant") { $0.bug = AppBug(rawValue: $1) },
    ])
  }
  private typealias Row = OptionTable<Self>.Row

  /// As in a scenario file: `[{"do": "buy", …}, …]`.
  private static func steps(_ text: String) throws(UsageError) -> [AppStep] {
    do {
      return try (JSONValue(json: text).array ?? []).map { try AppStep(file: $0, at: []) }
    } catch {
      throw UsageError(message: "--steps needs a JSON array of steps: \(error)")
    }
  }
}

extension Arguments {
  /// The clock of the parent.
  mutating func clock(of option: String) throws(UsageError) -> FastClock.Words {
    guard let clock = FastClock.Words(try value(of: option)) else {
      throw UsageError(message: "\(option) needs RATE:APP:FILE")
    }
    return clock
  }

  /// `NAME:HIT`, or `NAME` for the first.
  mutating func passage(of option: String) throws(UsageError) -> Checkpoints.Moment {
    let parts = try value(of: option).split(separator: ":").map(String.init)
    guard let name = parts.first, let hit = parts.count > 1 ? Int(parts[1]) : 1 else {
      throw UsageError(message: "\(option) needs NAME:HIT")
    }
    return .passage(of: name, hit: hit)
  }
}
