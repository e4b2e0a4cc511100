import AppStoreDocuments
import AppStoreReceipts
import BackendConformance
import CommandLineTools
import PurchaseSyncTesting

/// The options of `serve`.
struct ServeOptions: Equatable, CommandOptions {
  static let command = "serve"

  /// 0: a free one.
  var port: UInt16 = 8080
  var host = "127.0.0.1"
  /// Nil: a new one, removed at the end.
  var database: String?
  /// A file with a plan; see `FaultPlan`.
  var faults: String?
  /// How much faster than the real clock the mock server's clock goes.
  var speed = 1.0
  var seed: UInt64 = 1
  /// A backend that is wrong on purpose.
  var broken: BrokenBackend?
  /// The environment of the store: the other one's URL answers 21007 or 21008.
  var environment = StoreEnvironment.production
  /// What `verifyReceipt` wants as its password; nil for nothing.
  var sharedSecret: SharedSecret?
  /// How many requests each endpoint of the App Store Server API takes in an hour; nil for no limit.
  var apiLimit: Int?
  /// Where the store posts notifications; nil for the mock backend.
  var notify: String?
  /// The versions of notifications; nil for version 2, or for what a continued file has.
  var notifyVersions: Set<NotificationVersion>?
  /// Whether the backend finishes at the store what it has granted.
  var finishesAtStore = false
  /// Whether the store signs with checksums, as in simulations, and not with certificates.
  var checksums = false
  /// The addresses as one document, for a program that starts this one.
  var json = false

  static var table: OptionTable<Self> {
    OptionTable([
      .number("--port", \.port, of: "P", "listen there; 0 for a free port (default: 8080)"),
      .text(
        "--host", \.host, of: "ADDRESS",
        "the address to listen on (default: 127.0.0.1); all who reach it can pay and grant"),
      .text(
        "--database", \.database, of: "FILE",
        "the file of store and backend; one from an earlier run is continued (default: a new one, removed)"),
      .text("--faults", \.faults, of: "FILE", "the faults, as JSON; the status page can change them"),
      .value("--speed", of: "X", "the mock server's clock goes X times as fast (default: 1)") {
        options, text in
        guard let speed = Double(text), speed > 0, speed <= 1_000_000 else {
          throw UsageError(message: "--speed needs a number above 0, up to 1000000, not '\(text)'")
        }
        options.speed = speed
      },
      .value(
        "--environment", of: "NAME",
        "of the store: production, sandbox, xcode or local-testing (default: production)"
      ) { options, text in
        guard let environment = environments[text] else {
          throw UsageError(
            message: "--environment needs production, sandbox, xcode or local-testing, not '\(text)'")
        }
        options.environment = environment
      },
      .number("--seed", \.seed, "where tokens and transaction ids start from (default: 1)"),
      .value("--broken", of: "KIND", "a backend with a bug; its names are below") {
        $0.broken = try .named($1, orSay: "--broken knows no")
      },
      .value("--shared-secret", of: "TEXT", "verifyReceipt answers 21004 to subscriptions without it") {
        $0.sharedSecret = SharedSecret($1)
      },
      .number("--api-limit", \.apiLimit, "requests an hour to each endpoint of the App Store Server API"),
      .value(
        "--notify", of: "URL",
        "the store posts its notifications there (default: to the mock backend)"
      ) {
        options, text in
        guard MockServer.isNotificationURL(text) else {
          throw UsageError(message: "--notify needs an http or https URL, not '\(text)'")
        }
        options.notify = text
      },
      .value("--notify-version", of: "1|2|both", "the version of the notifications (default: 2)") {
        options, text in
        let versions: [String: Set<NotificationVersion>] = [
          "1": [.one], "2": [.two], "both": [.one, .two],
        ]
        guard let known = versions[text] else {
          throw UsageError(message: "--notify-version is 1, 2 or both, not '\(text)'")
        }
        options.notifyVersions = known
      },
      .flag(
        "--finishes-at-store", \.finishesAtStore,
        "the backend grants what notifications tell of, and finishes at the store"),
      .flag(
        "--checksums", \.checksums, "the store's signatures are checksums, not ES256 under the test root"),
      .flag("--json", \.json, "the addresses as one JSON document"),
    ])
  }

  private static let environments: [String: StoreEnvironment] = [
    "production": .production, "sandbox": .sandbox, "xcode": .xcode, "local-testing": .localTesting,
  ]

  var signing: ForgeSigning { checksums ? .checksum : .certificates() }

  /// Whether only this machine can reach it.
  var isLoopback: Bool { host == "localhost" || host.hasPrefix("127.") }
}
