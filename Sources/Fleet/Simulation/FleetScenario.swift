/// What happens to a fleet: how many devices it has, what its backend can do, and what goes wrong. Times are whole
/// seconds from the moment at which the fault begins.
package struct FleetScenario: Sendable, Equatable {
  /// How the devices' purchases lie in time.
  package enum Clocks: String, Sendable, CaseIterable {
    /// All buy in the same second, and their timers run in step: the worst case for a policy without jitter.
    case aligned
    /// Spread evenly over the fault.
    case staggered
  }

  /// What is wrong with the backend while the fault lasts.
  package enum Fault: String, Sendable, CaseIterable {
    /// It does not answer.
    case outage
    /// It has a tenth of its capacity.
    case slowdown
    /// It does the work, and its answers do not arrive.
    case lostAnswers = "lost-answers"
    /// It does not answer, and comes back with half of its capacity for good.
    case halved
    /// It does not answer, and comes back with a tenth of its capacity, which grows to the whole within half an hour.
    case slowRecovery = "slow-recovery"
  }

  /// When people open the app. A device with a pending purchase is woken by it.
  package enum Foreground: String, Sendable, CaseIterable {
    case none
    /// Four times a day on average, most often in the evening, two hours after the fault begins.
    case evening
    /// As `evening`, and people open the app within a minute after a push message.
    case push
  }

  package var devices = 100_000
  package var outage = 14_400
  /// Requests per second.
  package var capacity = 2_000
  package var clocks = Clocks.staggered
  package var horizon = 43_200
  package var seed: UInt64 = 1
  package var fault = Fault.outage
  package var foreground = Foreground.evening
  /// When the push message comes; nil for the end of the fault.
  package var pushAt: Int?
  /// How many percent of the devices follow it.
  package var pushFollowers = 100
  /// How often each person who opens the app during a wait taps to try again, until the purchase is delivered.
  package var taps = 0
  /// The seconds that an overloaded backend asks for; nil where it asks for nothing.
  package var retryAfter: Int?
  /// New purchases after the fault, per device and day.
  package var purchasesPerDay = 1.0

  package init() {}

  /// When a device makes its purchase of the fault, in milliseconds.
  package func purchase(of device: Int) -> Int {
    clocks == .aligned ? 0 : device * outage * 1_000 / devices
  }
}
