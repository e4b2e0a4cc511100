public import PurchaseQueue

/// Events that an app can observe, with what the app does on each.
@nonexhaustive
public enum SyncEvent: Sendable, Hashable {
  /// The transaction is durable in the queue, with what is known of its order. Show "paid, being delivered".
  case queued(EntryKey, OrderMatch)
  /// The backend named the order of the transaction.
  case matched(EntryKey, orderNumber: String)
  /// The store has an update of a settled transaction (a refund, an upgrade), or the backend lost it. It is
  /// uploaded again.
  case updateQueued(EntryKey)
  /// The entries are being uploaded.
  case uploading([EntryKey])
  /// The purchase is credited, now or before, and is this account's or this device's (`outcome.isFulfilled`). Give it to
  /// the user, then call `confirm`: until then the event comes again at each start, and before that only if the outcome
  /// changes.
  case delivered(Outcome)
  /// The purchase gives this person nothing, or not all: it was refunded, or a part of it, its period is over, or it is
  /// another account's. Make what its key gives equal to `outcome.unitsHeld`, which is not 0 after a refund of a part, then
  /// call `confirm`. It comes again as `delivered` does.
  case settled(Outcome)
  /// A lane waits before its next attempt.
  case waiting(Lane, reason: String, until: Timestamp)
  /// A lane's account has no credentials, or they were refused. Call `signedIn` when there are new ones.
  case signInNeeded(Lane)
  /// The entry waits by itself; other entries of its lane pass it.
  case postponed(EntryKey, reason: String, until: Timestamp)
  /// The entry cannot be delivered now. It is kept and tried daily. A person should look at its case file.
  case quarantined(EntryKey, reason: String)
  /// The queue has no capacity for the transaction. The store keeps it unfinished, and the engine asks the
  /// store again when capacity is free.
  case queueFull(EntryKey, SyncError)
  /// The vault does not hold the entry. After an uninstall, only the store's redelivery would bring it back.
  case unprotected(EntryKey)
  /// The queue's file was damaged. It was archived, and everything that could be read of it was taken over.
  case recovered(SalvageReport)
  /// The backend was restored from a backup. The engine offers the settled transactions to it again.
  case ledgerChanged
  /// The backend gave an answer that its protocol does not know. Nothing is lost, but the backend needs a
  /// repair.
  case backendFault(reason: String)
  /// The backend does not speak this version of the protocol: it is older, or the app is too old. Nothing is lost. It is
  /// tried again slowly, and at the next start. Ask the user to update the app.
  case protocolRefused(reason: String)
  /// A step failed. The store keeps the transaction unfinished, or the queue keeps the entry.
  case failed(SyncError)
  /// A successful answer was not believed: it is not signed by the backend for this request. Another server
  /// answers in the backend's place, or the backend's key has changed. Nothing is settled; the request is repeated.
  case replyRejected(reason: String)
}

extension SyncEvent {
  /// The outcome, if the event publishes one.
  public var outcome: Outcome? {
    switch self {
    case .delivered(let outcome), .settled(let outcome): outcome
    default: nil
    }
  }

  /// The event that publishes an outcome.
  package init(publishing outcome: Outcome) {
    self = outcome.isFulfilled ? .delivered(outcome) : .settled(outcome)
  }
}
