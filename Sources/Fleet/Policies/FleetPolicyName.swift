package import PurchaseSync

/// The policies that a fleet can have, by the names of the command line.
package enum FleetPolicyName: String, Sendable, CaseIterable {
  case engine
  case fixed30s = "fixed-30s"
  case exponential
  case equalJitter = "equal-jitter"
  case decorrelatedJitter = "decorrelated-jitter"
  case fullJitter = "full-jitter"
  case threeTries = "three-tries"
  case botocoreStandard = "botocore-standard"
  case botocoreAdaptive = "botocore-adaptive"
  case grpc
  case adaptiveThrottling = "adaptive-throttling"
  case revenueCatRule = "revenuecat-rule"
  case segmentRule = "segment-rule"

  package var summary: String {
    switch self {
    case .engine: "the engine's RetryPolicy, unchanged"
    case .fixed30s: "again after 30 s, for ever"
    case .exponential: "2 s, 4 s, 8 s … 300 s, without jitter"
    case .equalJitter: "half of that, and up to as much again"
    case .decorrelatedJitter: "from 2 s to three times the last delay, at most 300 s"
    case .fullJitter: "from 0 to the exponential delay, at most 300 s"
    case .threeTries: "three attempts with full jitter, then at the next foreground"
    case .botocoreStandard: "three attempts within seconds, a quota of 500; then at the next foreground"
    case .botocoreAdaptive: "the same with a token bucket that follows CUBIC"
    case .grpc: "five attempts within seconds, ten tokens (A6); then at the next foreground"
    case .adaptiveThrottling: "full jitter, and rejects its own requests (SRE, K = 2)"
    case .revenueCatRule: "after a failure, at the next foreground"
    case .segmentRule: "again after 30 s; forgotten after 100 attempts or 12 h"
    }
  }

  /// Runs the policy against a scenario. `numbers` are the engine's; the others have their own.
  package func run(
    _ scenario: FleetScenario, numbers: RetryPolicy = RetryPolicy(),
    _ goesOn: (_ second: Int) -> Bool = { _ in true }
  ) -> FleetTally {
    switch self {
    case .engine: Self.run(EnginePolicy(numbers), scenario, goesOn)
    case .fixed30s: Self.run(FixedPolicy(), scenario, goesOn)
    case .exponential: Self.run(BackoffPolicy(.none), scenario, goesOn)
    case .equalJitter: Self.run(BackoffPolicy(.equal), scenario, goesOn)
    case .decorrelatedJitter: Self.run(BackoffPolicy(.decorrelated), scenario, goesOn)
    case .fullJitter: Self.run(BackoffPolicy(.full), scenario, goesOn)
    case .threeTries: Self.run(BackoffPolicy(.full, mostAttempts: 3), scenario, goesOn)
    case .botocoreStandard: Self.run(BotocoreStandardPolicy(), scenario, goesOn)
    case .botocoreAdaptive: Self.run(BotocoreAdaptivePolicy(), scenario, goesOn)
    case .grpc: Self.run(GRPCPolicy(), scenario, goesOn)
    case .adaptiveThrottling: Self.run(AdaptiveThrottlingPolicy(), scenario, goesOn)
    case .revenueCatRule: Self.run(ForegroundPolicy(), scenario, goesOn)
    case .segmentRule:
      Self.run(FixedPolicy(mostAttempts: 100, longest: 12 * 3_600_000), scenario, goesOn)
    }
  }

  private static func run(
    _ policy: some FleetPolicy, _ scenario: FleetScenario, _ goesOn: (_ second: Int) -> Bool
  ) -> FleetTally {
    var simulation = FleetSimulation(policy, scenario)
    return simulation.run(goesOn)
  }
}
