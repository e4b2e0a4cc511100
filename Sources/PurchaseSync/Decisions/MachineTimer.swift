import PurchaseQueue

/// When the machine is fed next. The earliest moment counts, by the monotonic clock: after a jump of the wall clock, the
/// moment of an earlier timer says nothing about when it fires.
///
/// ```
///              set                    set to an earlier moment
///   not set ──────────▶ set ───────────────────────────────────▶ set
///      ▲                 │
///      └──── ended ──────┘
/// ```
struct MachineTimer {
  /// When the engine was made, for the paces.
  private let beginning: ContinuousClock.Instant
  /// Nil if no moment is awaited.
  private var fires: ContinuousClock.Instant?

  init(beginning: ContinuousClock.Instant) { self.beginning = beginning }

  /// Milliseconds since the engine was made.
  func uptime(at now: ContinuousClock.Instant) -> Int64 { beginning.duration(to: now).wholeMilliseconds }

  /// Whether nothing is awaited before this moment, or at it.
  func isQuiet(until moment: ContinuousClock.Instant) -> Bool { fires.map { $0 > moment } ?? true }

  /// How long until `due`; nil if an earlier moment is awaited. `uptime`: the same moment as `now`.
  mutating func isSet(
    to due: Timestamp, now: Timestamp, at uptime: ContinuousClock.Instant, _ policy: RetryPolicy
  ) -> Int64? {
    let delay = min(max(0, due.milliseconds(since: now)), max(0, policy.horizonMilliseconds))
    let moment = uptime.advanced(by: .milliseconds(delay))
    if let fires, fires <= moment { return nil }
    fires = moment
    return delay
  }

  mutating func ended() { fires = nil }
}
