import PurchaseQueue

/// One account's adoption of what the device bought before sign-in.
///
/// ```
///           send                taken, and the lane was empty of what it covers
///   idle ─────────▶ in flight ─────────────────────────────────────────────────▶ ended
///    ▲ ▲                │  │ taken, but entries were left: sent once more when they are gone
///    │ └────────────────┘  │
///    │    or failed        │ credentials missing or refused
///    └── signedIn, due ── sign-in needed ◀┘
/// ```
struct Adoption: Hashable {
  enum Activity: Hashable {
    case idle
    /// `isLast`: when the request was sent, the device lane held nothing that the adoption covers. The backend's answer
    /// to such a request ends the adoption.
    case inFlight(isLast: Bool, hasNewCredentials: Bool)
    case signInNeeded
  }

  private(set) var activity = Activity.idle
  /// Entries up to this place are covered.
  let throughPlace: Int64
  /// The backend took it while entries were left.
  private(set) var isTaken = false
  private(set) var backoff = LaneBackoff()
  private(set) var purpose: RetryBudget.Purpose
  /// When refused credentials are asked for again.
  private(set) var signIn = SignInRetry()

  init(throughPlace: Int64, for purpose: RetryBudget.Purpose = .retry) {
    self.throughPlace = throughPlace
    self.purpose = purpose
  }

  /// The meaning of an answer.
  enum End: Hashable {
    /// Nothing more is to be sent.
    case ended
    /// It is sent again as soon as it is due.
    case goesOn
    /// It failed: the retry state is to be committed before it is sent again.
    case failed
    /// The credentials are missing or were refused.
    case needsSignIn
    /// Nothing changed: it is sent at the next wake-up.
    case waits
  }

  /// Whether the backend may know of it.
  var wasSent: Bool {
    if case .inFlight = activity { return true }
    return isTaken || backoff.failures > 0
  }

  /// The app asked for it again while this request was in flight: the answer will not be the last.
  mutating func replaces(_ earlier: Adoption?) {
    guard let earlier else { return }
    (isTaken, backoff) = (earlier.isTaken, earlier.backoff)
    if case .inFlight = earlier.activity {
      activity = .inFlight(isLast: false, hasNewCredentials: false)
    }
  }

  mutating func signedIn() {
    signIn = SignInRetry()
    switch activity {
    case .idle: break
    case .inFlight(let isLast, _): activity = .inFlight(isLast: isLast, hasNewCredentials: true)
    case .signInNeeded: activity = .idle
    }
  }

  mutating func sent(isLast: Bool) {
    activity = .inFlight(isLast: isLast, hasNewCredentials: false)
    purpose = .retry
  }

  /// The backend took it.
  mutating func taken() -> End {
    guard case .inFlight(let isLast, _) = activity else { preconditionFailure("no adoption was in flight") }
    activity = .idle
    signIn = SignInRetry()
    backoff.succeeded()
    if isLast { return .ended }
    isTaken = true
    return .goesOn
  }

  /// The backend did not take it.
  mutating func failed(
    _ failure: UploadFailure, _ retry: inout RetryLedger, now: Timestamp, _ delays: inout Delays
  ) -> End {
    guard case .inFlight(_, let hasNewCredentials) = activity else {
      preconditionFailure("no adoption was in flight")
    }
    activity = .idle
    switch failure {
    case .signInNeeded:
      if hasNewCredentials { return .goesOn }
      activity = .signInNeeded
      return .needsSignIn
    case .tokenRefused:
      if hasNewCredentials || signIn.refused(now: now, &delays) { return .goesOn }
      activity = .signInNeeded
      return .needsSignIn
    case .interrupted, .proofMissing, .laneTaken, .unreadable: return .waits
    case .retry, .requestFailed, .backendBusy, .backendFault, .otherProtocol, .unprepared, .accountRefused:
      retry.failed(failure, &backoff, now: now, &delays)
      return .failed
    }
  }

  /// A sign that sending works again.
  mutating func wake(for purpose: RetryBudget.Purpose, now: Timestamp, _ delays: inout Delays) {
    if purpose == .person { self.purpose = .person }
    backoff.woken(
      isTap: purpose == .person, now: now, policy: delays.policy, using: &delays.random)
  }

  /// The wait for credentials is over, if there is one.
  mutating func endSignInWait() {
    guard activity == .signInNeeded else { return }
    activity = .idle
    signIn.ended()
  }

  mutating func follow(_ jump: ClockJump) {
    backoff.follow(jump)
    signIn.follow(jump)
  }

  mutating func clamp(now: Timestamp) {
    backoff.clamp(now: now)
    signIn.clamp(now: now)
  }
}
