public import PurchaseQueue

/// What an app can observe, and what it does then.
@nonexhaustive
public enum SyncEvent: Sendable, Hashable {
  /// The transaction is durable in the queue, with what is known of its order. Show "paid, being delivered".
  case queued(EntryKey, OrderMatch)
  /// The backend said to which order it belongs.
  case matched(EntryKey, orderNumber: String)
  /// The store has news of something settled (a refund, an upgrade), or the backend lost it: it goes up again.
  case updateQueued(EntryKey)
  /// They are on their way.
  case uploading([EntryKey])
  /// It is settled. Fulfil or show it, then call `confirm`: it comes again at each start until then.
  case delivered(Outcome)
  /// A lane waits before the next try.
  case waiting(Lane, reason: String, until: Timestamp)
  /// A lane's account has no credentials, or they were refused. Call `signedIn` when there are new ones.
  case signInNeeded(Lane)
  /// It waits by itself; others of its lane pass it.
  case setAside(EntryKey, reason: String, until: Timestamp)
  /// It cannot be delivered now; it is kept, and tried daily. Somebody should look at its case file.
  case quarantined(EntryKey, reason: String)
  /// There is no room for a transaction: the store keeps it unfinished, and is asked again when room is free.
  case queueFull(EntryKey, SyncError)
  /// The vault does not hold it: it would not survive an uninstall, but for the store's redelivery.
  case unprotected(EntryKey)
  /// The queue's file was damaged: it was set aside, and what could be read of it was taken over.
  case recovered(SalvageReport)
  /// The backend was restored from a backup: what was settled is offered to it again.
  case ledgerChanged
  /// The backend answered what its protocol does not know. Nothing is lost by it; somebody should repair it.
  case backendFault(reason: String)
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
  /// When it was settled here, by the device's clock.
  public var settledAt: Timestamp
  /// The claim, as JSON.
  private var details: String

  init(_ tombstone: borrowing Tombstone) {
    key = tombstone.key
    lane = tombstone.lane
    orderNumber = tombstone.orderNumber
    verdict = Verdict(rawValue: tombstone.outcome)
    settledAt = tombstone.settledAt
    details = tombstone.details
  }

  /// What was bought, and how many; nil if the file's text about it is damaged.
  public var purchase: (productID: String, quantity: Int)? {
    do throws(QueueError) {
      let details = try TransactionDetails(text: details, key: key)
      return (details.productID, details.quantity)
    } catch {
      return nil
    }
  }
}
