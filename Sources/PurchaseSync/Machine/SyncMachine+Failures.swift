package import PurchaseQueue

/// Uploads without verdicts. The lane's backoff and the pace of all lanes have been updated.
extension SyncMachine {
  mutating func failed(
    _ failure: UploadFailure, _ request: InFlight, in lane: Lane, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    switch failure {
    case .retry(let reason, _), .requestFailed(let reason, _):
      // The lane forgets its Retry-After when the process dies. The entries do not.
      if let asked = state(of: lane).backoff.wait?.asked, asked > 0 {
        let wait = Wait(.asked, began: now, milliseconds: asked)
        for key in request.answerable { try laneStorage.postpone(key, wait, reason: reason, now: now) }
      }
      return try failed(failure.blame, request, in: lane, reason, now: now)
    case .backendBusy(let reason, _): return try failed(.nothing, request, in: lane, reason, now: now)
    case .backendFault(let reason):
      return try [.emit(.backendFault(reason: reason))]
        + failed(.content, request, in: lane, reason, now: now)
    // A wake that came since ends a wait for credentials, as if it came after the answer.
    case .signInNeeded:
      if request.hasNewCredentials || request.wasWoken { return sendNext(lane, now: now) }
      update(lane) { state, _ in state.needSignIn() }
      return [.emit(.signInNeeded(lane.signingIn))]
    case .tokenRefused:
      if request.hasNewCredentials { return sendNext(lane, now: now) }
      var asksAnew = false
      update(lane) { state, delays in
        asksAnew = state.refused(now: now, &delays)
        guard request.wasWoken else { return }
        state.endSignInWait()
        asksAnew = true
      }
      let events: [SyncAction] = asksAnew ? [] : [.emit(.signInNeeded(lane.signingIn))]
      return events + sendNext(lane, now: now)
    case .proofMissing:
      return try postponeUnproven(request.answerable, now: now) + sendNext(lane, now: now)
    case .unreadable(let key, let reason):
      return try moveToQuarantine(key, reason, now: now) + sendNext(lane, now: now)
    case .otherProtocol(let reason):
      return [.emit(.protocolRefused(reason: reason))] + waits(lane, reason, now: now)
    case .laneTaken: return waits(lane, "another process is sending this lane", now: now)
    case .unprepared(let reason): return waits(lane, reason, now: now)
    case .accountRefused: return waits(lane, "the token of the signed-in account was refused", now: now)
    case .interrupted:
      return []
    }
  }

  /// A wake came while the request was under way: it ends the waits of entries, too, that the answer began.
  mutating func wakeAgain(_ request: InFlight, in lane: Lane, now: Timestamp) -> [SyncAction] {
    guard request.endsEntryWaits else { return [] }
    return .attempting { () throws(QueueError) in
      guard try !laneStorage.shortenWaits(in: [lane], now: now, policy: policy).isEmpty else { return [] }
      update(lane) { state, delays in
        state.wake(for: state.purpose, hasShortened: true, now: now, &delays)
      }
      return sendNext(lane, now: now)
    }
  }

  /// Whether the lane waits for credentials.
  package func isWaitingForSignIn(in lane: Lane) -> Bool { state(of: lane).activity == .signInNeeded }

  /// Nothing was sent, and no entry failed: only the lane waits.
  private func waits(_ lane: Lane, _ reason: String, now: Timestamp) -> [SyncAction] {
    let until = policy.bounded(state(of: lane).backoff.opensAt(now: now), after: now)
    return [.emit(.waiting(lane, reason: reason, until: until)), .wake(at: until)]
  }

  /// The request failed. Where the backend spoke about it, so did its entries.
  private mutating func failed(
    _ blame: UploadFailure.Blame, _ request: InFlight, in lane: Lane, _ reason: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    var watches: [EntryKey: PoisonWatch] = [:]
    if blame != .nothing {
      for key in request.answerable {
        var watch = try attemptStorage.watch(of: key)
        watch.failed(among: request.entries.count, now: now)
        watches[key] = watch
      }
    }
    try commitRetry(watches, now: now)
    var actions: [SyncAction] = []
    // Only a head that went alone is judged: among several entries, another one may be at fault. The rest of several
    // after a discard did not go alone.
    if let head = request.answerable.first, let watch = watches[head], request.entries.count == 1 {
      let judged = try judge(head, watch, isRefused: blame == .content, in: lane, reason, now: now)
      if !judged.isEmpty { update(lane) { $0.goesOn(now: now, &$1) } }
      actions += judged
    } else if blame == .nothing, let head = request.entries.first, request.entries.count == 1 {
      try takeTurns(head.key, in: lane, reason, now: now)
    }
    let opens = state(of: lane).backoff.opensAt(now: now)
    let until = policy.bounded(max(opens, retryState.pace.opensAt(now: now, policy: policy)), after: now)
    return actions + [.emit(.waiting(lane, reason: reason, until: until)), .wake(at: until)]
  }

  /// An entry that went alone got no answer again and again. It may be why, so the next upload begins with the others. It
  /// waits no longer than its lane, and a purchase that was never sent does not wait for as long.
  private mutating func takeTurns(
    _ key: EntryKey, in lane: Lane, _ reason: String, now: Timestamp
  ) throws(QueueError) {
    let backoff = state(of: lane).backoff
    guard backoff.failures > Self.triesWithoutTurns, let own = backoff.wait, own.asked == 0,
      let next = try laneStorage.readyEntries(in: lane, now: now, limit: 2).first(where: { $0.key != key }),
      try laneStorage.entry(key)?.lane == lane
    else { return }
    if next.attempts == 0 { update(lane) { $0.goesOn(now: now, &$1) } }
    var watch = try attemptStorage.watch(of: key)
    watch.goesAlone()
    try commitRetry([key: watch], now: now)
    let wait = Wait(.backoff, began: now, milliseconds: max(own.milliseconds, 1))
    try laneStorage.postpone(key, wait, reason: reason, now: now)
  }

  /// After so many failures in a row it is no longer likely that only the network is at fault.
  private static var triesWithoutTurns: Int { 3 }

  private mutating func judge(
    _ key: EntryKey, _ watch: PoisonWatch, isRefused: Bool, in lane: Lane, _ reason: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let ready = try laneStorage.readyEntries(in: lane, now: now, limit: 2)
    let asked = state(of: lane).backoff.wait?.askedEnds
    switch judge(watch, isRefused: isRefused, hasOthers: ready.contains { $0.key != key }, now: now) {
    case .keep: return []
    case .quarantine:
      return try moveToQuarantine(key, "fails while others succeed: \(reason)", asked: asked, now: now)
    case .postponed(let own):
      // The entries behind it did not fail: they go on at the lane's own pace.
      let wait = Wait(
        own.cause, began: now, milliseconds: own.milliseconds, asked: asked?.milliseconds(since: now) ?? 0)
      try laneStorage.postpone(key, wait, reason: reason, now: now)
      return [.emit(.postponed(key, reason: reason, until: wait.ends))]
    }
  }

  /// Decides about an entry that failed. `hasOthers`: whether there are others behind it.
  mutating func judge(
    _ watch: PoisonWatch, isRefused: Bool = false, hasOthers: Bool, now: Timestamp
  ) -> PoisonWatch.Judgement {
    let backend = retryState.pace
    return draw {
      watch.judge(
        isRefused: isRefused, hasOthers: hasOthers, backend: backend, now: now, policy: $0.policy,
        using: &$0.random)
    }
  }

  /// The entries were not sent. They wait for the backoff ceiling: a redelivered transaction brings its proof along.
  private mutating func postponeUnproven(
    _ keys: [EntryKey], now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let reason = "its proof is neither here nor in the store"
    let wait = Wait(.backoff, began: now, milliseconds: policy.ceilingMilliseconds)
    for key in keys { try laneStorage.postpone(key, wait, reason: reason, now: now) }
    return keys.map { .emit(.postponed($0, reason: reason, until: wait.ends)) }
  }
}

extension Lane {
  /// The lane whose account has to sign in.
  fileprivate var signingIn: Lane { asker.map { .account($0) } ?? self }
}
