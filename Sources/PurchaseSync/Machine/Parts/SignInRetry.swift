import PurchaseQueue

/// When the app is asked for credentials again after the backend refused them.
///
/// ```
///          refused                refused                    due, or a wake-up
///   known ────────▶ asked again ────────────▶ waits: 20 min, 40 ──────────────────▶ asked again
///     ▲               │ at once                 1 day                                │
///     └───────────────┴─────────────────── answered ◀────────────────────────────────┘
/// ```
struct SignInRetry: Hashable {
  /// Refusals in a row.
  private(set) var refusals = 0
  /// Until the credentials are asked for again; nil while nothing waits.
  private var wait: Wait?

  /// When the credentials are asked for again; nil while nothing waits.
  var due: Timestamp? { wait?.ends }

  /// The same, seen at this moment: no later than after the length of the wait.
  func opensAt(now: Timestamp) -> Timestamp? { wait?.opensAt(now: now) }

  /// The backend refused a token. True if a new one is to be asked for at once. Else it is asked for later, and later
  /// each time.
  mutating func refused(now: Timestamp, _ delays: inout Delays) -> Bool {
    refusals = min(refusals + 1, 64)
    guard refusals > 1 else { return true }
    let most = max(0, delays.policy.horizonMilliseconds)
    var least = min(max(0, delays.policy.ceilingMilliseconds), most)
    for _ in 2..<refusals where least < most { least = least > most / 2 ? most : least * 2 }
    let widest = least > most / 2 ? most : least * 2
    wait = Wait(
      .backoff, began: now, milliseconds: Backoff.uniform(least...widest, using: &delays.random))
    return false
  }

  /// A wake-up, or the moment has come: the next request may go out.
  mutating func ended() { wait = nil }

  /// The clock went back. A wait that was over stays, and is due.
  mutating func follow(_ jump: ClockJump) { wait?.follow(jump) }

  /// The clock may have jumped.
  mutating func clamp(now: Timestamp) { wait?.clockIsAt(now) }
}
