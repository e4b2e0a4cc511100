package import PurchaseQueue

/// What came of claiming the device's purchases for an account.
package enum ClaimEnd: Sendable, Hashable {
  /// The backend took it.
  case taken
  /// It did not, as an upload fails.
  case failed(UploadFailure)
}

/// Claims of what was bought before anybody was signed in: explicit, durable, and sent again until the backend has
/// taken them for everything that was in the device lane.
extension SyncMachine {
  /// The app says that the device's purchases are this account's.
  package mutating func deviceClaimed(
    by account: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    precondition(isStarted, "a machine that has not started cannot claim")
    note(now)
    let claim = try storage.keepClaim(of: account)
    let isSending = claims[account]?.isSending ?? false
    // One that is out was sent before this: it is not the last.
    claims[account] = Claiming(throughPlace: claim.throughPlace, isSending: isSending, purpose: .person)
    return claimAgain(now: now)
  }

  /// The request for a claim ended.
  package mutating func claimEnded(
    account: String, _ end: ClaimEnd, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    guard let isLast = claims[account].flatMap({ $0.isSending ? $0.isLast : nil }) else {
      preconditionFailure("no claim was out for that account")
    }
    note(now)
    claims[account]?.isSending = false
    claims[account]?.isLast = false
    switch end {
    case .taken:
      claims[account]?.backoff.succeeded()
      guard isLast else {
        claims[account]?.isTaken = true
        return claimAgain(now: now)
      }
      let place = claims[account]?.throughPlace ?? 0
      try storage.endClaim(of: account, throughPlace: place)
      // Another process of this installation may have claimed more since.
      guard let wider = try storage.deviceClaims().first(where: { $0.account == account }) else {
        claims[account] = nil
        return []
      }
      claims[account] = Claiming(throughPlace: wider.throughPlace)
      return claimAgain(now: now)
    case .failed(let failure): return try claimFailed(account, failure, now: now)
    }
  }

  private mutating func claimFailed(
    _ account: String, _ failure: UploadFailure, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    var faults = hearRetry()
    var backoff = claims[account]?.backoff ?? LaneBackoff()
    switch failure {
    case .signInNeeded:
      if claims[account]?.hasSignedIn == true { return faults + claimAgain(now: now) }
      claims[account]?.needsSignIn = true
      return faults + [.emit(.signInNeeded(.account(account)))]
    case .retry(_, let retryAfter):
      retry.pace.failed(now: now, policy: policy, using: &random)
      backoff.failed(retryAfterMilliseconds: retryAfter, now: now, policy: policy, using: &random)
    case .backendBusy(_, let retryAfter):
      retry.pace.failed(
        retryAfterMilliseconds: retryAfter, now: now, policy: policy, using: &random)
      backoff.failed(now: now, policy: policy, using: &random)
    case .backendFault(let reason):
      backoff.refused(now: now, policy: policy, using: &random)
      faults.append(.emit(.backendFault(reason: reason)))
    case .unprepared: backoff.notSent(now: now, policy: policy, using: &random)
    case .interrupted, .proofMissing, .laneTaken, .unreadable: return faults
    }
    claims[account]?.backoff = backoff
    try keepRetry(now: now)
    return faults + claimAgain(now: now)
  }

  /// Sends the claims that are due. One that the backend took waits until the device lane is empty of what it covers.
  mutating func claimAgain(now: Timestamp) -> [SyncAction] {
    guard !isParked else { return [] }
    var actions: [SyncAction] = []
    for account in claims.keys.sorted() {
      actions += attempt { (machine) throws(QueueError) in try machine.claim(for: account, now: now) }
    }
    return actions
  }

  private mutating func claim(for account: String, now: Timestamp) throws(QueueError) -> [SyncAction] {
    guard var state = claims[account], !state.isSending, !state.needsSignIn else { return [] }
    // Asked now, not when the answer is here: what is granted in between may be granted after the backend took it.
    let isLast = try !storage.deviceLaneHolds(throughPlace: state.throughPlace)
    if state.isTaken, !isLast { return [] }
    try readRetry()
    var admitted = retry
    switch admitted.admit(state.backoff, for: state.purpose, now: now, policy: policy) {
    case .wait(let until): return [.wake(at: soonest(until, now))]
    case .send:
      retry = admitted
      try keepRetry(now: now)
      state.isSending = true
      state.hasSignedIn = false
      state.isLast = isLast
      state.purpose = .retry
      claims[account] = state
      return [.claim(account: account)]
    }
  }
}
