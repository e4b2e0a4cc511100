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
        "the backend's file; one from an earlier run is continued (default: a new one, removed)"),
      .text("--faults", \.faults, of: "FILE", "the faults, as JSON; the status page can change them"),
      .value("--speed", of: "X", "the mock server's clock goes X times as fast (default: 1)") {
        options, text in
        guard let speed = Double(text), speed > 0, speed <= 1_000_000 else {
          throw Command.UsageError(message: "--speed needs a number above 0, up to 1000000, not '\(text)'")
        }
        options.speed = speed
      },
      .number("--seed", \.seed, "where tokens and transaction ids start from (default: 1)"),
      .value("--broken", of: "KIND", "a backend with a bug: double-grant, bare-200 or forgets") {
        $0.broken = try .named($1, orSay: "--broken knows no")
      },
      .flag("--json", \.json, "the addresses as one JSON document"),
    ])
  }

  /// Whether only this machine can reach it.
  var isLoopback: Bool { host == "localhost" || host.hasPrefix("127.") }
}
