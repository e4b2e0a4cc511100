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
    (.slowRecovery, 0, 2),
  ])
  func `a fault changes another capacity`(fault: FleetScenario.Fault, during: Double, after: Double) {
    let scenario = FleetSimulationTests.small { ($0.fault, $0.capacity) = (fault, 20) }
    let backend = FleetBackend(scenario)
    #expect(backend.capacity(at: 1_799) == during)
    #expect(backend.capacity(at: 1_800) == after)
    #expect(backend.answers(at: 0) == (fault != .lostAnswers))
  }

  @Test func `a slow recovery never ends`() {
    let backend = FleetBackend(
      FleetSimulationTests.small { ($0.fault, $0.capacity) = (.slowRecovery, 20) })
    #expect(backend.capacity(at: 1_800 + 900) == 11)
    #expect(backend.capacity(at: 1_800 + 1_800) == 20)
    #expect(backend.capacity(at: 8_999) == 20)
  }

  @Test(arguments: [
    (FleetScenario.Fault.outage, 49), (.lostAnswers, 49), (.halved, 98), (.slowRecovery, 288),
  ])
  func `the best possible time is not what the capacity allows`(fault: FleetScenario.Fault, best: Int) {
    // 396 of 400 devices are 99 %, and the first second serves too.
    let scenario = FleetSimulationTests.small { $0.fault = fault }
    let result = FleetSimulationTests.result(.engine, scenario)
    #expect(result.bestSecondsTo99 == best)
    #expect(result.timeOverBest == result.secondsTo99.map { Double($0 + 1) / Double(best + 1) })
  }

  @Test func `what was delivered during the fault has a best time after it`() {
    let result = FleetSimulationTests.result(
      .fixed30s, FleetSimulationTests.small { ($0.fault, $0.capacity) = (.slowdown, 1_000) })
    #expect(result.bestSecondsTo99 == nil)
    #expect(result.timeOverBest == nil)
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

  @Test(
    arguments: [FleetScenario.Fault.outage, .slowdown, .lostAnswers, .halved], FleetScenario.Clocks.allCases)
  func `the engine is late, or floods a backend`(fault: FleetScenario.Fault, clocks: FleetScenario.Clocks) {
    // As many devices per request as a million at 2,000/s.
    let scenario = FleetSimulationTests.small {
      ($0.fault, $0.clocks) = (fault, clocks)
      ($0.devices, $0.capacity) = (10_000, 20)
      ($0.outage, $0.horizon) = (14_400, 18_000)
    }
    let tally = FleetPolicyName.engine.run(scenario)
    let result = tally.result("engine", wallSeconds: 0)
    #expect(result.drains)
    #expect(result.amplification <= FleetVerdict.calmAmplification)
    // With half of its capacity for good, the backend is full until most is delivered.
    #expect(result.newServedWithinMinute ?? 0 >= (fault == .halved ? 0.9 : FleetVerdict.servedNew))
    // The seconds of a fleet this small differ by chance; its minutes do not.
    let capacity = FleetBackend(scenario).capacity(at: scenario.horizon) * Double(FleetCurves.step)
    let peak = tally.curves.offered[(scenario.outage / FleetCurves.step)...].max() ?? 0
    #expect(Double(peak) / capacity <= FleetVerdict.calmPeak)
    // Few are left after a slowdown; they come within a ceiling, which is most of what the others need too.
    if fault == .slowdown {
      #expect(result.secondsTo99 ?? .max <= 1_200)
    } else {
      #expect(result.timeOverBest ?? .infinity <= FleetVerdict.promptTime)
    }
  }

  @Test(arguments: [nil, 13_500]) func `a push message makes a crowd that stays together`(at: Int?) {
    let scenario = FleetSimulationTests.small {
      ($0.foreground, $0.pushAt) = (.push, at)
      $0.pushFollowers = at == nil ? 10 : 100
      ($0.devices, $0.capacity) = (10_000, 20)
      ($0.outage, $0.horizon) = (14_400, 18_000)
    }
    let tally = FleetPolicyName.engine.run(scenario)
    let result = tally.result("engine", wallSeconds: 0)
    let peak = tally.curves.offered[(scenario.outage / FleetCurves.step)...].max() ?? 0
    #expect(Double(peak) / Double(scenario.capacity * FleetCurves.step) <= FleetVerdict.calmPeak)
    #expect(result.amplification <= FleetVerdict.calmAmplification)
    #expect(result.timeOverBest ?? .infinity <= FleetVerdict.promptTime)
  }

  @Test(arguments: FleetScenario.Clocks.allCases) func `the engine floods a backend`(
    clocks: FleetScenario.Clocks
  ) {
    // As many devices per request as a million at 2,000/s.
    let result = FleetSimulationTests.result(
      .engine,
      FleetSimulationTests.small {
        $0.clocks = clocks
        ($0.devices, $0.capacity) = (25_000, 50)
        ($0.outage, $0.horizon) = (7_200, 10_800)
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

  @Test(arguments: [(nil, 100, 1_800, 400), (900, 100, 900, 400), (900, 25, 900, 100)])
  func `a push message reaches others, or at another time`(at: Int?, percent: Int, begins: Int, count: Int) {
    let scenario = FleetSimulationTests.small {
      ($0.foreground, $0.pushAt, $0.pushFollowers) = (.push, at, percent)
    }
    let opened = (0..<scenario.horizon).map { Array(FleetForeground.pushed(scenario, second: $0)) }
    #expect(opened.joined().count == count)
    #expect(Set(opened.joined()).count == count)
    let seconds = opened.indices.filter { !opened[$0].isEmpty }
    #expect(seconds.min() ?? 0 >= begins)
    #expect(seconds.max() ?? 0 < begins + FleetForeground.push)
  }

  @Test(arguments: [FleetPolicyName.engine, .revenueCatRule]) func `a tap is no request`(
    policy: FleetPolicyName
  ) {
    let calm = FleetSimulationTests.result(policy, FleetSimulationTests.small())
    let tapped = FleetSimulationTests.result(policy, FleetSimulationTests.small { $0.taps = 10 })
    #expect(tapped.requestsInFault > calm.requestsInFault)
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
