import Exploration
import Fleet
import TestSupport
import Testing

@testable import purchase_lab

/// Whole devices against the compact model.
@Suite struct WholeFleetTests {
  @Test(arguments: zip(FleetScenario.Clocks.allCases, [FleetScenario.Fault.outage, .lostAnswers]))
  func `the compact model sends and delivers as whole devices do`(
    clocks: FleetScenario.Clocks, fault: FleetScenario.Fault
  ) throws {
    var scenario = FleetScenario()
    let devices = LongTests.count(short: 3_000, long: 10_000)
    (scenario.devices, scenario.capacity, scenario.clocks) = (devices, devices / 100, clocks)
    (scenario.fault, scenario.outage, scenario.horizon) = (fault, 3_600, 10_800)
    (scenario.foreground, scenario.purchasesPerDay) = (.none, 0)
    let whole = try WholeFleet(scenario) { MemoryDisk(limits: $0, hasVault: $1) }.run()
    #expect(whole.violation == nil)
    for invariant in [1, 3, 4, 8, 14, 15, 16, 23] {
      #expect(whole.checks[invariant] ?? 0 >= devices, "\(invariant)")
    }
    let compact = FleetPolicyName.engine.run(scenario)
    let agreement = FleetAgreement(compact.curves, whole.curves, devices: devices)
    #expect(agreement.isClose, "\(agreement)")
  }

  @Test func `curves that differ do not agree`() {
    var (one, other) = (FleetCurves(), FleetCurves())
    (one.offered, one.delivered) = ([100, 100], [50, 100])
    other = one
    #expect(FleetAgreement(one, other, devices: 100).isClose)
    other.delivered[0] = 44
    #expect(!FleetAgreement(one, other, devices: 100).isClose)
    other = one
    other.offered[1] = 80
    #expect(!FleetAgreement(one, other, devices: 100).isClose)
  }
}
