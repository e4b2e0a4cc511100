import PurchaseQueue

/// When the app is asked for credentials again after the backend refused them.
///
/// ```
///          refused                refused                    due, or a wake-up
///   known ────────▶ asked anew ────────────▶ waits: 20 min, 40 ──────────────────▶ asked anew
///     ▲               │ at once                 1 day                                │
///     └───────────────┴─────────────────── answered ◀────────────────────────────────┘
/// ```
struct SignInRetry: Hashable {
  /// Refusals in a row.
  private(set) var refusals = 0
  /// When the credentials are asked for again; nil while nothing waits.
  private(set) var due: Timestamp?

  /// The backend refused a token. True if a new one is to be asked for at once. Else it is asked for later, and later
  /// each time.
  mutating func refused(now: Timestamp, _ delays: inout Delays) -> Bool {
    refusals = min(refusals + 1, 64)
    guard refusals > 1 else { return true }
    let most = max(0, delays.policy.horizonMilliseconds)
    var least = min(max(0, delays.policy.ceilingMilliseconds), most)
    for _ in 2..<refusals where least < most { least = least > most / 2 ? most : least * 2 }
    let widest = least > most / 2 ? most : least * 2
    due = now.adding(milliseconds: Backoff.uniform(least...widest, using: &delays.random))
    return false
  }

  /// A wake-up, or the moment has come: the next request may go out.
  mutating func ended() { due = nil }

  /// The clock went back behind this moment: a wait that was over by then stays over.
  mutating func forget(overBy moment: Timestamp) {
    guard let due, due <= moment else { return }
    // Due since: any moment of the past.
    self.due = Timestamp(milliseconds: 0)
  }

  mutating func clamp(now: Timestamp, policy: RetryPolicy) {
    due = due.map { policy.bounded($0, after: now) }
  }
}
