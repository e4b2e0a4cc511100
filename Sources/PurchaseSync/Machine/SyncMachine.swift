package import PurchaseQueue

/// Every decision of the engine, and no I/O but the storage that is handed in: one function per event, each
/// returning what the driver has to do.
///
/// | event | function |
/// | --- | --- |
/// | the engine starts, once | `started` |
/// | the store hands over a transaction, or a list | `transactionArrived`, `storeListed` |
/// | an upload ended | `replyArrived`, `uploadFailed` |
/// | the store was told, or not | `finishEnded` |
/// | a receipt was found that holds a transaction | `proofFound` |
/// | a claim of the device's purchases | `deviceClaimed`, `claimEnded` |
/// | time passed | `timerFired` |
/// | foreground, network, sign-in, a user who asks | `woken` |
/// | the app goes to the background | `parked` |
/// | the app saw an outcome | `outcomeConfirmed` |
/// | somebody gave an entry up | `discarded` |
///
/// Time comes in as an argument, and randomness as a seed. A storage error leaves the stored state as it was. It is
/// thrown where nothing has happened yet, and is an action where something has (`attempt`): what was done before it is
/// never forgotten. An event that no driver may send (an answer to nothing, a second start) is a mistake of the program
/// and traps.
package struct SyncMachine<Storage: SyncStorage> {
  package let storage: Storage
  package let policy: RetryPolicy
  /// Which version of the app this is: an update of the app tries the quarantine.
  let appVersion: String
  var random: RandomSource
  var lanes: [Lane: LaneState] = [:]
  var retry = RetryState()
  /// As it stands in the file; see `isWorthKeeping`.
  var keptRetry = RetryState()
  var finishing: [EntryKey: Finishing] = [:]
  var claims: [String: Claiming] = [:]
  /// What the store said of transactions while they were out: of news among it, their verdicts know nothing.
  var arrivedMeanwhile: [EntryKey: StoreTransaction] = [:]
  /// Entries that somebody gave up while they were out: what is here under their keys by now is news of them, and the
  /// answer is not about that.
  var givenUp: Set<EntryKey> = []
  /// Entries whose wait the backend asked for: a newer proof does not shorten it.
  var askedToWait: Set<EntryKey> = []
  var epoch: String?
  /// The store account of the last listing.
  var storeAccount: String?
  /// The store holds something for which there was no room.
  var hasOverflow = false
  /// There may be room for it, and the store was not asked yet.
  var isRoomNews = false
  /// The store was asked for it, and has not answered yet.
  var isAskedForOverflow = false
  /// When it is asked again though nobody made room here: another process may have, and room that is kept for an order
  /// ends by itself.
  var overflowDue: Timestamp?
  /// Something that is owed to the backend waits for room.
  var hasOwedUpdates = false
  /// How often a new proof took an entry out of quarantine.
  var provenAnew: [EntryKey: Int] = [:]
  /// What the present trial of the quarantine found no room for yet.
  var stillParked: [EntryKey] = []
  /// When the backend wants the first of these again.
  var parkedWait: Timestamp?
  var isStarted = false
  var isParked = false
  /// The moment of the last event.
  var latest = Timestamp(milliseconds: .min)
  /// The clock has gone back since everything was last looked at: what was due then may lie far ahead.
  var wentBack = false

  package init(storage: Storage, policy: RetryPolicy, appVersion: String = "", seed: UInt64) {
    self.storage = storage
    self.policy = policy
    self.appVersion = appVersion
    random = RandomSource(seed: seed)
  }

  /// The most entries that one upload carries (wire protocol).
  static var claimsPerUpload: Int { 100 }

  /// The engine starts: everything that a former run left undone is taken up.
  package mutating func started(now: Timestamp) throws(QueueError) -> [SyncAction] {
    precondition(!isStarted, "a machine starts once")
    retry = try storage.retryState()
    keptRetry = retry
    epoch = try storage.ledgerEpoch()
    var actions: [SyncAction] = []
    for tombstone in try storage.tombstonesWithDuties() where tombstone.isUnseen {
      actions.append(.emit(.delivered(Outcome(tombstone))))
    }
    for claim in try storage.deviceClaims() {
      claims[claim.account] = Claiming(throughPlace: claim.throughPlace)
    }
    for lane in try storage.lanes() { try lanes[lane] = restored(lane, now: now) }
    // Unknown until it was tried: a former run may have left some.
    hasOwedUpdates = true
    // What the clock said in a former run is not known either.
    wentBack = true
    latest = now
    isStarted = true
    return actions + proceed(now: now)
  }

  /// A lane of a former run goes on with as many failures as its head has attempts: an app that dies at each launch
  /// must not send at each launch.
  private mutating func restored(_ lane: Lane, now: Timestamp) throws(QueueError) -> LaneState {
    let attempts = try storage.readyEntries(in: lane, now: .distantFuture, limit: 1).first?.attempts ?? 0
    return LaneState(
      backoff: LaneBackoff(attempts: attempts, now: now, policy: policy, using: &random))
  }

  /// Everything that may be due now: the one place from which all of it is looked at.
  mutating func proceed(now: Timestamp) -> [SyncAction] {
    guard !isParked else { return [] }
    var actions: [SyncAction] = []
    if wentBack {
      actions += attempt { (machine) throws(QueueError) in try machine.clampMoments(now: now) }
    }
    actions += attempt { (machine) throws(QueueError) in try machine.tryQuarantine(now: now) }
    if hasOwedUpdates {
      actions += attempt { (machine) throws(QueueError) in try machine.queueOwedUpdates(now: now) }
    }
    actions += sendAll(now: now)
    actions += finishAgain(now: now)
    return actions + claimAgain(now: now) + askForOverflowAgain(now: now) + askForOverflow()
  }

  /// A step after which others come: its failure must not take back what they or the steps before it did.
  mutating func attempt(_ step: (inout Self) throws(QueueError) -> [SyncAction]) -> [SyncAction] {
    do throws(QueueError) {
      return try step(&self)
    } catch {
      return [.storageFailed(error)]
    }
  }

  /// Time passed, at least until the moment that was asked for.
  package mutating func timerFired(now: Timestamp) -> [SyncAction] {
    precondition(isStarted, "time passes for a machine that has started")
    note(now)
    return proceed(now: now)
  }

  /// The app saw the outcome. One that is not there any more is fine. An unseen one takes room.
  package mutating func outcomeConfirmed(
    _ key: EntryKey, now: Timestamp
  ) throws(QueueError) -> [SyncAction] {
    precondition(isStarted, "outcomes are confirmed to a machine that has started")
    note(now)
    guard try storage.tombstone(key)?.isUnseen == true else { return [] }
    try storage.markSeen(key)
    return roomIsFree(now: now)
  }
}
