package import PurchaseQueue

/// The state of the backend for all lanes of an installation: whether it fails, and when it allows the next request.
///
/// A storage keeps it, so that a kill shortens no Retry-After and an outage is remembered. The effect of a failure is
/// committed before the next request. `sent` changes nothing while the backend is healthy.
package struct BackendPace: Hashable, Sendable, Codable {
  /// From the Retry-After of a 429 or 503, with its jitter: nothing is sent before, whatever wakes a lane.
  package private(set) var asked: Wait?
  /// Whether the last upload failed. Then every request costs some of the budget.
  package private(set) var isFailing: Bool
  /// After an outage: how many uploads have to work before they are no longer paced. 0 when healthy.
  package private(set) var pacedSendsLeft: Int
  /// When the last request went out, of those that are paced.
  package private(set) var pacedAt: Timestamp?
  /// When an upload last worked: whether others succeed while one fails (`PoisonWatch`).
  package private(set) var succeededAt: Timestamp?
  /// When an upload last got no answer about itself: the backend was not reached, or was too busy.
  package private(set) var unwellAt: Timestamp?

  /// Nothing is known yet.
  package init() {
    self.init(asked: nil, isFailing: false, pacedSendsLeft: 0, pacedAt: nil, succeededAt: nil)
  }

  /// As it was stored.
  package init(
    asked: Wait?, isFailing: Bool, pacedSendsLeft: Int, pacedAt: Timestamp?, succeededAt: Timestamp?,
    unwellAt: Timestamp? = nil
  ) {
    self.asked = asked
    self.isFailing = isFailing
    self.pacedSendsLeft = pacedSendsLeft
    self.pacedAt = pacedAt
    self.succeededAt = succeededAt
    self.unwellAt = unwellAt
  }

  /// Whether requests keep their distance: while the backend fails, and until it has recovered.
  package var isPaced: Bool { isFailing || pacedSendsLeft > 0 }

  /// The earliest moment at which any lane may send: `now`, or later.
  package func opensAt(now: Timestamp, policy: RetryPolicy) -> Timestamp {
    var opens = asked?.opensAt(now: now) ?? now
    if isPaced, let pacedAt {
      // A clock that went back would make the last request one of the future.
      opens = max(opens, min(pacedAt, now).adding(milliseconds: max(policy.paceMilliseconds, 0)))
    }
    return opens
  }

  /// Whether an outage has just ended.
  package var isRecovering: Bool { !isFailing && pacedSendsLeft > 0 }

  /// A request after a failure goes out without a cost. A lane that fails all the same does not prolong the recovery.
  package mutating func triedInRecovery() {
    pacedSendsLeft -= 1
    if pacedSendsLeft == 0 { pacedAt = nil }
  }

  /// A request goes out. It was allowed (`opensAt`).
  package mutating func sent(now: Timestamp) {
    asked = nil
    if isPaced { pacedAt = now }
  }

  /// The backend did what a request asked for. A Retry-After that another request brought in between stays.
  ///
  /// - Parameters:
  ///   - isUpload: Whether verdicts came. An adoption that was taken says nothing about entries that fail.
  ///   - isAwaited: Whether lanes wait for the budget. They go on by the pace, as after an outage: one after another would
  ///     wait until a request comes back.
  package mutating func succeeded(
    isUpload: Bool = true, isAwaited: Bool = false, now: Timestamp, policy: RetryPolicy
  ) {
    if isFailing || isAwaited && pacedSendsLeft == 0 {
      isFailing = false
      pacedSendsLeft = max(policy.pacedSends, 0)
      pacedAt = now
    } else if pacedSendsLeft > 0 {
      pacedSendsLeft -= 1
    }
    if pacedSendsLeft == 0 { pacedAt = nil }
    if isUpload { succeededAt = now }
  }

  /// The backend did not answer with a reply of its protocol.
  ///
  /// - Parameters:
  ///   - retryAfterMilliseconds: Its Retry-After, if that holds for all lanes (429, 503).
  ///   - isAboutRequest: Whether the answer is about what was sent. If not, the backend as a whole is unwell. One in a
  ///     recovery does not end it.
  package mutating func failed(
    retryAfterMilliseconds: Int64? = nil, isAboutRequest: Bool = false, now: Timestamp, policy: RetryPolicy,
    using random: inout some RandomNumberGenerator
  ) {
    // The backend has just answered others, so they go on: it is this request at which it fails.
    guard !isAboutRequest || !isRecovering else { return }
    isFailing = true
    pacedSendsLeft = 0
    pacedAt = now
    if !isAboutRequest { unwellAt = now }
    if let asked = retryAfterMilliseconds {
      paused(milliseconds: asked, now: now, policy: policy, using: &random)
    }
  }

  /// The backend asks all lanes for a pause, with a failure or with verdicts.
  package mutating func paused(
    milliseconds: Int64, now: Timestamp, policy: RetryPolicy, using random: inout some RandomNumberGenerator
  ) {
    guard milliseconds > 0 else { return }
    let floor = policy.floorMilliseconds(asked: milliseconds, using: &random)
    let new = Wait(.asked, began: now, milliseconds: floor)
    if asked.map({ $0.opensAt(now: now) <= new.ends }) ?? true { asked = new }
  }

  /// Another process of this installation has committed its state since: it knows of later requests than this one.
  package mutating func merge(_ other: BackendPace) {
    let (asked, succeeded, unwell) = (asked, succeededAt, unwellAt)
    self = other
    if let asked, asked.ends > self.asked?.ends ?? asked.began { self.asked = asked }
    if let succeeded { succeededAt = max(succeeded, other.succeededAt ?? succeeded) }
    if let unwell { unwellAt = max(unwell, other.unwellAt ?? unwell) }
  }

  /// The clock went back. `isShared` as in `RetryState`.
  mutating func follow(_ jump: ClockJump, isShared: Bool = false) {
    asked.follow(jump, isShared: isShared)
    pacedAt = pacedAt?.adding(milliseconds: -jump.distance)
    succeededAt = succeededAt?.adding(milliseconds: -jump.distance)
    unwellAt = unwellAt?.adding(milliseconds: -jump.distance)
  }

  /// The Retry-After is over.
  mutating func endAskedWait() { asked = nil }

  /// The clock may have jumped: nothing that happened is still to come.
  package mutating func clamp(now: Timestamp) {
    asked?.clockIsAt(now)
    pacedAt = pacedAt.map { min($0, now) }
    succeededAt = succeededAt.map { min($0, now) }
    unwellAt = unwellAt.map { min($0, now) }
  }
}
