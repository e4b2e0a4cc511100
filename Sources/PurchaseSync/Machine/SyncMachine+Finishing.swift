package import PurchaseQueue

/// What came of telling the store.
package enum FinishEnd: Sendable, Hashable {
  /// The store took it.
  case finished
  /// The store does not list it: it stays owed until its store account is back, or until a listing shows that it is
  /// done.
  case notListed
  /// The store failed, or did not answer in time.
  case failed
}

/// Telling the store: only after the acknowledgement is durable, and until it worked.
extension SyncMachine {
  /// A redelivery asks at once, also while a failed one waits for its time.
  mutating func startFinish(_ tombstone: Tombstone) -> [SyncAction] {
    var actions: [SyncAction] = []
    startFinish(tombstone, into: &actions)
    return actions
  }

  mutating func startFinish(_ tombstone: Tombstone, into actions: inout [SyncAction]) {
    if finishing[tombstone.key, default: Finishing(isCalling: false)].begin() {
      actions.append(.finish(tombstone))
    }
  }

  /// The call came back, or took too long.
  package mutating func finishEnded(
    _ key: EntryKey, _ end: FinishEnd, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    guard var state = finishing.removeValue(forKey: key), state.isCalling else {
      preconditionFailure("\(key) was not being finished")
    }
    note(now)
    switch end {
    case .finished:
      try markFinished(key)
      return []
    case .notListed: return []
    case .failed:
      state.isCalling = false
      state.failures += 1
      let wait = policy.delayMilliseconds(afterFailures: state.failures, using: &random)
      let due = now.adding(milliseconds: max(wait, 1))
      state.due = due
      finishing[key] = state
      return [.wake(at: due)]
    }
  }

  /// The store's list is through. What is owed to it and is not on the list is done, unless it is known to be another
  /// store account's; that one waits for its account. Marking one too many costs nothing: a redelivery of something
  /// settled is finished again.
  package mutating func storeListed(
    _ keys: Set<EntryKey>, account: String?, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    precondition(isStarted, "the store is listed for a machine that has started")
    note(now)
    storeAccount = account
    isAskedForOverflow = false
    var actions: [SyncAction] = []
    for tombstone in try storage.tombstonesWithDuties() where tombstone.isFinishOwed {
      if keys.contains(tombstone.key) {
        actions += startFinish(tombstone)
        continue
      }
      // Known only where its details can be read; else it counts as this account's.
      let owner = try storage.storeAccount(of: tombstone)
      if let owner, let account, owner != account { continue }
      if finishing[tombstone.key]?.isCalling == true { continue }
      finishing[tombstone.key] = nil
      actions += attempt { (machine) throws(QueueError) in
        try machine.storage.markFinished(tombstone.key)
        return []
      }
    }
    // What the store keeps has had its turn.
    return actions + (hasOverflow ? waitForRoom(now: now) : goOnWithParked(now: now))
  }

  /// Those that failed and are due.
  mutating func finishAgain(now: Timestamp) -> [SyncAction] {
    var actions: [SyncAction] = []
    for (key, state) in finishing.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let due = state.due else { continue }
      guard soonest(due, now) <= now else {
        actions.append(.wake(at: soonest(due, now)))
        continue
      }
      actions += attempt { (machine) throws(QueueError) in
        if let tombstone = try machine.storage.tombstone(key) { return machine.startFinish(tombstone) }
        machine.finishing[key] = nil
        return []
      }
    }
    return actions
  }

  /// A redelivery is finished as well when nothing was owed, and a tombstone may have been dropped meanwhile.
  private func markFinished(_ key: EntryKey) throws(QueueError) {
    guard try storage.tombstone(key)?.isFinishOwed == true else { return }
    try storage.markFinished(key)
  }
}
