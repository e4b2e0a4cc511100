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
    try storage.keep(DeviceClaimant(account: account, claimedAt: now))
    let isSending = claims[account]?.isSending ?? false
    claims[account] = Claiming(claimedAt: now, isSending: isSending)
    return claimAgain(now: now)
  }

  /// The request for a claim ended.
  package mutating func claimEnded(
    account: String, _ end: ClaimEnd, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    guard var state = claims[account], state.isSending else {
      preconditionFailure("no claim was out for that account")
    }
    state.isSending = false
    claims[account] = state
    var faults: [SyncAction] = []
    switch end {
    case .taken:
      if try storage.deviceLaneHolds(queuedBy: state.claimedAt) {
        claims[account]?.isTaken = true
        claims[account]?.backoff.succeeded()
      } else {
        try storage.endClaim(of: account)
        claims[account] = nil
      }
      return []
    case .failed(.signInNeeded):
      claims[account]?.needsSignIn = true
      return [.emit(.signInNeeded(.account(account)))]
    case .failed(.retry(_, let retryAfter)):
      retry.pace.failed(now: now, policy: policy, using: &random)
      state.backoff.failed(
        retryAfterMilliseconds: retryAfter, now: now, policy: policy, using: &random)
    case .failed(.backendBusy(_, let retryAfter)):
      retry.pace.failed(retryAfterMilliseconds: retryAfter, now: now, policy: policy, using: &random)
      state.backoff.failed(now: now, policy: policy, using: &random)
    case .failed(.backendFault(let reason)):
      state.backoff.refused(now: now, policy: policy, using: &random)
      faults = [.emit(.backendFault(reason: reason))]
    case .failed(.interrupted), .failed(.proofMissing), .failed(.laneTaken): return []
    }
    claims[account] = state
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
    if state.isTaken, try storage.deviceLaneHolds(queuedBy: state.claimedAt) { return [] }
    var admitted = retry
    switch admitted.admit(state.backoff, for: .person, now: now, policy: policy) {
    case .wait(let until): return [.wake(at: soonest(until, now))]
    case .send:
      retry = admitted
      try keepRetry(now: now)
      state.isSending = true
      claims[account] = state
      return [.claim(account: account)]
    }
  }
}
