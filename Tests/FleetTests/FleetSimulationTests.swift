import Testing

@testable import Fleet

/// The fleet as a whole: nothing is lost from view, and a seed means one run.
@Suite struct FleetSimulationTests {
  static func small(_ change: (inout FleetScenario) -> Void = { _ in }) -> FleetScenario {
    var scenario = FleetScenario()
    (scenario.devices, scenario.capacity) = (400, 8)
    (scenario.outage, scenario.horizon) = (1_800, 9_000)
    change(&scenario)
    return scenario
  }

  static func result(_ policy: FleetPolicyName, _ scenario: FleetScenario) -> FleetResult {
    policy.run(scenario).result(policy.rawValue, wallSeconds: 0)
  }

  @Test(arguments: FleetPolicyName.allCases, FleetScenario.Fault.allCases)
  func `a purchase is counted twice, or not at all`(policy: FleetPolicyName, fault: FleetScenario.Fault) {
    let result = Self.result(policy, Self.small { $0.fault = fault })
    #expect(result.purchases >= 400)
    #expect(result.purchases == result.delivered + result.pending + result.dropped)
    #expect(result.drains == (result.secondsTo100 != nil))
    #expect(result.wasted <= result.requestsInFault + result.requestsAfter)
  }

  @Test func `one seed gives two runs`() {
    #expect(Self.counts(seed: 1) == Self.counts(seed: 1))
    #expect(Self.counts(seed: 1) != Self.counts(seed: 2))
  }

  /// Without the memory, of which the allocator may give more than was asked for.
  private static func counts(seed: UInt64) -> FleetResult {
    var result = result(.engine, small { $0.seed = seed })
    result.bytesPerDevice = 0
    return result
  }
}
