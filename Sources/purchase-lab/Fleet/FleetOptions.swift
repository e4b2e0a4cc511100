import CommandLineTools
import Fleet
import PurchaseSync

/// The options of `fleet`.
struct FleetOptions: Equatable, CommandOptions {
  static let command = "fleet"

  var scenario = FleetScenario()
  var policies: [FleetPolicyName] = []
  var json = false
  /// The engine's ceiling in seconds; nil for its default.
  var ceiling: Int?
  var advise = false
  var experiments = false
  /// Whole devices next to the compact model.
  var whole = false
  /// The file of the page.
  var report: String?

  var numbers: RetryPolicy {
    var policy = RetryPolicy()
    if let ceiling { policy.ceiling = .seconds(ceiling) }
    return policy
  }

  static var table: OptionTable<Self> {
    OptionTable(
      [
        .value("--devices", of: "N", "how many there are (default: 100000)") {
          $0.scenario.devices = try positive(
            $1, of: "--devices", most: 20_000_000, or: "a fleet has at least one device")
        },
        .value("--outage", of: "TIME", "how long the fault lasts (default: 4h)") {
          $0.scenario.outage = try SpanOption.seconds($1, of: "--outage")
        },
        .value("--capacity", of: "N", "requests per second that the backend can answer (default: 2000)") {
          $0.scenario.capacity = try positive(
            $1, of: "--capacity", most: 1_000_000_000, or: "a backend without capacity serves no policy")
        },
        .value("--policy", of: "NAME", "this policy only; may be given again") {
          $0.policies.append(try .named($1, orSay: "there is no policy"))
        },
        .value("--clocks", of: "KIND", "aligned: all buy in one second; staggered (default)") {
          $0.scenario.clocks = try .named($1, orSay: "clocks are aligned or staggered, not")
        },
        .value("--horizon", of: "TIME", "how long the run is, with the fault (default: 12h)") {
          $0.scenario.horizon = try SpanOption.seconds($1, of: "--horizon")
        },
        .number("--seed", \.scenario.seed, "the run's random numbers (default: 1)"),
        .value("--fault", of: "KIND", "outage (default), slowdown, lost-answers, halved, slow-recovery") {
          $0.scenario.fault = try .named($1, orSay: "there is no fault")
        },
        .value("--foreground", of: "KIND", "when people open the app: none, evening (default), push") {
          $0.scenario.foreground = try .named($1, orSay: "there is no foreground")
        },
        .value(
          "--push-at", of: "TIME", "when the push message comes, after the fault begins (default: its end)"
        ) {
          $0.scenario.pushAt = try SpanOption.seconds($1, of: "--push-at")
        },
        .number(
          "--push-followers", \.scenario.pushFollowers, in: 1...100, of: "PERCENT",
          "how many follow it within a minute (default: 100)"),
        .number(
          "--taps", \.scenario.taps, in: 0...100,
          of: "N", "how often a person who opens the app taps to try again (default: 0)"),
        .value("--retry-after", of: "TIME", "what an overloaded backend asks for (default: nothing)") {
          $0.scenario.retryAfter = try SpanOption.seconds($1, of: "--retry-after")
        },
        .value("--ceiling", of: "TIME", "the engine's longest delay (default: 20m)") {
          $0.ceiling = try SpanOption.seconds($1, of: "--ceiling")
        },
        .flag(
          "--advise", \.advise, "the numbers for a fleet of this size, and what its backend should answer"),
        .flag("--experiments", \.experiments, "published experiments repeated, beside their figures"),
        .flag(
          "--whole", \.whole, "the engine's machine and storage on each device, beside the compact model"),
        .path("--report", \.report, of: "FILE", "a page with load and delivery over time"),
        .flag("--json", \.json, "a JSON line per policy"),
      ])
  }

  static let apart = [
    ("--whole", ["--advise", "--experiments", "--policy", "--report", "--json"]),
    ("--advise", ["--experiments", "--policy", "--ceiling", "--retry-after", "--report"]),
    (
      "--experiments",
      [
        "--devices", "--outage", "--capacity", "--policy", "--clocks", "--horizon", "--fault", "--foreground",
        "--push-at", "--push-followers", "--taps", "--retry-after", "--ceiling", "--report",
      ]
    ),
  ]

  mutating func complete() throws {
    guard !whole || scenario.devices <= 100_000 else {
      throw UsageError(
        message: "--whole needs at most 100000 devices, each with a storage; this works: --devices 10000")
    }
    policies = policies.isEmpty ? FleetPolicyName.allCases : policies.unique
    guard scenario.horizon > scenario.outage else {
      let words = scenario.outage / 3_600 + 8
      throw UsageError(
        message: "--horizon ends before the outage does, so nothing can be delivered; this works: "
          + "--horizon \(words)h")
    }
    let most = 40 * 86_400
    guard scenario.horizon <= most else {
      throw UsageError(message: "--horizon needs at most 40d; this works: --horizon 40d")
    }
  }

  private static func positive(
    _ text: String, of option: String, most: Int, or why: String
  ) throws(UsageError) -> Int {
    guard let number = Int(text) else {
      throw UsageError(
        message: "\(option) needs a whole number, not '\(text)'; this works: \(option) 2000")
    }
    guard (1...most).contains(number) else {
      throw UsageError(
        message: number < 1
          ? "\(why); this works: \(option) 2000"
          : "\(option) needs at most \(most); this works: \(option) \(most)")
    }
    return number
  }
}
