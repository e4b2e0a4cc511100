package import PurchaseQueue

/// Telling the store: only after the acknowledgement is durable, and until it worked.
extension SyncMachine {
  mutating func startFinish(_ tombstone: Tombstone) -> [SyncAction] {
    guard finishing.insert(tombstone.key).inserted else { return [] }
    return [.finish(tombstone)]
  }

  /// The store took it.
  package mutating func finished(_ key: EntryKey) throws(QueueError) {
    finishing.remove(key)
    finishFailures[key] = nil
    try storage.markFinished(key)
  }

  /// The store did not take it; it is owed until it does.
  package mutating func finishFailed(
    _ key: EntryKey, now: Timestamp, using random: inout some RandomNumberGenerator
  ) -> [SyncAction] {
    finishing.remove(key)
    finishFailures[key, default: 0] += 1
    let delay = policy.delayMilliseconds(afterFailures: finishFailures[key, default: 1], using: &random)
    let due = now.adding(milliseconds: max(delay, 1))
    finishAt[key] = due
    return [.wake(at: due)]
  }
}
