package import PurchaseQueue

/// Reads single entries. Several roles need it.
package protocol EntryStorage: AnyObject {
  func entry(_ key: EntryKey) throws(QueueError) -> Entry?
}

/// Takes over transactions that the store delivers.
package protocol TransactionStorage: EntryStorage, MatchSource {
  /// Commits entry, proof and binding together. An entry that is already queued keeps its place and takes the newer
  /// proof. Throws `queueFull` without capacity.
  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued
  /// Whether the store says something new about a settled transaction: revoked, upgraded, another expiry.
  func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) throws(QueueError) -> Bool
  /// Queues an update next to its tombstone, in the same lane and for the same order. Throws `queueFull` without
  /// capacity.
  func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry
  /// Gives an entry a newer proof. The caller has checked that the proof holds the transaction.
  func attach(_ proof: Payload, to key: EntryKey, now: Timestamp) throws(QueueError)
}

/// The order in which entries are sent.
package protocol LaneStorage: EntryStorage {
  /// The lanes that hold queued entries.
  func lanes() throws(QueueError) -> [Lane]
  /// The first `limit` entries of a lane that may be sent at `now`. Entries that were never postponed are ordered by
  /// place, postponed ones by the moment at which they became ready. `dueFirst` puts the postponed ones in front.
  func readyEntries(in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool) throws(QueueError) -> [Entry]
  /// When the first postponed entry of a lane becomes ready, or became ready; nil if none is postponed.
  func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp?
  /// Keeps an entry from being sent until the wait is over, and stores the wait with it.
  func postpone(_ key: EntryKey, _ wait: Wait, reason: String, now: Timestamp) throws(QueueError)
  /// The wait of a postponed entry; nil if it is not postponed.
  func wait(of key: EntryKey) throws(QueueError) -> Wait?
  /// Changes the waits of all entries that are postponed beyond `now`, where the change makes one end earlier.
  /// Returns their lanes. A state is kept in the same commit.
  func changeWaits(
    in lanes: [Lane]?, keeping state: RetryState?, reason: String, now: Timestamp,
    _ change: (inout Wait) -> Void
  ) throws(QueueError) -> Set<Lane>
}

extension LaneStorage {
  /// A wake: the waits of the lanes' entries end now, as far as the backend did not ask for them. Nil: of all lanes.
  /// Returns the lanes of which an entry waits no more, or less.
  package func shortenWaits(
    in lanes: [Lane]? = nil, now: Timestamp, policy: RetryPolicy
  ) throws(QueueError) -> Set<Lane> {
    try changeWaits(in: lanes, keeping: nil, reason: "brought forward", now: now) { wait in
      wait.clockIsAt(now)
      wait.shorten(to: now, pace: policy.paceMilliseconds)
    }
  }

  /// The clock may have jumped: no entry waits longer than for the length of its wait again.
  package func boundWaits(now: Timestamp, keeping state: RetryState?) throws(QueueError) {
    _ = try changeWaits(in: nil, keeping: state, reason: "the clock went back", now: now) {
      $0.clockIsAt(now)
    }
  }

  /// Whether an entry has a wait that began later than now. Changes none.
  func isAnyWaitAhead(of now: Timestamp) throws(QueueError) -> Bool {
    var isAhead = false
    _ = try changeWaits(in: nil, keeping: nil, reason: "", now: now) { isAhead = isAhead || $0.began > now }
    return isAhead
  }

  /// The clock went back.
  func moveWaits(_ jump: ClockJump, keeping state: RetryState) throws(QueueError) {
    _ = try changeWaits(in: nil, keeping: state, reason: "the clock went back", now: jump.to) {
      $0.follow(jump, isShared: true)
    }
  }

  /// Entries that were never postponed come first.
  package func readyEntries(in lane: Lane, now: Timestamp, limit: Int) throws(QueueError) -> [Entry] {
    try readyEntries(in: lane, now: now, limit: limit, dueFirst: false)
  }
}

/// The cost of attempts, and how they ended.
package protocol AttemptStorage: AnyObject {
  /// Counts one attempt for each entry and keeps what it cost, in one commit. `state` is nil if nothing changed.
  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError)
  func retryState() throws(QueueError) -> RetryState
  /// Commits the result of a failed upload: the shared state, and the record of each entry that was in the upload.
  func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) throws(QueueError)
  /// How an entry has fared; an empty record if nothing is kept.
  func watch(of key: EntryKey) throws(QueueError) -> PoisonWatch
}

/// Entries that do not take their turn.
package protocol QuarantineStorage: EntryStorage {
  /// False if the quarantine is full; the entry then stays in its lane.
  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool
  /// Returns an entry to its place in its lane, postponed if there is a wait. False if there is no capacity.
  func release(_ key: EntryKey, _ wait: Wait?, now: Timestamp) throws(QueueError) -> Bool
  /// The quarantined entries in their order. Damaged entries are left out.
  func quarantined() throws(QueueError) -> [EntryKey]
  /// Whether the quarantine holds anything, damaged entries included. Cheap: it is asked at each event.
  func hasQuarantined() throws(QueueError) -> Bool
  /// When the quarantine was last tried, and by which version of the app; nil if never.
  func quarantineTrial() throws(QueueError) -> TrialRecord?
  func keep(_ trial: TrialRecord) throws(QueueError)
}

/// From a verdict to the last duty of a settled entry.
package protocol SettlementStorage: EntryStorage {
  /// The effect of a verdict's order number on the binding of a transaction.
  func binding(by orderNumber: String, of key: EntryKey) throws(QueueError) -> VerdictBinding
  /// Removes settled entries, leaves a tombstone of each with its duties, makes the bindings that the verdicts named,
  /// and makes an update pending for each entry that has a newer proof than was sent, in one commit. An answer to a
  /// question leaves the tombstone as it is, and is kept with the orders that asked.
  func settle(_ claims: [SettledClaim], now: Timestamp) throws(QueueError) -> SettledClaims
  func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone?
  /// Tombstones whose finish is pending or whose outcome is unconfirmed, oldest first.
  func tombstonesWithDuties() throws(QueueError) -> [Tombstone]
  /// The store account that listed the transaction; nil if it is not known, or if the details cannot be read.
  func storeAccount(of tombstone: Tombstone) throws(QueueError) -> String?
  /// Where ids restart (`EntryKey.leavesNoTombstone`), the tombstone goes with its last duty.
  func markFinished(_ key: EntryKey) throws(QueueError)
  /// Drops the tombstone as `markFinished` does.
  func markConfirmed(_ key: EntryKey) throws(QueueError)
}

extension SettlementStorage {
  /// As `settle`; only the tombstones.
  package func acknowledge(_ settled: [SettledClaim], now: Timestamp) throws(QueueError) -> [Tombstone] {
    try settle(settled, now: now).tombstones
  }
}

/// Updates of settled transactions that the backend has yet to get.
package protocol PendingUpdateStorage: AnyObject {
  /// The epoch of the backend's ledger that was received last; nil before the first reply.
  func ledgerEpoch() throws(QueueError) -> String?
  /// Keeps the backend's epoch. With `offeringAgain`, everything that is settled is pending for the backend as an
  /// update.
  func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError)
  /// Records an update for which there was no capacity.
  func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError)
  /// Records that a settled transaction is offered again, with what is stored of it.
  func oweUpdate(of key: EntryKey) throws(QueueError)
  /// Queues pending updates, oldest first, while there is capacity. They have no proof: the backend asks the store.
  func queuePendingUpdates(now: Timestamp) throws(QueueError) -> QueuedUpdates
}

/// Accounts that take over what the device bought.
package protocol AdoptionStorage: AnyObject {
  /// Adoptions that the backend has not taken for all that they cover.
  func deviceAdoptions() throws(QueueError) -> [DeviceAdoption]
  /// Keeps an account's adoption of everything that has been queued until now.
  func keepAdoption(of account: String) throws(QueueError) -> DeviceAdoption
  /// Whether an entry of the device lane, quarantined or not, has this place or an earlier one.
  func deviceLaneHolds(throughPlace place: Int64) throws(QueueError) -> Bool
  /// The backend took the adoption for everything up to this place.
  func endAdoption(of account: String, throughPlace place: Int64) throws(QueueError)
}

/// Everything that the machine needs of the queue's file: the roles of `StorageRoles.swift` together.
///
/// A call that returns is durable. A call that throws has changed nothing. `StorageContractTests` states what an
/// implementation keeps; the real file (`SyncFile`) and the one in memory (`MemoryStorage`) pass it.
package protocol SyncStorage: TransactionStorage, LaneStorage, AttemptStorage, QuarantineStorage,
  SettlementStorage, PendingUpdateStorage, AdoptionStorage
{}
