import BackendConformance
import CommandLineTools
import Foundation
import PurchaseSyncTesting

/// The options of `conformance`. The defaults fit `serve`.
struct ConformanceOptions: Equatable, CommandOptions {
  static let command = "conformance"

  var backend = "http://127.0.0.1:8080"
  var token = "token-alice"
  var otherToken = "token-bob"
  /// The names of the accounts; nil: known only of the tokens that are the defaults.
  var account: String?
  var otherAccount: String?
  /// Where paid proofs come from; nil: below the backend, as with `serve`.
  var store: String?
  var product: String?
  /// A command line for `sh`.
  var restart: String?
  /// The names of single checks; empty for all.
  var only: [String] = []
  var groups: [ConformanceGroup] = []
  /// Whether the rules are printed, and nothing is sent.
  var list = false
  var json = false
  var junit: String?
  /// The number of random requests that are sent instead of the checks.
  var random: Int?
  /// The number of clients that send requests at the same time, instead of the checks.
  var concurrent: Int?
  /// How many requests they send.
  var operations = 2_000
  /// How long a read may be behind a write, in milliseconds.
  var lag = 0
  var seed: UInt64 = 1

  static var apart: [(String, [String])] {
    [
      ("--list", ["--random", "--concurrent", "--junit"]),
      ("--random", ["--concurrent", "--only", "--group", "--json", "--junit"]),
      ("--concurrent", ["--only", "--group", "--json", "--junit"]),
    ]
  }

  static var table: OptionTable<Self> {
    OptionTable([
      .value("--backend", of: "URL", "the backend (default: http://127.0.0.1:8080, which is serve)") {
        $0.backend = try url($1, "--backend")
      },
      .text("--token", \.token, of: "T", "the token of one account (default: token-alice)"),
      .text("--other-token", \.otherToken, of: "T", "the token of another one (default: token-bob)"),
      .text("--account", \.account, of: "NAME", "the account of --token (default: alice, for serve)"),
      .text("--other-account", \.otherAccount, of: "NAME", "the account of --other-token (default: bob)"),
      .value("--store", of: "URL", "where paid proofs come from (default: the backend's URL and /store)") {
        $0.store = try url($1, "--store")
      },
      .text(
        "--product", \.product, of: "ID", "a product that the backend sells (default: one of the store's)"),
      .text(
        "--restart", \.restart, of: "COMMAND",
        "a command line that kills the backend, starts it again, and returns"),
      .value("--only", of: "NAME", "this check alone; more of them with further --only") {
        $0.only.append(try check($1))
      },
      .value("--group", of: "GROUP", "only the checks of this group; more with further --group") {
        $0.groups.append(try .named($1, orSay: "there is no group"))
      },
      .flag("--list", \.list, "each rule, where it stands, and its check; sends nothing"),
      .number(
        "--lag", \.lag, in: 0...10_000,
        "how many milliseconds a read of the backend may be behind a write, as with replicas (default: 0)"),
      .flag("--json", \.json, "one JSON document"),
      .path("--junit", \.junit, of: "FILE", "write the results there too, as JUnit's XML"),
      .number(
        "--random", \.random,
        "instead of the checks, N random requests made from the OpenAPI document: none may be a 5xx"),
      .number(
        "--concurrent", \.concurrent, in: 2...256,
        "instead of the checks, N clients at once, some of whose answers are cut off; with --restart the "
          + "backend is killed; the history is checked for linearizability"),
      .number(
        "--operations", \.operations, in: 10...1_000_000, "how many requests they send (default: 2000)"),
      .number("--seed", \.seed, "where random requests and cuts start from (default: 1)"),
    ])
  }

  func complete() throws {
    guard token != otherToken else {
      throw UsageError(message: "--token and --other-token have to be of two accounts")
    }
  }

  /// The checks to make, in their order.
  var checks: [ConformanceCheck] {
    guard !isWhole else { return ConformanceCheck.all }
    return ConformanceCheck.all.filter { only.contains($0.name) || groups.contains($0.group) }
  }

  /// Whether all checks are chosen.
  var isWhole: Bool { only.isEmpty && groups.isEmpty }

  /// The names of both accounts; nil for unknown.
  var accounts: (alice: String, bob: String)? {
    let known = Self()
    let alice = account ?? (token == known.token ? "alice" : nil)
    let bob = otherAccount ?? (otherToken == known.otherToken ? "bob" : nil)
    guard let alice, let bob else { return nil }
    return (alice, bob)
  }

  private static func check(_ name: String) throws(UsageError) -> String {
    let names = ConformanceCheck.all.map(\.name)
    guard names.contains(name) else {
      throw UsageError(message: "there is no check '\(name)'\(Nearest.name(to: name, in: names))")
    }
    return name
  }

  private static func url(_ text: String, _ option: String) throws(UsageError) -> String {
    guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https", url.host != nil else {
      throw UsageError(message: "\(option) needs a URL such as http://127.0.0.1:8080, not '\(text)'")
    }
    return text.hasSuffix("/") ? String(text.dropLast()) : text
  }
}
