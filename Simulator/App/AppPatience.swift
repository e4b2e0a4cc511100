/// How long the app waits until nothing is left to do.
///
/// A time limit for the whole wait would measure how busy the machine is. The app therefore waits as long as it makes
/// progress, and time counts only together with passes of the waiting loop: a process that is not scheduled makes none.
struct AppPatience {
  enum End: Equatable {
    case done
    /// The app does nothing any more, and work is left.
    case stuck
    /// The app makes attempts, and the work that is left does not change.
    case outOfTime
  }

  /// A pass of the loop takes about 10 ms while nothing happens, so that on an idle machine the seconds decide.
  private static let loopsPerSecond = 100
  /// Attempts without a change are watched for so many times the seconds.
  private static let attemptsFactor: Int64 = 6

  /// Time and loops since something changed.
  private struct Quiet {
    var since: ContinuousClock.Instant
    var loops = 0

    func isLonger(than seconds: Int64, _ now: ContinuousClock.Instant) -> Bool {
      now - since >= .seconds(seconds) && loops >= Int(seconds) * AppPatience.loopsPerSecond
    }
  }

  private let seconds: Int64
  /// False for clients that promise nothing: their time starts once.
  private let waitsForProgress: Bool
  private var left = Int.min
  private var passages = 0
  private var sinceAttempt: Quiet
  private var sinceProgress: Quiet

  init(seconds: Int64, waitsForProgress: Bool, now: ContinuousClock.Instant = .now) {
    (self.seconds, self.waitsForProgress) = (seconds, waitsForProgress)
    (sinceAttempt, sinceProgress) = (Quiet(since: now), Quiet(since: now))
  }

  /// Until the next look. Each look takes the engine's time and stops the clock of the run (`FastClock`): with much left,
  /// or while nothing happens, the end is not near.
  var pause: Duration {
    if left > 64 { return .milliseconds(25) }
    return .milliseconds(left > 16 ? 10 : sinceAttempt.loops < 8 ? 2 : 8)
  }

  /// To be called in each pass of the waiting loop; nil to go on waiting.
  ///
  /// - Parameters:
  ///   - left: How much work is left.
  ///   - passages: How many checkpoints were passed so far: each attempt passes some.
  mutating func end(left: Int, passages: Int, now: ContinuousClock.Instant = .now) -> End? {
    sinceAttempt.loops += 1
    sinceProgress.loops += 1
    if waitsForProgress {
      if left != self.left { sinceProgress = Quiet(since: now) }
      if left != self.left || passages != self.passages { sinceAttempt = Quiet(since: now) }
      (self.left, self.passages) = (left, passages)
    }
    if sinceAttempt.isLonger(than: seconds, now) { return .stuck }
    return sinceProgress.isLonger(than: seconds * Self.attemptsFactor, now) ? .outOfTime : nil
  }
}
