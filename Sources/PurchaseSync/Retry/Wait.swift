package import PurchaseQueue

/// A wait: a length from a moment, and its cause. Stored as it is, so that a kill shortens none.
///
/// A moment alone cannot be trusted: after a clock that jumped ahead and back it lies far in the future. A length can: seen
/// by any clock, a wait lasts at most its own length again (`clockIsAt`).
package struct Wait: Hashable, Sendable, Codable {
  /// Who wants the wait.
  package enum Cause: String, Hashable, Sendable, Codable {
    /// The backend (`Retry-After`). Nothing shortens it.
    case asked
    /// Our own delay, after a failure or a verdict that is not final. A wake shortens it, a tap ends it.
    case backoff
    /// An entry that fails by itself lets others pass. A wake shortens it, a tap ends it.
    case poison
  }

  package let cause: Cause
  package private(set) var began: Timestamp
  /// The length, never negative.
  package private(set) var milliseconds: Int64
  /// The part of the length that the backend asked for: no wake and no tap shortens it.
  package let asked: Int64

  /// A wait that is at least as long as the backend asked.
  package init(_ cause: Cause, began: Timestamp, milliseconds: Int64, asked: Int64 = 0) {
    let asked = max(asked, 0)
    self.cause = asked > 0 && asked >= milliseconds ? .asked : cause
    self.began = began
    self.milliseconds = max(milliseconds, asked, 0)
    self.asked = cause == .asked ? self.milliseconds : asked
  }

  /// When it ends, if the clock does not jump.
  package var ends: Timestamp { began.adding(milliseconds: milliseconds) }

  /// When the part ends that the backend asked for; nil if it asked for none.
  package var askedEnds: Timestamp? { asked > 0 ? began.adding(milliseconds: asked) : nil }

  /// Whether it is over.
  package func isOver(by now: Timestamp) -> Bool { ends <= now && began <= now }

  /// When it is over: `now`, or later, by at most its length.
  package func opensAt(now: Timestamp) -> Timestamp {
    began > now ? now.adding(milliseconds: milliseconds) : max(now, ends)
  }

  /// The clock shows this moment. A wait that began later, by a clock that has gone back since, begins now.
  package mutating func clockIsAt(_ now: Timestamp) { began = min(began, now) }

  /// The clock went back: what is left of the wait stays as long as it was. `isShared`: another process of this
  /// installation may have stored it since. Then a wait that the backend asked for, and that could have begun at the new
  /// time, stays.
  mutating func follow(_ jump: ClockJump, isShared: Bool = false) {
    if isShared, jump.canBeSince(began), let askedEnds, askedEnds > jump.to { return }
    began = began.adding(milliseconds: -jump.distance)
  }

  /// Brings the end nearer, to the moment. At least the time that the backend asked for stays, and `pace` from the
  /// beginning: however often this is called, an attempt follows the one before after that time.
  package mutating func shorten(to moment: Timestamp, pace: Int64) {
    let least = max(asked, min(max(pace, 0), milliseconds))
    milliseconds = min(milliseconds, max(moment.milliseconds(since: began), least))
  }

  /// A wait from now on that keeps what the backend asked for in an earlier one.
  package static func backoff(
    _ milliseconds: Int64, keeping earlier: Wait?, now: Timestamp
  ) -> Wait {
    let left = earlier?.askedEnds.map { max(0, min($0.milliseconds(since: now), earlier?.asked ?? 0)) }
    return Wait(.backoff, began: now, milliseconds: milliseconds, asked: left ?? 0)
  }
}

extension Wait {
  /// The longest wait whose beginning is not known: a day.
  private static var longestUnknown: Int64 { 86_400_000 }

  /// The wait of an entry; nil if it is not postponed. `stored`: what was stored for it last. If that is lost, or is of
  /// an earlier postponement, the entry waits for a reason of our own.
  package init?(of entry: Entry, stored: Wait?) {
    guard entry.readyAt.milliseconds != 0 else { return nil }
    if let stored, stored.ends == entry.readyAt {
      self = stored
    } else {
      let began = entry.readyAt.adding(milliseconds: -Self.longestUnknown)
      self.init(.backoff, began: began, milliseconds: entry.readyAt.milliseconds(since: began))
    }
  }
}

extension Wait? {
  /// The clock went back. A wait that was over stays over.
  mutating func follow(_ jump: ClockJump, isShared: Bool = false) {
    self?.follow(jump, isShared: isShared)
    if let wait = self, wait.isOver(by: jump.to) { self = nil }
  }
}

extension Timestamp {
  /// How many milliseconds later than `earlier` this is; negative if it is earlier. Saturates instead of
  /// overflowing: the clocks of devices say anything.
  package func milliseconds(since earlier: Timestamp) -> Int64 {
    let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
    guard overflow else { return difference }
    return earlier.milliseconds < 0 ? .max : .min
  }

  /// This moment, or the one that lies `milliseconds` after `now`, whichever is earlier. Limits a timer after the clock
  /// went back.
  package func clamped(to milliseconds: Int64, after now: Timestamp) -> Timestamp {
    min(self, now.adding(milliseconds: max(milliseconds, 0)))
  }
}
