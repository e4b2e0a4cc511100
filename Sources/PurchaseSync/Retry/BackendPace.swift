package import PurchaseQueue

/// The state of the backend for all lanes of an installation: whether it fails, and when it allows the next request.
///
/// A storage keeps it, so that a kill shortens no Retry-After and an outage is remembered. The effect of a failure is
/// committed before the next request. `sent` changes nothing while the backend is healthy.
package struct BackendPace: Hashable, Sendable, Codable {
  /// From the Retry-After of a 429 or 503, with its jitter: nothing is sent before, whatever wakes a lane.
  package private(set) var notBefore: Timestamp?
  /// Whether the last upload failed. Then every request costs some of the budget.
  package private(set) var isFailing: Bool
  /// After an outage: how many uploads have to work before they are no longer paced. 0 when healthy.
  package private(set) var pacedSendsLeft: Int
  /// When the last request went out, of those that are paced.
  package private(set) var pacedAt: Timestamp?
  /// When an upload last worked: whether others succeed while one fails (`PoisonWatch`).
  package private(set) var succeededAt: Timestamp?

  /// Nothing is known yet.
  package init() {
    self.init(notBefore: nil, isFailing: false, pacedSendsLeft: 0, pacedAt: nil, succeededAt: nil)
  }

  /// As it was stored.
  package init(
    notBefore: Timestamp?, isFailing: Bool, pacedSendsLeft: Int, pacedAt: Timestamp?, succeededAt: Timestamp?
  ) {
    self.notBefore = notBefore
    self.isFailing = isFailing
    self.pacedSendsLeft = pacedSendsLeft
    self.pacedAt = pacedAt
    self.succeededAt = succeededAt
  }

  /// Whether requests keep their distance: while the backend fails, and until it has recovered.
  package var isPaced: Bool { isFailing || pacedSendsLeft > 0 }

  /// The earliest moment at which any lane may send: `now`, or later, never beyond the policy's horizon.
  package func opensAt(now: Timestamp, policy: RetryPolicy) -> Timestamp {
    var opens = now
    if let notBefore { opens = max(opens, notBefore.clamped(to: policy.horizonMilliseconds, after: now)) }
    if isPaced, let pacedAt {
      // A clock that went back would make the last request one of the future.
      opens = max(opens, min(pacedAt, now).adding(milliseconds: max(policy.paceMilliseconds, 0)))
    }
    return opens
  }

  /// A request goes out. It was allowed (`opensAt`).
  package mutating func sent(now: Timestamp) {
    notBefore = nil
    if isPaced { pacedAt = now }
  }

  /// Verdicts came. A Retry-After that another request brought meanwhile stays.
  package mutating func succeeded(now: Timestamp, policy: RetryPolicy) {
    if isFailing {
      isFailing = false
      pacedSendsLeft = max(policy.pacedSends, 0)
      pacedAt = now
    } else if pacedSendsLeft > 0 {
      pacedSendsLeft -= 1
    }
    if pacedSendsLeft == 0 { pacedAt = nil }
    succeededAt = now
  }

  /// The backend did not answer with a reply of its protocol. `retryAfterMilliseconds` is its Retry-After, if that holds
  /// for all lanes (429, 503).
  package mutating func failed(
    retryAfterMilliseconds: Int64? = nil, now: Timestamp, policy: RetryPolicy,
    using random: inout some RandomNumberGenerator
  ) {
    isFailing = true
    pacedSendsLeft = 0
    pacedAt = now
    if let asked = retryAfterMilliseconds {
      paused(milliseconds: asked, now: now, policy: policy, using: &random)
    }
  }

  /// The backend asks all lanes for a pause, with a failure or with verdicts.
  package mutating func paused(
    milliseconds asked: Int64, now: Timestamp, policy: RetryPolicy,
    using random: inout some RandomNumberGenerator
  ) {
    guard asked > 0 else { return }
    let floor = now.adding(milliseconds: policy.floorMilliseconds(asked: asked, using: &random))
    notBefore = max(notBefore?.clamped(to: policy.horizonMilliseconds, after: now) ?? floor, floor)
  }

  /// Another process of this installation has committed its state since: it knows of later requests than this one.
  package mutating func heard(_ other: BackendPace) {
    let (asked, succeeded) = (notBefore, succeededAt)
    self = other
    if let asked { notBefore = max(asked, other.notBefore ?? asked) }
    if let succeeded { succeededAt = max(succeeded, other.succeededAt ?? succeeded) }
  }

  /// The clock goes back behind this moment: a wait that was over by then stays over.
  package mutating func forget(overBy moment: Timestamp) {
    if let notBefore, notBefore <= moment { self.notBefore = nil }
  }

  /// The clock may have jumped: nothing lies beyond the horizon, nothing that happened is still to come.
  package mutating func clamp(now: Timestamp, policy: RetryPolicy) {
    notBefore = notBefore?.clamped(to: policy.horizonMilliseconds, after: now)
    pacedAt = pacedAt.map { min($0, now) }
    succeededAt = succeededAt.map { min($0, now) }
  }
}
