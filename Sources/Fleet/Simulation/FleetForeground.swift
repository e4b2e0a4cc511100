#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// When people open the app.
package enum FleetForeground {
  static let perDay = 4.0
  /// The wave is highest two hours after the fault begins.
  static let peak = 7_200.0
  /// How far the wave lies above and below its mean.
  static let swing = 0.8
  /// The seconds after a push message in which people follow it.
  static let push = 60
  /// The seconds from one tap to the next.
  package static let tapInterval = 3

  /// The apps that are opened in that second, on average.
  package static func openings(_ scenario: FleetScenario, second: Int) -> Double {
    guard scenario.foreground != .none else { return 0 }
    let wave = 1 + swing * cos(2 * .pi * (Double(second) - peak) / 86_400)
    return Double(scenario.devices) * perDay / 86_400 * wave
  }

  /// The devices whose users follow the push message in that second.
  package static func pushed(_ scenario: FleetScenario, second: Int) -> some Sequence<Int> {
    let passed = second - (scenario.pushAt ?? scenario.outage)
    let isPush = scenario.foreground == .push && (0..<push).contains(passed)
    let group = scenario.devices * passed / push..<scenario.devices * (passed + 1) / push
    return (isPush ? group : 0..<0).lazy.filter { $0 % 100 < scenario.pushFollowers }
  }
}
