import PurchaseQueue

/// The adoptions of an installation by account: requested by the app, durable, and sent until the backend has taken
/// them for everything that was in the device lane.
///
/// They are sent in the order of the requests: the backend gives an account everything that no account has adopted
/// before, so a later request must not pass an earlier one.
struct AdoptionTable: Hashable {
  /// By the lanes of the accounts, which are compared as bytes.
  private var adoptions: [Lane: Adoption] = [:]
  /// The accounts, the first request first.
  private var order: [String] = []

  /// The adoption of this account; nil if none is pending.
  func state(of account: String) -> Adoption? { adoptions[.account(account)] }

  var isEmpty: Bool { adoptions.isEmpty }

  mutating func start(from storage: some AdoptionStorage) throws(QueueError) {
    for stored in try storage.deviceAdoptions() {
      put(Adoption(throughPlace: stored.throughPlace), of: stored.account)
    }
  }

  /// A repeated request keeps its place.
  private mutating func put(_ adoption: Adoption, of account: String) {
    if adoptions[.account(account)] == nil { order.append(account) }
    adoptions[.account(account)] = adoption
  }

  private mutating func remove(_ account: String) {
    order.removeAll { $0.hasSameBytes(as: account) }
    adoptions[.account(account)] = nil
  }

  /// The account takes its request back. False if there is none, or if this process has sent it.
  mutating func withdraw(_ account: String, in storage: some AdoptionStorage) throws(QueueError) -> Bool {
    guard let adoption = adoptions[.account(account)], !adoption.wasSent else { return false }
    try storage.endAdoption(of: account, throughPlace: .max)
    remove(account)
    return true
  }

  /// The app says that the device's purchases are this account's.
  mutating func request(by account: String, in storage: some AdoptionStorage) throws(QueueError) {
    let stored = try storage.keepAdoption(of: account)
    var adoption = Adoption(throughPlace: stored.throughPlace, for: .person)
    adoption.replaces(adoptions[.account(account)])
    put(adoption, of: account)
  }

  mutating func woken(_ reason: WakeReason, now: Timestamp, _ delays: inout Delays) {
    // In a fixed order: waking draws random numbers.
    for account in order where reason.concerns(account) {
      adoptions[.account(account)]?.wake(for: reason.purpose, now: now, &delays)
      if case .signedIn = reason { adoptions[.account(account)]?.signedIn() }
    }
  }

  /// The backend took a request. True if adoptions are to be looked at again.
  mutating func taken(
    by account: String, in storage: some AdoptionStorage
  ) throws(QueueError) -> Bool {
    guard let end = adoptions[.account(account)]?.taken(),
      let place = adoptions[.account(account)]?.throughPlace
    else {
      preconditionFailure("no adoption was in flight for that account")
    }
    guard end == .ended else { return true }
    try storage.endAdoption(of: account, throughPlace: place)
    // Another process of this installation may have requested a wider one since.
    guard let wider = try storage.deviceAdoptions().first(where: { $0.account.hasSameBytes(as: account) })
    else {
      remove(account)
      return !adoptions.isEmpty
    }
    adoptions[.account(account)] = Adoption(throughPlace: wider.throughPlace)
    return true
  }

  /// A request failed. True if adoptions are to be looked at again.
  mutating func failed(
    _ account: String, _ failure: UploadFailure, _ storage: some AttemptStorage, _ retry: inout RetryLedger,
    _ actions: inout [SyncAction], now: Timestamp, _ delays: inout Delays
  ) throws(QueueError) -> Bool {
    guard let end = adoptions[.account(account)]?.failed(failure, &retry, now: now, &delays) else {
      preconditionFailure("no adoption was in flight for that account")
    }
    switch end {
    case .ended, .waits: return false
    case .goesOn: return true
    case .needsSignIn:
      actions.append(.emit(.signInNeeded(.account(account))))
      return true
    case .failed:
      if case .backendFault(let reason) = failure { actions.append(.emit(.backendFault(reason: reason))) }
      if case .otherProtocol(let reason) = failure {
        actions.append(.emit(.protocolRefused(reason: reason)))
      }
      try retry.commit(in: storage, now: now)
      return true
    }
  }

  /// Sends what is due. An adoption that the backend has taken waits until the device lane holds nothing that it covers.
  mutating func sendDue(
    from storage: some AdoptionStorage & AttemptStorage, _ retry: inout RetryLedger,
    after lanes: LaneTable = LaneTable(), now: Timestamp, policy: RetryPolicy
  ) -> [SyncAction] {
    var actions: [SyncAction] = []
    for account in order {
      actions += .attempting { () throws(QueueError) in
        try send(for: account, from: storage, &retry, after: lanes, now: now, policy: policy)
      }
      // The others wait until the backend has taken this one for what it holds already.
      guard adoptions[.account(account)]?.isTaken == true else { break }
    }
    return actions
  }

  private mutating func send(
    for account: String, from storage: some AdoptionStorage & AttemptStorage, _ retry: inout RetryLedger,
    after lanes: LaneTable, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> [SyncAction] {
    if let waiting = adoptions[.account(account)], waiting.activity == .signInNeeded {
      guard let due = waiting.signIn.opensAt(now: now) else { return [] }
      if due > now { return [.wake(at: due)] }
      adoptions[.account(account)]?.endSignInWait()
    }
    guard let adoption = adoptions[.account(account)], adoption.activity == .idle else { return [] }
    // Checked now and not when the answer arrives: a grant in between may come after the backend accepted the adoption.
    let isLast = try !storage.deviceLaneHolds(throughPlace: adoption.throughPlace)
    if adoption.isTaken, !isLast { return [] }
    try retry.read(from: storage)
    switch retry.admission(of: adoption.backoff, for: adoption.purpose, now: now, policy: policy) {
    case .wait(let until): return [.wake(at: policy.bounded(until, after: now))]
    case .send(let admitted):
      // Where requests keep a distance, an upload that is being prepared comes first.
      if lanes.hasReserved, retry.state.pace.isPaced {
        return [.wake(at: policy.bounded(now.adding(milliseconds: policy.paceMilliseconds), after: now))]
      }
      try retry.spend(admitted, in: storage, now: now)
      adoptions[.account(account)]?.sent(isLast: isLast)
      return [.adopt(account: account)]
    }
  }

  mutating func follow(_ jump: ClockJump) {
    for lane in adoptions.keys { adoptions[lane]?.follow(jump) }
  }

  mutating func clamp(now: Timestamp) {
    for lane in adoptions.keys { adoptions[lane]?.clamp(now: now) }
  }
}
