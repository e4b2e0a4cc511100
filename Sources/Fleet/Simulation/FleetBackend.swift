/// The backend as a fleet sees it: so many requests per second, and less useful work the more it is overloaded.
///
/// Goodput under overload is C · max(0.1, C / offered). Requests beyond the capacity take work that others need, as in
/// the metastable failures of Bronson et al. (HotOS 2021); a tenth is left because a backend that sheds load always
/// answers some.
package struct FleetBackend: Sendable {
  let scenario: FleetScenario

  /// The seconds of a slow recovery.
  static let recovery = 1_800

  package init(_ scenario: FleetScenario) { self.scenario = scenario }

  package func isFaulty(at second: Int) -> Bool { second < scenario.outage }

  /// The requests per second that it can answer in that second.
  package func capacity(at second: Int) -> Double {
    let usual = Double(scenario.capacity)
    switch (scenario.fault, isFaulty(at: second)) {
    case (.outage, true), (.halved, true), (.slowRecovery, true): return 0
    case (.slowdown, true): return usual / 10
    case (.halved, false): return usual / 2
    case (.slowRecovery, false):
      return usual * (0.1 + 0.9 * min(1, Double(second - scenario.outage) / Double(Self.recovery)))
    case (.outage, false), (.slowdown, false), (.lostAnswers, _): return usual
    }
  }

  /// Whether the device gets the answer to a request that was served.
  package func answers(at second: Int) -> Bool { scenario.fault != .lostAnswers || !isFaulty(at: second) }

  /// The second after the fault in which so many requests can be served at the earliest; nil if not before the horizon.
  package func bestSecond(toServe requests: Double) -> Int? {
    var served = 0.0
    for second in scenario.outage..<max(scenario.horizon, scenario.outage) {
      served += capacity(at: second)
      if served >= requests { return second - scenario.outage }
    }
    return nil
  }

  /// The requests that are served, of those offered in a second.
  package static func goodput(offered: Double, capacity: Double) -> Double {
    guard offered > capacity else { return offered }
    guard offered > 0 else { return 0 }
    return capacity * max(0.1, capacity / offered)
  }

  /// What a device sees that was not served.
  package func failure(at second: Int) -> FleetFailure {
    if isFaulty(at: second), scenario.fault != .slowdown { return .silence }
    return .busy(retryAfter: scenario.retryAfter.map { Int64($0) * 1_000 })
  }
}
