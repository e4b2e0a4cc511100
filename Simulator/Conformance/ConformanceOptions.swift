import Foundation
import PurchaseSyncTesting

/// The options of `conformance`. The defaults fit `serve`.
struct ConformanceOptions: Equatable, CommandOptions {
  static let command = "conformance"

  var backend = "http://127.0.0.1:8080"
  var token = "token-alice"
  var otherToken = "token-bob"
  /// Where paid proofs come from; nil: below the backend, as with `serve`.
  var store: String?
  var json = false
  /// The number of random requests that are sent instead of the checks.
  var random: Int?
  var seed: UInt64 = 1

  static var table: OptionTable<Self> {
    OptionTable([
      .value("--backend", of: "URL", "the backend (default: http://127.0.0.1:8080, which is serve)") {
        $0.backend = try url($1, "--backend")
      },
      .text("--token", \.token, of: "T", "the token of one account (default: token-alice)"),
      .text("--other-token", \.otherToken, of: "T", "the token of another one (default: token-bob)"),
      .value("--store", of: "URL", "where paid proofs come from (default: the backend's URL and /store)") {
        $0.store = try url($1, "--store")
      },
      .flag("--json", \.json, "one JSON document"),
      .number(
        "--random", \.random,
        "instead of the checks, N random requests made from the OpenAPI document: none may be a 5xx"),
      .number("--seed", \.seed, "where they start from (default: 1)"),
    ])
  }

  func complete() throws {
    guard token != otherToken else {
      throw Command.UsageError(message: "--token and --other-token have to be of two accounts")
    }
  }

  private static func url(_ text: String, _ option: String) throws(Command.UsageError) -> String {
    guard let url = URL(string: text), url.scheme == "http" || url.scheme == "https", url.host != nil else {
      throw Command.UsageError(message: "\(option) needs a URL such as http://127.0.0.1:8080, not '\(text)'")
    }
    return text.hasSuffix("/") ? String(text.dropLast()) : text
  }
}

extension ConformanceLab {
  /// The backend and the store of these options; the exchanges show neither tokens nor proofs.
  init(_ options: ConformanceOptions) throws {
    func url(_ text: String) throws -> URL {
      guard let url = URL(string: text) else {
        throw Command.UsageError(message: "\(text) is not a URL")
      }
      return url
    }
    self.init(
      backend: try url(options.backend), store: try url(options.store ?? options.backend + "/store"),
      tokens: (options.token, options.otherToken),
      describe: { body, json in
        ConformanceText.shortened(body, json, without: [options.token, options.otherToken])
      })
  }
}
