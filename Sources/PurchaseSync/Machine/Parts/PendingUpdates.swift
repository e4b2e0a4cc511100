import PurchaseQueue

/// Updates of settled transactions that the backend has yet to get, and the epoch of the backend's ledger.
///
/// ```
///           recorded, or another epoch             queue: all of them fitted
///   none ─────────────────────────▶ mayBePending ─────────────────────────▶ none
///                                    ▲     │ queue: capacity ran out
///                                    └─────┘
/// ```
///
/// The updates themselves are stored. The state only avoids a query at each event.
///
/// Servers that name different epochs in turn do not make a device offer everything each time: after an offer, the next one
/// waits for the pace. Until then the stored epoch stays the earlier one, so that a kill loses no offer.
struct PendingUpdates: Hashable {
  /// The epoch that this process received or read last; nil before the first reply.
  private var epoch: String?
  /// Whether the storage may hold pending updates.
  private(set) var mayBePending = false
  /// The epoch of the last reply.
  private var latest: String?
  /// Everything is to be offered once the pace allows.
  private var isPaced = false
  private var offers = CallPace.ledgerOffers

  /// The bytes of an epoch that count.
  private static var longestEpoch: Int { 256 }

  /// An earlier run may have left updates.
  mutating func start(epoch: String?) { (self.epoch, mayBePending) = (epoch, true) }

  /// An update was recorded in the storage.
  mutating func recorded() { mayBePending = true }

  /// A reply carries the ledger's epoch. The stored epoch counts, not the one of this process: another process of this
  /// installation may have received another one. A reply from before a restoration then looks like one more change,
  /// and everything is offered once more.
  ///
  /// Another epoch means that the backend was restored from a backup: everything settled is offered to it again.
  mutating func epochArrived(
    _ received: String, in storage: some PendingUpdateStorage, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    // It is stored, and the backend may send any length.
    let new = received.prefix(bytes: Self.longestEpoch)
    let known = try storage.ledgerEpoch()
    latest = new
    guard new != known else {
      if new != epoch { (epoch, mayBePending) = (new, true) }
      return []
    }
    guard known != nil else {
      try storage.keepLedgerEpoch(new, offeringAgain: false)
      epoch = new
      return []
    }
    mayBePending = true
    let wait = offers.wait(at: now.milliseconds)
    guard wait == 0 else {
      isPaced = true
      return [.wake(at: now.adding(milliseconds: wait))]
    }
    try offer(new, in: storage, now: now)
    return [.emit(.ledgerChanged)]
  }

  private mutating func offer(
    _ new: String, in storage: some PendingUpdateStorage, now: Timestamp
  ) throws(QueueError) {
    try storage.keepLedgerEpoch(new, offeringAgain: true)
    _ = offers.takes(at: now.milliseconds)
    (epoch, isPaced) = (new, false)
  }

  /// Queues as many updates as there is capacity for. Returns their keys, and when to try again if some are left:
  /// another process may free capacity without notice.
  mutating func queue(
    in storage: some PendingUpdateStorage, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> (queued: [EntryKey], retryAt: Timestamp?) {
    let wait = offers.wait(at: now.milliseconds)
    if isPaced, wait == 0, let latest { try offer(latest, in: storage, now: now) }
    let result = try storage.queuePendingUpdates(now: now)
    mayBePending = result.areWaiting || isPaced
    if result.areWaiting { return (result.queued, Self.retryAt(now: now, policy: policy)) }
    return (result.queued, isPaced ? policy.bounded(now.adding(milliseconds: wait), after: now) : nil)
  }

  /// When updates that wait for capacity are tried again.
  static func retryAt(now: Timestamp, policy: RetryPolicy) -> Timestamp {
    policy.bounded(now.adding(milliseconds: policy.ceilingMilliseconds), after: now)
  }
}
