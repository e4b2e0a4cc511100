import PurchaseSync

/// The numbers that a team with a fleet of this size should use, found by the rule and checked by runs.
package struct FleetAdvice: Sendable, Encodable, Equatable {
  package var devices: Int
  package var capacity: Int
  /// 5N / 4C: then the steady load of all devices' retries is what the backend can serve.
  package var ceilingByRule: Int
  /// The engine's default where that is enough; in seconds.
  package var ceiling: Int
  /// Whether the run with that ceiling is calm.
  package var isCalm: Bool
  package var peakOverCapacity: Double
  package var amplification: Double
  package var secondsTo99: Int?
  /// About the capacity at which the run would be calm; nil where it is.
  package var capacityForCalm: Int?
  /// Requests after a failure per hour and device.
  package var budget: Int
  /// What an overloaded backend should ask for in seconds, or nil: what served most new purchases of a push message to
  /// everyone, among those tried.
  package var retryAfter: Int?
  /// New purchases within a minute with each of the values tried; the first is without one.
  package var newServed: [Served]

  /// What a Retry-After did to new purchases.
  package struct Served: Sendable, Encodable, Equatable {
    package var retryAfter: Int?
    package var withinMinute: Double
  }

  package static let tried: [Int?] = [nil, 30, 60, 300, 900]
  /// The runs have at most so many devices; the capacity shrinks with them.
  static let mostDevices = 100_000

  /// The rule: a device at its ceiling sends once in seven eighths of it, and a tenth of the capacity is left for others.
  package static func ceilingByRule(devices: Int, capacity: Int) -> Int {
    (5 * devices + 4 * capacity - 1) / (4 * capacity)
  }

  package init(_ scenario: FleetScenario) {
    (devices, capacity) = (scenario.devices, scenario.capacity)
    ceilingByRule = Self.ceilingByRule(devices: devices, capacity: capacity)
    let usual = Int(RetryPolicy().ceilingMilliseconds / 1_000)
    ceiling = max(usual, ceilingByRule)
    budget = Self.budget(ceiling: ceiling)
    let result = Self.run(scenario, ceiling: ceiling)
    isCalm = FleetVerdict(result).kind == .calm
    (peakOverCapacity, amplification) = (result.peakOverCapacity, result.amplification)
    secondsTo99 = result.secondsTo99
    // Devices that bought shortly before the end are not at their ceiling yet; no ceiling changes what they send.
    capacityForCalm =
      isCalm ? nil : Int((Double(capacity) * result.peakOverCapacity / FleetVerdict.calmPeak).rounded(.up))
    var pushed = scenario
    pushed.foreground = .push
    newServed = []
    for retryAfter in Self.tried {
      pushed.retryAfter = retryAfter
      let served = Self.run(pushed, ceiling: ceiling).newServedWithinMinute ?? 1
      newServed.append(Served(retryAfter: retryAfter, withinMinute: served))
    }
    // The first of equals: a backend that asks for nothing is the simpler one.
    var best = newServed[0]
    for served in newServed where served.withinMinute > best.withinMinute + 0.001 { best = served }
    retryAfter = best.retryAfter
  }

  /// Twice the attempts of the first hour of an outage in the mean, and what wakes may use at once.
  package static func budget(ceiling: Int) -> Int {
    var policy = RetryPolicy()
    policy.ceiling = .seconds(ceiling)
    let pace = policy.ceilingMilliseconds - policy.ceilingMilliseconds / 8
    var (sent, passed) = (0, Int64(0))
    while passed < 3_600_000 {
      sent += 1
      let widest = policy.ceiling(afterFailures: policy.widening(sent))
      passed += widest < policy.ceilingMilliseconds ? widest / 2 : pace
    }
    return 2 * sent + RetryPolicy().budgetBurst
  }

  /// The engine with that ceiling, in a smaller fleet with a backend that is as much smaller.
  private static func run(_ scenario: FleetScenario, ceiling: Int) -> FleetResult {
    var scenario = scenario
    if scenario.devices > mostDevices {
      scenario.capacity = max(1, scenario.capacity * mostDevices / scenario.devices)
      scenario.devices = mostDevices
    }
    // Long enough for three attempts at the ceiling.
    scenario.horizon = max(scenario.horizon, scenario.outage + 3 * ceiling)
    var policy = RetryPolicy()
    policy.ceiling = .seconds(ceiling)
    policy.budgetPerWindow = budget(ceiling: ceiling)
    var simulation = FleetSimulation(EnginePolicy(policy), scenario)
    return simulation.run().result("engine", wallSeconds: 0)
  }
}
