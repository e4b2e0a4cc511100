package import PurchaseQueue

/// Every decision of the engine, and no I/O but the storage that is handed in: one function per event, each
/// returning what the driver has to do.
///
/// Time and randomness come in as arguments. A storage error leaves the stored state as it was; it is thrown where
/// somebody waits for the result, and reported as an event elsewhere.
package struct SyncMachine<Storage: SyncStorage> {
  /// What a lane is doing.
  enum Activity: Hashable {
    /// Nothing to send, or about to. → sending
    case idle
    /// One request is out. → idle, waiting, signInNeeded
    case sending([EntryKey])
    /// Until then nothing is sent. → sending (timer or wake-up)
    case waiting(until: Timestamp)
    /// Until the app says that there are credentials. → sending (wake-up)
    case signInNeeded
  }

  struct LaneState: Hashable {
    var activity: Activity = .idle
    var failures = 0
    /// Set by the backend for itself: no wake-up shortens it.
    var notBefore: Timestamp?
  }

  package let storage: Storage
  package let policy: RetryPolicy
  var lanes: [Lane: LaneState] = [:]
  var finishing: Set<EntryKey> = []
  var finishFailures: [EntryKey: Int] = [:]
  var finishAt: [EntryKey: Timestamp] = [:]

  package init(storage: Storage, policy: RetryPolicy) {
    self.storage = storage
    self.policy = policy
  }

  /// The engine starts: everything that a former run left undone is taken up.
  package mutating func started(now: Timestamp) throws(QueueError) -> [SyncAction] {
    var actions: [SyncAction] = []
    for tombstone in try storage.tombstonesWithDuties() {
      if tombstone.isUnseen { actions.append(.emit(.delivered(Outcome(tombstone)))) }
      if tombstone.isFinishOwed { actions += startFinish(tombstone) }
    }
    return try actions + sendAll(now: now)
  }

  /// The store hands over a transaction, new or again.
  package mutating func transactionArrived(
    _ transaction: StoreTransaction, details: String, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    let order = try binding(of: transaction)
    let new = NewEntry(
      key: transaction.key, lane: order.map { .account($0.account) } ?? .device, orderNumber: order?.number,
      details: details, proofs: [transaction.proof], reservation: order?.number)
    switch try storage.enqueue(new, now: now) {
    case .inserted(let entry):
      let queued = SyncAction.emit(.queued(entry.key, orderNumber: entry.orderNumber))
      wake(entry.lane)
      return try [queued] + send(entry.lane, now: now)
    case .collapsed(let entry):
      return try send(entry.lane, now: now)
    case .settled(let tombstone):
      // Redelivered although it was settled: the finish did not reach the store.
      return startFinish(tombstone)
    }
  }

  /// Bind exactly: the account token names an order that agrees in product and quantity, in whatever state.
  private func binding(of transaction: StoreTransaction) throws(QueueError) -> Order? {
    guard let token = transaction.accountToken, let order = try storage.order(accountToken: token) else {
      return nil
    }
    guard order.productID == transaction.productID, order.quantity == transaction.quantity else { return nil }
    return order
  }

  /// The app saw the outcome.
  package mutating func outcomeConfirmed(_ key: EntryKey) throws(QueueError) { try storage.markSeen(key) }

  /// Time passed, at least until the moment that was asked for.
  package mutating func timerFired(now: Timestamp) throws(QueueError) -> [SyncAction] {
    var actions: [SyncAction] = []
    for (key, due) in finishAt.sorted(by: { $0.value < $1.value }) where due <= now {
      finishAt[key] = nil
      guard let tombstone = try storage.tombstone(key), tombstone.isFinishOwed else { continue }
      actions += startFinish(tombstone)
    }
    return try actions + sendAll(now: now)
  }

  /// Foreground, network back or sign-in: no lane waits any longer, unless the backend asked for it.
  package mutating func woken(now: Timestamp) throws(QueueError) -> [SyncAction] {
    for lane in lanes.keys { wake(lane) }
    return try sendAll(now: now)
  }

  private mutating func wake(_ lane: Lane) {
    switch lanes[lane, default: LaneState()].activity {
    case .waiting, .signInNeeded: lanes[lane]?.activity = .idle
    case .idle, .sending: break
    }
  }
}
