import Testing

@testable import Fleet

/// The backend of the model, and what a run does to it.
@Suite struct FleetBackendTests {
  @Test(arguments: [
    (0.0, 0.0), (50, 50), (100, 100), (200, 50), (500, 20), (1_000, 10), (100_000, 10),
  ])
  func `goodput does not collapse`(offered: Double, served: Double) {
    #expect(FleetBackend.goodput(offered: offered, capacity: 100) == served)
  }

  @Test func `a backend that is down serves requests`() {
    #expect(FleetBackend.goodput(offered: 5, capacity: 0) == 0)
  }

  @Test(arguments: [
    (FleetScenario.Fault.outage, 0.0, 20.0), (.slowdown, 2, 20), (.lostAnswers, 20, 20), (.halved, 0, 10),
  ])
  func `a fault changes another capacity`(fault: FleetScenario.Fault, during: Double, after: Double) {
    let scenario = FleetSimulationTests.small { ($0.fault, $0.capacity) = (fault, 20) }
    let backend = FleetBackend(scenario)
    #expect(backend.capacity(at: 1_799) == during)
    #expect(backend.capacity(at: 1_800) == after)
    #expect(backend.answers(at: 0) == (fault != .lostAnswers))
  }

  @Test func `exponential backoff drains with aligned clocks`() {
    let scenario = FleetSimulationTests.small {
      ($0.clocks, $0.foreground) = (.aligned, .none)
      ($0.devices, $0.capacity) = (1_000, 2)
    }
    let exponential = FleetSimulationTests.result(.exponential, scenario)
    #expect(!exponential.drains && FleetVerdict(exponential).kind == .metastable)
    #expect(exponential.peakOverCapacity > 100)
  }

  @Test(arguments: FleetScenario.Clocks.allCases) func `the engine floods a backend`(
    clocks: FleetScenario.Clocks
  ) {
    // As many devices per request as a million at 2,000/s.
    let result = FleetSimulationTests.result(
      .engine,
      FleetSimulationTests.small {
        $0.clocks = clocks
        ($0.devices, $0.capacity) = (5_000, 10)
        ($0.outage, $0.horizon) = (7_200, 14_400)
      })
    #expect(result.drains && result.peakOverCapacity <= 1.5 && result.amplification <= 1.2)
    #expect(result.newServedWithinMinute ?? 0 >= FleetVerdict.servedNew)
    #expect(FleetVerdict(result).kind == .calm)
  }

  @Test func `a push message is no load`() {
    // A client that waits for the foreground; the engine has postponed what failed often, and is not woken.
    let quiet = FleetSimulationTests.result(.revenueCatRule, FleetSimulationTests.small())
    let pushed = FleetSimulationTests.result(
      .revenueCatRule, FleetSimulationTests.small { $0.foreground = .push })
    #expect(pushed.peakOverCapacity > quiet.peakOverCapacity)
  }

  @Test func `a device needs more memory than it may`() {
    let result = FleetSimulationTests.result(
      .engine,
      FleetSimulationTests.small {
        ($0.devices, $0.capacity) = (20_000, 40)
        ($0.outage, $0.horizon) = (60, 61)
      })
    #expect(result.bytesPerDevice <= 96)
  }
}
