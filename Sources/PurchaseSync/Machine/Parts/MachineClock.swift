import PurchaseQueue

/// A wall clock that went back.
struct ClockJump: Hashable {
  /// What it would show now.
  let from: Timestamp
  /// What it shows.
  let to: Timestamp
  /// How long this process had not looked, in milliseconds: the clock went back at most that long ago.
  let unseen: Int64

  init(from: Timestamp, to: Timestamp, unseen: Int64 = .max) {
    (self.from, self.to, self.unseen) = (from, to, unseen)
  }

  /// In milliseconds.
  var distance: Int64 { from.milliseconds(since: to) }

  /// Whether this moment can be one of the clock since it went back. Two processes read it one after the other.
  func canBeSince(_ moment: Timestamp) -> Bool {
    guard moment <= to else { return false }
    return unseen == .max || to.milliseconds(since: moment) <= unseen + MachineClock.leastJump
  }
}

/// The wall clock as the events of one machine saw it.
///
/// ```
///   not started ──start──▶ to be clamped ──clamped──▶ trusted
///                               ▲                        │
///                               └── advance: it went back┤
///                               └── mayHaveJumped ───────┘
/// ```
///
/// "To be clamped": a stored wait may begin later than now, because the clock went back or was another one when it was
/// stored. Each such wait then begins now, once, in the file too. If only reads were clamped, it would move ahead of the
/// clock for ever.
struct MachineClock: Hashable {
  /// The moment of the last event; nil before the start.
  private var latest: Timestamp?
  /// The same in milliseconds of a clock that is never set.
  private var latestUptime: Int64 = 0
  /// Whether stored moments are to be clamped.
  private(set) var needsClamping = false

  var isRunning: Bool { latest != nil }

  mutating func start(at now: Timestamp, uptime: Int64) {
    (latest, latestUptime) = (now, uptime)
    // The clock of an earlier run is not known.
    needsClamping = true
  }

  /// An event comes at this moment. Says how far the clock went back since the last one, as far as the uptime shows it.
  mutating func advance(to now: Timestamp, uptime: Int64) -> ClockJump? {
    defer { (latest, latestUptime) = (now, uptime) }
    guard let latest else { return nil }
    let unseen = max(0, uptime - latestUptime)
    let jump = ClockJump(from: latest.adding(milliseconds: unseen), to: now, unseen: unseen)
    guard now < latest || jump.distance >= Self.leastJump else { return nil }
    needsClamping = true
    return jump
  }

  /// Two clocks that are read one after the other differ by less.
  static var leastJump: Int64 { 1_000 }

  /// Another process of this installation may have had another clock.
  mutating func mayHaveJumped() { needsClamping = true }

  mutating func clamped() { needsClamping = false }
}

extension Timestamp {
  /// Later than every moment of a clock.
  static var distantFuture: Timestamp { Timestamp(milliseconds: .max) }
}
