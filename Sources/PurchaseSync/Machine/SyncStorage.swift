import Foundation
package import PurchaseQueue

/// What the machine needs of the queue's file. Every call that returns is durable; one that throws left all as it was.
///
/// `StorageContractTests` in the tests says what an implementation has to keep: the real file and the one in memory do.
package protocol SyncStorage: AnyObject, MatchSource {
  // MARK: Transactions

  /// Entry, proof and binding in one commit. What is queued already keeps its place, and takes the newer proof.
  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued
  /// Whether the store says something new of what was settled: revoked, upgraded, another end.
  func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) throws(QueueError) -> Bool
  /// Queues news beside the tombstone, in its lane and for its order. `queueFull` if there is no room.
  func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry
  /// Gives an entry a newer proof, which holds its transaction.
  func attach(_ proof: Proof, to key: EntryKey, now: Timestamp) throws(QueueError)

  // MARK: Lanes

  /// The lanes in which an entry waits for its turn.
  func lanes() throws(QueueError) -> [Lane]
  /// The first entries of a lane that may be sent by now: those that never had to wait by place, and those that did,
  /// the longest due first. Which of the two come before the others, the machine says.
  func readyEntries(in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool) throws(QueueError) -> [Entry]
  /// When the first postponed entry of a lane becomes ready, or became; nil if none is postponed.
  func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp?
  func entry(_ key: EntryKey) throws(QueueError) -> Entry?
  func postpone(_ key: EntryKey, until: Timestamp, reason: String, now: Timestamp) throws(QueueError)
  /// Entries that are postponed beyond this moment are postponed to it.
  func clampPostponed(to latest: Timestamp, now: Timestamp) throws(QueueError)

  // MARK: Attempts

  /// Counts an attempt of each entry, and keeps what it cost, in one commit before the send.
  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError)
  func retryState() throws(QueueError) -> RetryState
  /// What a failed upload leaves: the state of all, and of each entry that was in it.
  func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) throws(QueueError)
  /// How an entry has fared; an empty one if nothing is kept.
  func watch(of key: EntryKey) throws(QueueError) -> PoisonWatch

  // MARK: Quarantine

  /// False if the quarantine is full: the entry stays in its lane.
  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool
  /// Back to its place in its lane, where it waits until that moment, if any; false if there is no room for it.
  func release(_ key: EntryKey, until: Timestamp?, now: Timestamp) throws(QueueError) -> Bool
  func quarantined() throws(QueueError) -> [EntryKey]
  /// Whether anything is parked, without reading it: asked at each event.
  func hasQuarantined() throws(QueueError) -> Bool
  /// When the quarantine was last tried, and by which version of the app.
  func quarantineTrial() throws(QueueError) -> QuarantineTrial?
  func keep(_ trial: QuarantineTrial) throws(QueueError)

  // MARK: The end

  /// What a verdict's order number does to the binding of a transaction.
  func binding(by orderNumber: String, of key: EntryKey) throws(QueueError) -> VerdictBinding
  /// Removes settled entries, leaves a tombstone of each with its duties, and makes the bindings that the verdicts
  /// named, in one commit.
  func acknowledge(_ settled: [SettledClaim], now: Timestamp) throws(QueueError) -> [Tombstone]
  func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone?
  /// Those whose finish is owed or whose outcome is unseen, oldest first.
  func tombstonesWithDuties() throws(QueueError) -> [Tombstone]
  /// Which store account listed the transaction, if that is known.
  func storeAccount(of tombstone: Tombstone) throws(QueueError) -> String?
  /// Where ids restart (`EntryKey.leavesNoTombstone`), the tombstone goes with its last duty.
  func markFinished(_ key: EntryKey) throws(QueueError)
  /// As `markFinished`.
  func markSeen(_ key: EntryKey) throws(QueueError)

  // MARK: Updates that are owed

  func ledgerEpoch() throws(QueueError) -> String?
  /// Keeps the backend's epoch. With `offeringAgain`, everything that is settled is owed to it as an update.
  func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError)
  /// Marks news for which there was no room.
  func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError)
  /// The same of what another process of this installation was told: all of it is offered again.
  func oweUpdate(of key: EntryKey) throws(QueueError)
  /// Queues what is owed, oldest first, as long as there is room: without a proof, the backend asks the store.
  func queueOwedUpdates(now: Timestamp) throws(QueueError) -> OwedUpdates

  // MARK: Claims of what the device bought

  /// Accounts that claimed the device's purchases, and whose claim the backend has not answered for all of them.
  func deviceClaims() throws(QueueError) -> [DeviceClaimant]
  /// Keeps an account's claim of everything that has been queued until now.
  func keepClaim(of account: String) throws(QueueError) -> DeviceClaimant
  /// Whether an entry of the device lane, quarantined or not, has this place or an earlier one.
  func deviceLaneHolds(throughPlace place: Int64) throws(QueueError) -> Bool
  /// The backend took the claim for everything that it covers.
  func endClaim(of account: String, throughPlace place: Int64) throws(QueueError)
}

/// How a claim was settled.
package struct SettledClaim: Sendable, Hashable {
  package var key: EntryKey
  package var verdict: Verdict
  /// The order that the verdict binds it to, if that is new.
  package var orderNumber: String?

  package init(key: EntryKey, verdict: Verdict, orderNumber: String? = nil) {
    self.key = key
    self.verdict = verdict
    self.orderNumber = orderNumber
  }
}

/// What became of the updates that are owed to the backend.
package struct OwedUpdates: Sendable, Hashable {
  /// Those for which there was room.
  package var queued: [EntryKey]
  /// Whether others wait for room.
  package var areWaiting: Bool

  package init(queued: [EntryKey], areWaiting: Bool) {
    self.queued = queued
    self.areWaiting = areWaiting
  }
}

/// When the quarantine was last tried.
package struct QuarantineTrial: Sendable, Hashable, Codable {
  package var at: Timestamp
  /// The app's version at that time.
  package var appVersion: String
  /// When the backend wants what is in quarantine again at the earliest, by key, where it said so: neither a new proof
  /// nor an update of the app comes before it.
  package var notBefore: [String: Timestamp]?

  package init(at: Timestamp, appVersion: String) {
    self.at = at
    self.appVersion = appVersion
  }
}

/// An account that claimed what was bought on this device before anybody was signed in.
package struct DeviceClaimant: Sendable, Hashable {
  package var account: String
  /// The place of the last entry that is covered: unlike a moment, no clock that jumps changes what it means.
  package var throughPlace: Int64

  package init(account: String, throughPlace: Int64) {
    self.account = account
    self.throughPlace = throughPlace
  }
}

extension SyncStorage {
  /// Those that never had to wait first.
  package func readyEntries(in lane: Lane, now: Timestamp, limit: Int) throws(QueueError) -> [Entry] {
    try readyEntries(in: lane, now: now, limit: limit, dueFirst: false)
  }
}
