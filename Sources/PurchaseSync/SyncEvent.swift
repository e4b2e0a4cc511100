public import PurchaseQueue

/// What an app can observe.
@nonexhaustive
public enum SyncEvent: Sendable, Hashable {
  /// The transaction is durable in the queue; bound to an order, or to none.
  case queued(EntryKey, orderNumber: String?)
  /// It is on its way.
  case uploading([EntryKey])
  /// It is settled. Comes again at each start until `confirm` was called.
  case delivered(Outcome)
  /// A lane waits before the next try.
  case waiting(Lane, reason: String, until: Timestamp)
  /// A lane's account has no credentials, or they were refused.
  case signInNeeded(Lane)
  /// Its proof is neither in the queue (too long, or damaged) nor in the store just now, for instance because
  /// another Apple ID is signed in: it is kept unsent, others of its lane pass it.
  case setAside(EntryKey, until: Timestamp)
  /// It cannot be delivered now; it is kept.
  case quarantined(EntryKey, reason: String)
  /// The queue's file was damaged: it was set aside, and what could be read of it was taken over.
  case salvaged(SalvageReport)
  /// A step failed; the store keeps the transaction unfinished, or the queue keeps the entry.
  case failed(SyncError)
}

/// How a transaction was settled.
public struct Outcome: Sendable, Hashable {
  /// The transaction.
  public var key: EntryKey
  /// Whose it is.
  public var lane: Lane
  /// The order that was fulfilled, if any.
  public var orderNumber: String?
  /// What the backend said.
  public var verdict: Verdict

  init(_ tombstone: Tombstone) {
    key = tombstone.key
    lane = tombstone.lane
    orderNumber = tombstone.orderNumber
    verdict = Verdict(rawValue: tombstone.outcome)
  }
}
