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
  /// The transaction is settled. Fulfil or show it, then call `confirm`: until then the event comes again at
  /// each start.
  case delivered(Outcome)
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
}

/// How a transaction was settled.
public struct Outcome: Sendable, Hashable {
  /// The transaction.
  public var key: EntryKey
  /// The lane of the entry: an account's, or the device's.
  public var lane: Lane
  /// The order that was fulfilled, if any; nil if the purchase is another account's.
  public var orderNumber: String?
  /// The backend's verdict.
  public var verdict: Verdict
  /// Whose purchase it is. Of `another` show nothing, or that the purchase is not this person's: ask nothing.
  public var owner: PurchaseOwner
  /// When it was settled on this device, by the device's clock.
  public var settledAt: Timestamp
  /// Whether the transaction is older than the order: the store answered the payment with a purchase that the user owns
  /// already, and charged nothing. The order is closed.
  public var isAlreadyOwned = false
  /// The value that the app gave at `begin` of the order.
  public var context: PurchaseContext?
  /// The product and how many units; nil if the details in the file are damaged.
  public var purchase: (productID: String, quantity: Int)? {
    details.known.map { ($0.productID, $0.quantity) }
  }

  private var details: EntryDetails

  package init(_ tombstone: borrowing Tombstone) {
    key = tombstone.key
    lane = tombstone.lane
    owner = tombstone.owner
    orderNumber = owner == .another ? nil : tombstone.orderNumber
    verdict = tombstone.verdict
    settledAt = tombstone.settledAt
    details = EntryDetails(of: tombstone)
  }

  /// The outcome of an earlier purchase, for an order that the store answered with it. Another account's purchase is
  /// reported as such.
  init(_ tombstone: borrowing Tombstone, closing order: OwnedOrder, context: PurchaseContext?) {
    self.init(tombstone)
    let owner = lane
    lane = .account(order.account)
    orderNumber = order.number
    isAlreadyOwned = true
    self.context = context
    if owner != lane, owner != .device, verdict == .granted || verdict == .duplicate { verdict = .otherOwner }
  }
}
