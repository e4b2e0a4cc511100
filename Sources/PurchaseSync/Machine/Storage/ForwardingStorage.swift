package import PurchaseQueue

/// A storage that passes every call on to another one: the base of storages that fail, watch or lie.
///
/// A conforming class has a `base`, and declares only the calls that it changes; there it calls `base` itself. Reads go
/// through `read` and writes through `write`, so a class that treats all writes alike (faults, kills, counters)
/// declares `write` alone. A protocol and not a class: a class that is not public has no subclasses in other modules.
package protocol ForwardingStorage: SyncStorage {
  /// Where the calls go.
  var base: any SyncStorage { get }
  /// Every read that the class does not declare itself.
  func read<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R
  /// Every write that the class does not declare itself.
  func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R
}

extension ForwardingStorage {
  package func read<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R { try call() }
  package func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R { try call() }
}

// MARK: - Reads

extension ForwardingStorage {
  package func orders(_ query: TokenQuery) throws(QueueError) -> [OrderFacts] {
    try read { () throws(QueueError) in try base.orders(query) }
  }

  package func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction? {
    try read { () throws(QueueError) in try base.knownTransaction(key) }
  }

  package func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts] {
    try read { () throws(QueueError) in try base.unboundOrders(query) }
  }

  package func payer(ofBundle payment: String, _ query: OrderQuery) throws(QueueError) -> String? {
    try base.payer(ofBundle: payment, query)
  }
  package func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool {
    try read { () throws(QueueError) in try base.hasSeveralAccounts(query) }
  }

  package func entry(_ key: EntryKey) throws(QueueError) -> Entry? {
    try read { () throws(QueueError) in try base.entry(key) }
  }

  package func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) throws(QueueError) -> Bool
  {
    try read { () throws(QueueError) in try base.isNews(transaction, since: tombstone) }
  }

  package func lanes() throws(QueueError) -> [Lane] {
    try read { () throws(QueueError) in try base.lanes() }
  }

  package func readyEntries(in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool) throws(QueueError)
    -> [Entry]
  {
    try read { () throws(QueueError) in
      try base.readyEntries(in: lane, now: now, limit: limit, dueFirst: dueFirst)
    }
  }

  package func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp? {
    try read { () throws(QueueError) in try base.nextReadyAt(in: lane) }
  }

  package func retryState() throws(QueueError) -> RetryState {
    try read { () throws(QueueError) in try base.retryState() }
  }

  package func watch(of key: EntryKey) throws(QueueError) -> PoisonWatch {
    try read { () throws(QueueError) in try base.watch(of: key) }
  }

  package func quarantined() throws(QueueError) -> [EntryKey] {
    try read { () throws(QueueError) in try base.quarantined() }
  }

  package func hasQuarantined() throws(QueueError) -> Bool {
    try read { () throws(QueueError) in try base.hasQuarantined() }
  }

  package func quarantineTrial() throws(QueueError) -> TrialRecord? {
    try read { () throws(QueueError) in try base.quarantineTrial() }
  }

  package func binding(by orderNumber: String, of key: EntryKey) throws(QueueError) -> VerdictBinding {
    try read { () throws(QueueError) in try base.binding(by: orderNumber, of: key) }
  }

  package func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? {
    try read { () throws(QueueError) in try base.tombstone(key) }
  }

  package func tombstonesWithDuties() throws(QueueError) -> [Tombstone] {
    try read { () throws(QueueError) in try base.tombstonesWithDuties() }
  }

  package func storeAccount(of tombstone: Tombstone) throws(QueueError) -> String? {
    try read { () throws(QueueError) in try base.storeAccount(of: tombstone) }
  }

  package func ledgerEpoch() throws(QueueError) -> String? {
    try read { () throws(QueueError) in try base.ledgerEpoch() }
  }

  package func deviceAdoptions() throws(QueueError) -> [DeviceAdoption] {
    try read { () throws(QueueError) in try base.deviceAdoptions() }
  }

  package func deviceLaneHolds(throughPlace place: Int64) throws(QueueError) -> Bool {
    try read { () throws(QueueError) in try base.deviceLaneHolds(throughPlace: place) }
  }
}

// MARK: - Writes

extension ForwardingStorage {
  package func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    try write { () throws(QueueError) in
      try base.enqueue(transaction, match, storeAccount: storeAccount, now: now)
    }
  }

  package func enqueueUpdate(_ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp)
    throws(QueueError) -> Entry
  {
    try write { () throws(QueueError) in try base.enqueueUpdate(transaction, of: tombstone, now: now) }
  }

  package func attach(_ proof: Payload, to key: EntryKey, now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in try base.attach(proof, to: key, now: now) }
  }

  package func postpone(_ key: EntryKey, _ wait: Wait, reason: String, now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in try base.postpone(key, wait, reason: reason, now: now) }
  }

  package func wait(of key: EntryKey) throws(QueueError) -> Wait? { try base.wait(of: key) }

  package func changeWaits(
    in lanes: [Lane]?, keeping state: RetryState?, reason: String, now: Timestamp,
    _ change: (inout Wait) -> Void
  ) throws(QueueError) -> Set<Lane> {
    guard state == nil else {
      return try write { () throws(QueueError) in
        try base.changeWaits(in: lanes, keeping: state, reason: reason, now: now, change)
      }
    }
    let changed = try base.changeWaits(in: lanes, keeping: nil, reason: reason, now: now, change)
    // Each wake asks for it, and mostly nothing is written.
    guard !changed.isEmpty else { return changed }
    return try write { () throws(QueueError) in changed }
  }

  package func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp)
    throws(QueueError)
  {
    try write { () throws(QueueError) in try base.recordAttempt(keys, keeping: state, now: now) }
  }

  package func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp)
    throws(QueueError)
  {
    try write { () throws(QueueError) in try base.keep(state, watches, now: now) }
  }

  package func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    try write { () throws(QueueError) in try base.quarantine(key, reason: reason, now: now) }
  }

  package func release(_ key: EntryKey, _ wait: Wait?, now: Timestamp) throws(QueueError) -> Bool {
    try write { () throws(QueueError) in try base.release(key, wait, now: now) }
  }

  package func keep(_ trial: TrialRecord) throws(QueueError) {
    try write { () throws(QueueError) in try base.keep(trial) }
  }

  package func settle(_ claims: [SettledClaim], now: Timestamp) throws(QueueError) -> SettledClaims {
    try write { () throws(QueueError) in try base.settle(claims, now: now) }
  }

  package func markFinished(_ key: EntryKey) throws(QueueError) {
    try write { () throws(QueueError) in try base.markFinished(key) }
  }

  package func markConfirmed(_ key: EntryKey) throws(QueueError) {
    try write { () throws(QueueError) in try base.markConfirmed(key) }
  }

  package func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError) {
    try write { () throws(QueueError) in try base.keepLedgerEpoch(epoch, offeringAgain: offeringAgain) }
  }

  package func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError) {
    try write { () throws(QueueError) in try base.oweUpdate(transaction, now: now) }
  }

  package func oweUpdate(of key: EntryKey) throws(QueueError) {
    try write { () throws(QueueError) in try base.oweUpdate(of: key) }
  }

  package func queuePendingUpdates(now: Timestamp) throws(QueueError) -> QueuedUpdates {
    try write { () throws(QueueError) in try base.queuePendingUpdates(now: now) }
  }

  package func keepAdoption(of account: String) throws(QueueError) -> DeviceAdoption {
    try write { () throws(QueueError) in try base.keepAdoption(of: account) }
  }

  package func endAdoption(of account: String, throughPlace place: Int64) throws(QueueError) {
    try write { () throws(QueueError) in try base.endAdoption(of: account, throughPlace: place) }
  }
}
