import Foundation
import PurchaseQueue
import PurchaseSync

/// The storage of one process: it fails when it is told to, dies where a kill falls, and tells the installation's shadow
/// what was committed.
final class WatchedStorage: SyncStorage {
  private(set) var base: any SyncStorage
  let shadow: Shadow
  /// Writes that fail: after so many others, so many of them.
  private var fault: (kind: StorageFault, after: Int, left: Int)?
  /// So many effects (writes and actions) from now the process dies; nil if it does not.
  private(set) var effectsLeft: Int?
  private(set) var isDead = false
  /// Whether a write failed since the event began.
  private(set) var hasStruck = false

  init(_ base: any SyncStorage, _ shadow: Shadow) {
    self.base = base
    self.shadow = shadow
  }

  func beginEvent() { hasStruck = false }

  /// The process has died, and its connection with it.
  func close() { base = GoneStorage() }

  func arm(_ kind: StorageFault, after: Int, count: Int) { fault = (kind, after, count) }

  func kill(afterEffects count: Int) { effectsLeft = count }

  func disarm() { (fault, effectsLeft) = (nil, nil) }

  /// One effect more; true if the process has died by now.
  func passEffect() -> Bool {
    guard let left = effectsLeft else { return isDead }
    if left <= 0 { isDead = true }
    effectsLeft = left - 1
    return isDead
  }

  private static let killed = QueueError.storage(path: "q", reason: "the process was killed")

  private func write<R>(
    _ call: () throws(QueueError) -> R, _ commit: (borrowing R) -> Void
  ) throws(QueueError) -> R {
    if fault == nil, effectsLeft == nil, !isDead {
      let result = try call()
      commit(result)
      return result
    }
    guard !passEffect() else { throw Self.killed }
    guard let fault, !isDead else { return try committed(call, commit) }
    if fault.after > 0 {
      self.fault?.after -= 1
      return try committed(call, commit)
    }
    self.fault = fault.left > 1 ? (fault.kind, 0, fault.left - 1) : nil
    hasStruck = true
    shadow.checker.mark(.storageFailed)
    switch fault.kind {
    case .full: throw .diskFull(path: "q", reason: "injected")
    case .failsBefore: throw .storage(path: "q", reason: "injected")
    case .failsAfter:
      _ = try committed(call, commit)
      throw .storage(path: "q", reason: "injected")
    }
  }

  /// Done; a kill may come before the caller knows.
  private func committed<R>(
    _ call: () throws(QueueError) -> R, _ commit: (borrowing R) -> Void
  ) throws(QueueError) -> R {
    let result = try call()
    commit(result)
    if effectsLeft != nil, passEffect() { throw Self.killed }
    return result
  }

  // MARK: Transactions

  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    do throws(QueueError) {
      return try write(
        { () throws(QueueError) in
          try base.enqueue(transaction, match, storeAccount: storeAccount, now: now)
        },
        { result in
          switch copy result {
          case .inserted(let entry): shadow.inserted(entry, candidates: match.candidates, isUpdate: false)
          case .collapsed(let entry): shadow.collapsed(entry)
          case .settled: return
          }
          shadow.proof(transaction.proof, of: Names.transaction(transaction.key))
        })
    } catch {
      if case .queueFull = error {
        shadow.checker.mark(.queueFull)
      } else {
        shadow.checker.mark(.enqueueFailed)
      }
      shadow.change(Names.transaction(transaction.key)) { $0.hasFailed = true }
      throw error
    }
  }

  func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) throws(QueueError) -> Bool {
    try base.isNews(transaction, since: tombstone)
  }

  func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry {
    let sale = Names.transaction(tombstone.key)
    return try write(
      { () throws(QueueError) in try base.enqueueUpdate(transaction, of: tombstone, now: now) },
      { entry in
        if shadow.row(sale).state == .none {
          shadow.inserted(entry, candidates: [], isUpdate: true)
        } else {
          shadow.collapsed(entry)
        }
        shadow.proof(transaction.proof, of: sale)
      })
  }

  func attach(_ proof: Proof, to key: EntryKey, now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.attach(proof, to: key, now: now) },
      { _ in shadow.proof(proof, of: Names.transaction(key)) })
  }

  // MARK: Lanes

  func lanes() throws(QueueError) -> [Lane] { try base.lanes() }
  func readyEntries(
    in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool
  ) throws(QueueError) -> [Entry] {
    try base.readyEntries(in: lane, now: now, limit: limit, dueFirst: dueFirst)
  }
  func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp? { try base.nextReadyAt(in: lane) }
  func entry(_ key: EntryKey) throws(QueueError) -> Entry? { try base.entry(key) }

  func postpone(_ key: EntryKey, until: Timestamp, reason: String, now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.postpone(key, until: until, reason: reason, now: now) },
      { _ in shadow.change(Names.transaction(key)) { $0.readyAt = until.milliseconds } })
  }

  func clampPostponed(to latest: Timestamp, now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.clampPostponed(to: latest, now: now) },
      { _ in
        for sale in shadow.rows.indices
        where shadow.rows[sale].state == .queued && shadow.rows[sale].readyAt > latest.milliseconds {
          shadow.change(sale) { $0.readyAt = latest.milliseconds }
        }
      })
  }

  // MARK: Attempts

  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.recordAttempt(keys, keeping: state, now: now) },
      { _ in
        for key in keys { shadow.change(Names.transaction(key)) { $0.attempts += 1 } }
        if let state { shadow.retry = state }
      })
  }

  func retryState() throws(QueueError) -> RetryState { try base.retryState() }

  func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.keep(state, watches, now: now) }, { _ in shadow.retry = state })
  }

  func watch(of key: EntryKey) throws(QueueError) -> PoisonWatch { try base.watch(of: key) }

  // MARK: Quarantine

  func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    try write(
      { () throws(QueueError) in try base.quarantine(key, reason: reason, now: now) },
      { isThere in
        guard copy isThere else { return }
        shadow.checker.mark(.quarantined)
        shadow.set(.quarantined, of: Names.transaction(key))
      })
  }

  func release(_ key: EntryKey, until: Timestamp?, now: Timestamp) throws(QueueError) -> Bool {
    try write(
      { () throws(QueueError) in try base.release(key, until: until, now: now) },
      { isFree in
        let sale = Names.transaction(key)
        guard copy isFree, shadow.row(sale).state == .quarantined else { return }
        shadow.checker.mark(.released)
        shadow.set(.queued, of: sale)
        shadow.change(sale) { $0.readyAt = until?.milliseconds ?? 0 }
      })
  }

  func quarantined() throws(QueueError) -> [EntryKey] { try base.quarantined() }
  func hasQuarantined() throws(QueueError) -> Bool { try base.hasQuarantined() }
  func quarantineTrial() throws(QueueError) -> QuarantineTrial? { try base.quarantineTrial() }
  func keep(_ trial: QuarantineTrial) throws(QueueError) {
    try write({ () throws(QueueError) in try base.keep(trial) }, { _ in })
  }

  // MARK: The end

  func binding(by orderNumber: String, of key: EntryKey) throws(QueueError) -> VerdictBinding {
    try base.binding(by: orderNumber, of: key)
  }

  func acknowledge(_ settled: [SettledClaim], now: Timestamp) throws(QueueError) -> [Tombstone] {
    try write(
      { () throws(QueueError) in try base.acknowledge(settled, now: now) },
      { tombstones in
        for tombstone in copy tombstones { shadow.acknowledged(tombstone) }
        for claim in settled where claim.orderNumber != nil {
          shadow.checker.mark(.boundByVerdict)
        }
        if shadow.buried > shadow.limits.tombstones { reconcileTombstones() }
      })
  }

  /// Which ones were dropped only the storage knows: those without duties, and no more than it must.
  private func reconcileTombstones() {
    do throws(QueueError) {
      var dropped = 0
      for sale in shadow.rows.indices where shadow.rows[sale].isBuried {
        guard try base.tombstone(Names.key(sale)) == nil else { continue }
        let row = shadow.rows[sale]
        shadow.checker.expect(
          .finished, !row.owesFinish && !row.isUnseen, "\(Names.key(sale)) was forgotten with its duties")
        dropped += 1
        shadow.forgotten(sale)
      }
      let free = shadow.buried - shadow.owed - shadow.unseen
      shadow.checker.expect(
        .bounded, free <= shadow.limits.tombstones, "\(free) tombstones without duties are kept")
    } catch {
      return
    }
  }

  func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? { try base.tombstone(key) }
  func tombstonesWithDuties() throws(QueueError) -> [Tombstone] { try base.tombstonesWithDuties() }
  func storeAccount(of tombstone: Tombstone) throws(QueueError) -> String? {
    try base.storeAccount(of: tombstone)
  }

  func markFinished(_ key: EntryKey) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.markFinished(key) },
      { _ in shadow.finished(Names.transaction(key)) })
  }

  func markSeen(_ key: EntryKey) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.markSeen(key) }, { _ in shadow.seen(Names.transaction(key)) })
  }

  // MARK: Updates that are owed

  func ledgerEpoch() throws(QueueError) -> String? { try base.ledgerEpoch() }

  func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.keepLedgerEpoch(epoch, offeringAgain: offeringAgain) },
      { _ in shadow.epoch = epoch })
  }

  func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.oweUpdate(transaction, now: now) },
      { _ in shadow.checker.mark(.updateOwed) })
  }

  func oweUpdate(of key: EntryKey) throws(QueueError) {
    try write({ () throws(QueueError) in try base.oweUpdate(of: key) }, { _ in })
  }

  func queueOwedUpdates(now: Timestamp) throws(QueueError) -> OwedUpdates {
    try write(
      { () throws(QueueError) in try base.queueOwedUpdates(now: now) },
      { owed in
        for key in (copy owed).queued where shadow.row(Names.transaction(key)).state == .none {
          do throws(QueueError) {
            if let entry = try base.entry(key) { shadow.inserted(entry, candidates: [], isUpdate: true) }
          } catch {
            shadow.checker.broken(.prefix, "an update that was queued cannot be read")
          }
        }
      })
  }

  // MARK: Claims of what the device bought

  func deviceClaims() throws(QueueError) -> [DeviceClaimant] { try base.deviceClaims() }

  func keepClaim(of account: String) throws(QueueError) -> DeviceClaimant {
    try write(
      { () throws(QueueError) in try base.keepClaim(of: account) },
      { _ in
        shadow.claims |= 1 << Names.account(account)
        shadow.claimsEver |= shadow.claims
      })
  }

  func deviceLaneHolds(throughPlace place: Int64) throws(QueueError) -> Bool {
    try base.deviceLaneHolds(throughPlace: place)
  }

  func endClaim(of account: String, throughPlace place: Int64) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.endClaim(of: account, throughPlace: place) },
      { _ in
        do throws(QueueError) {
          // A wider one stays.
          guard try !base.deviceClaims().contains(where: { $0.account == account }) else { return }
          shadow.claims &= ~(1 << Names.account(account))
        } catch {
          shadow.checker.broken(.prefix, "the claims cannot be read")
        }
      })
  }
}

// MARK: - Matching

extension WatchedStorage: MatchSource {
  func orderFacts(accountToken: UUID) throws(QueueError) -> OrderFacts? {
    try base.orderFacts(accountToken: accountToken)
  }
  func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction? {
    try base.knownTransaction(key)
  }
  func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts] { try base.unboundOrders(query) }
  func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool {
    try base.hasSeveralAccounts(query)
  }
}
