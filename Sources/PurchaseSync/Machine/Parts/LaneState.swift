import PurchaseQueue

/// One request of a lane: being prepared, or sent and not answered.
struct InFlight: Hashable {
  /// The entries as they were when the lane was reserved for them.
  let entries: [Entry]
  /// Whether the attempt is recorded. Before, the request is only being prepared.
  fileprivate(set) var hasBegun = false
  /// Entries that the app discarded since. A newer entry with such a key is an update; the answer does not apply to it.
  fileprivate(set) var discarded: Set<EntryKey> = []
  /// Entries that the store delivered to this process since. What came during an earlier request is not among them.
  fileprivate(set) var arrived: Set<EntryKey> = []
  /// The account signed in since. If the request's credentials are refused, that says nothing about the new ones.
  fileprivate(set) var hasNewCredentials = false
  /// A wake came since. If the request fails, that says nothing about the time after the wake.
  fileprivate(set) var wasWoken = false
  /// One of these wakes ended the waits of the lane's entries. Those that the answer begins end with it, too.
  fileprivate(set) var endsEntryWaits = false

  init(_ entries: [Entry]) { self.entries = entries }

  func holds(_ key: EntryKey) -> Bool { entries.contains { $0.key == key } }

  /// The entries that the answer still applies to.
  var answerable: [EntryKey] {
    discarded.isEmpty ? entries.map(\.key) : entries.map(\.key).filter { !discarded.contains($0) }
  }
}

/// One lane: what it has in flight, when it may send again, and whether a person waits for it.
///
/// ```
///          reserve                   begin            ended by a reply, or failed
///   idle ───────────▶ in flight, ───────────▶ in flight, ───────────────────────▶ idle
///    ▲ ▲              being prepared          attempt recorded                     │ credentials missing
///    │ └── begin: not ────┘ │ failed                                               │ or refused
///    │     admitted now     └──────────────────────────────────────────────────────┤
///    └─────────────────── wake, or it is due ───── sign-in needed ◀────────────────┘
/// ```
///
/// Whether an idle lane waits is not a state: its backoff and the backend's pace say when it may send.
struct LaneState: Hashable {
  enum Activity: Hashable {
    case idle
    case inFlight(InFlight)
    case signInNeeded
  }

  private(set) var activity = Activity.idle
  private(set) var backoff = LaneBackoff()
  /// The purpose of the next request: a request for a person may use the reserve of the budget.
  private(set) var purpose = RetryBudget.Purpose.retry
  /// When refused credentials are asked for again.
  private(set) var signIn = SignInRetry()
  /// Whether the next upload begins with a postponed entry that is due. The two kinds take turns, so neither waits for
  /// more than one upload of the other, however many there are.
  private(set) var sendsDueFirst = false
  /// The most claims of the next upload: half of the last one that got no answer, since it may have been too long for the
  /// network, or one of its claims may be why there was none.
  private(set) var mostClaims = UploadRequest.mostClaims
  /// How many claims go up together although they failed before: twice as many as in the last upload, if it was answered.
  /// After an outage, what failed in it does not go one by one.
  private(set) var provenClaims = 1
  /// Deliveries of entries while they were in flight. The verdicts do not take them into account.
  private(set) var arrivedInFlight: [EntryKey: StoreTransaction] = [:]

  init(backoff: LaneBackoff = LaneBackoff()) { self.backoff = backoff }

  var inFlight: InFlight? {
    if case .inFlight(let request) = activity { request } else { nil }
  }

  /// The entries in flight; empty if nothing is.
  var sent: [Entry] { inFlight?.entries ?? [] }

  // MARK: Events

  /// Something new to send, or a sign that sending works again. `hasShortened`: entries of the lane wait less for it.
  mutating func wake(
    for purpose: RetryBudget.Purpose, hasShortened: Bool = false, now: Timestamp, _ delays: inout Delays
  ) {
    endSignInWait()
    if purpose == .person { self.purpose = .person }
    if inFlight != nil { changeRequest { $0.wasWoken = true } }
    let isTap = purpose == .person
    backoff.woken(isTap: isTap, now: now, policy: delays.policy, using: &delays.random)
    guard hasShortened else { return }
    backoff.brought(isTap: isTap, now: now, policy: delays.policy, using: &delays.random)
  }

  /// The backend answered another lane.
  mutating func reached(now: Timestamp, _ delays: inout Delays) {
    backoff.woken(isTap: true, now: now, policy: delays.policy, using: &delays.random)
  }

  /// The waits of the lane's entries ended.
  mutating func endedEntryWaits() { changeRequest { $0.endsEntryWaits = true } }

  /// Changes what is in flight in its place, without a copy of its entries.
  private mutating func changeRequest(_ change: (inout InFlight) -> Void) {
    guard case .inFlight(var request) = activity else { return }
    activity = .idle
    change(&request)
    activity = .inFlight(request)
  }

  /// The wait for credentials is over, if there is one.
  mutating func endSignInWait() {
    guard activity == .signInNeeded else { return }
    activity = .idle
    signIn.ended()
  }

  /// The account has credentials, new ones or again.
  mutating func signedIn() {
    signIn = SignInRetry()
    changeRequest { $0.hasNewCredentials = true }
  }

  /// A request for these entries is prepared. No other request of this lane begins until it has ended.
  mutating func reserve(_ entries: [Entry]) {
    activity = .inFlight(InFlight(entries))
  }

  /// The attempt is recorded: the request goes out now.
  mutating func begin(_ request: InFlight) {
    var request = request
    request.hasBegun = true
    purpose = .retry
    sendsDueFirst = request.entries.first?.readyAt.milliseconds == 0
    activity = .inFlight(request)
  }

  /// The store delivered an entry again. It matters if the entry is in flight.
  mutating func arrived(_ transaction: StoreTransaction) {
    guard let request = inFlight, request.holds(transaction.key) else { return }
    arrivedInFlight[transaction.key] = transaction
    changeRequest { $0.arrived.insert(transaction.key) }
  }

  /// The app discarded an entry.
  mutating func discarded(_ key: EntryKey) {
    arrivedInFlight[key] = nil
    guard let request = inFlight, request.holds(key) else { return }
    changeRequest { $0.discarded.insert(key) }
  }

  /// The request that an answer is for. The lane stays in flight until `ended`: freeing capacity looks at all lanes, and
  /// would resend entries of this one that are not postponed yet.
  var answeredRequest: InFlight {
    guard case .inFlight(let request) = activity else {
      preconditionFailure("an answer for a lane that has nothing in flight")
    }
    return request
  }

  /// The verdicts of a reply are dealt with.
  mutating func ended(_ backoff: LaneBackoff) {
    if !arrivedInFlight.isEmpty { for entry in sent { arrivedInFlight[entry.key] = nil } }
    provenClaims = max(1, 2 * sent.count)
    activity = .idle
    signIn = SignInRetry()
    mostClaims = UploadRequest.mostClaims
    self.backoff = backoff
  }

  /// The request ended without verdicts, or did not begin: the lane is idle.
  mutating func stopped() { activity = .idle }

  /// Updates the backoff of this lane and the pace of all lanes. If one of several claims may be at fault, the request is
  /// not sent again as it is: the next one has fewer claims, so it need not wait for long.
  mutating func failed(
    _ failure: UploadFailure, _ request: InFlight, _ retry: inout RetryLedger, now: Timestamp,
    _ delays: inout Delays
  ) {
    let isOneOfSeveral = request.entries.count > 1 && failure.blame != .nothing
    retry.failed(failure, &backoff, now: now, &delays)
    if isOneOfSeveral { goesOn(now: now, &delays) }
    provenClaims = 1
    if case .retry = failure, request.entries.count > 1 { mostClaims = request.entries.count / 2 }
    if request.wasWoken {
      backoff.woken(
        isTap: purpose == .person, now: now, policy: delays.policy, using: &delays.random)
    }
  }

  /// The next request is another one than the one that failed: it need not wait for as long.
  mutating func goesOn(now: Timestamp, _ delays: inout Delays) {
    backoff.goesOn(now: now, policy: delays.policy, using: &delays.random)
  }

  /// There are no credentials.
  mutating func needSignIn() { activity = .signInNeeded }

  /// The backend refused the credentials. True if new ones are to be asked for at once.
  mutating func refused(now: Timestamp, _ delays: inout Delays) -> Bool {
    if signIn.refused(now: now, &delays) { return true }
    activity = .signInNeeded
    return false
  }

  // MARK: Time

  /// The clock went back.
  mutating func follow(_ jump: ClockJump) {
    backoff.follow(jump)
    signIn.follow(jump)
  }

  mutating func clamp(now: Timestamp) {
    backoff.clamp(now: now)
    signIn.clamp(now: now)
  }
}
