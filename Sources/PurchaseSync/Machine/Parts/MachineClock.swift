import PurchaseQueue

/// The wall clock as the events of one machine saw it.
///
/// ```
///   not started ──start──▶ to be clamped ──clamped──▶ trusted
///                               ▲                        │
///                               └── advance(to: earlier) ┤
///                               └── mayHaveJumped ───────┘
/// ```
///
/// "To be clamped": a stored moment may lie beyond the horizon, because the clock went back or was another one when it
/// was stored. All moments are then brought back to the horizon once, in the file too. If only reads were clamped, such
/// a moment would move ahead of the clock for ever.
struct MachineClock: Hashable {
  /// The moment of the last event; nil before the start.
  private var latest: Timestamp?
  /// Whether stored moments are to be clamped.
  private(set) var needsClamping = false

  var isRunning: Bool { latest != nil }

  mutating func start(at now: Timestamp) {
    latest = now
    // The clock of an earlier run is not known.
    needsClamping = true
  }

  /// An event comes at this moment. If the clock went back, returns the moment at which it did: waits that were over by
  /// then stay over.
  mutating func advance(to now: Timestamp) -> Timestamp? {
    defer { latest = now }
    guard let latest, now < latest else { return nil }
    needsClamping = true
    return latest
  }

  /// Another process of this installation may have had another clock.
  mutating func mayHaveJumped() { needsClamping = true }

  mutating func clamped() { needsClamping = false }
}

extension Timestamp {
  /// Later than every moment of a clock.
  static var distantFuture: Timestamp { Timestamp(milliseconds: .max) }
}
