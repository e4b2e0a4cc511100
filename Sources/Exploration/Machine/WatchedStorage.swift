import Foundation
import PurchaseQueue
import PurchaseSync

/// The storage of one process. It fails on demand, dies where a kill happens, and reports to the installation's shadow
/// what was committed.
final class WatchedStorage: ForwardingStorage {
  private(set) var base: any SyncStorage
  let shadow: Shadow
  /// Which writes fail: `left` of them, after `after` others.
  private var fault: (kind: StorageFault, after: Int, left: Int)?
  /// The number of effects (writes and actions) before the process dies; nil if it does not die.
  private(set) var effectsLeft: Int?
  private(set) var isDead = false
  /// Transactions that the store delivered to this process since their upload was prepared.
  var arrived: Set<Int> = []
  /// Whether the commit that is made now is promised soon.
  private var isSoon = false
  /// Whether a write failed since the event began.
  private(set) var hasStruck = false
  /// The disk whose power may be cut; nil in a run without that.
  private let cutDisk: (any ExplorationDisk)?

  init(_ base: any SyncStorage, _ shadow: Shadow, cutDisk: (any ExplorationDisk)? = nil) {
    self.base = base
    self.shadow = shadow
    self.cutDisk = cutDisk
  }

  func beginEvent() { hasStruck = false }

  /// The process has died, and its connection with it.
  func close() { base = GoneStorage() }

  func arm(_ kind: StorageFault, after: Int, count: Int) { fault = (kind, after, count) }

  func kill(afterEffects count: Int) { effectsLeft = count }

  func disarm() { (fault, effectsLeft) = (nil, nil) }

  /// Whether writes will fail, or the process is about to die.
  var isDisturbed: Bool { fault != nil || effectsLeft != nil || isDead || hasStruck }

  /// Counts an effect; returns whether the process is dead.
  func passEffect() -> Bool {
    guard let left = effectsLeft else { return isDead }
    if left <= 0 { isDead = true }
    effectsLeft = left - 1
    return isDead
  }

  func write<R>(_ call: () throws(QueueError) -> R) throws(QueueError) -> R { try write(call) { _ in } }

  private static let killed = QueueError.storage(path: "q", reason: "the process was killed")

  /// A durable commit makes what was promised soon durable as well.
  func allIsDurable() {
    guard let cutDisk else { return }
    cutDisk.allIsDurable()
    shadow.allIsDurable()
  }

  /// A commit that is promised soon.
  private func writeSoon(
    _ call: () throws(QueueError) -> Void, _ commit: (borrowing Void) -> Void
  ) throws(QueueError) {
    guard let cutDisk else { return try write(call, commit) }
    isSoon = true
    defer { isSoon = false }
    cutDisk.beginSoonCommit()
    shadow.beginSoonCommit()
    var isThere = false
    defer {
      if !isThere {
        cutDisk.dropSoonCommit()
        shadow.dropSoonCommit()
      }
    }
    try write(call) { result in
      isThere = true
      commit(result)
    }
  }

  private func write<R>(
    _ call: () throws(QueueError) -> R, _ commit: (borrowing R) -> Void
  ) throws(QueueError) -> R {
    if fault == nil, effectsLeft == nil, !isDead {
      let result = try call()
      commit(result)
      if !isSoon { allIsDurable() }
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

  /// The write is done; a kill may happen before the caller knows.
  private func committed<R>(
    _ call: () throws(QueueError) -> R, _ commit: (borrowing R) -> Void
  ) throws(QueueError) -> R {
    let result = try call()
    commit(result)
    if !isSoon { allIsDurable() }
    if effectsLeft != nil, passEffect() { throw Self.killed }
    return result
  }

  // MARK: Transactions

  func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    arrived.insert(Names.transaction(transaction.key))
    do throws(QueueError) {
      return try write(
        { () throws(QueueError) in
          try base.enqueue(transaction, match, storeAccount: storeAccount, now: now)
        },
        { result in
          switch copy result {
          case .inserted(let entry): shadow.queued(entry, candidates: match.candidates)
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

  func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry {
    let sale = Names.transaction(tombstone.key)
    return try write(
      { () throws(QueueError) in try base.enqueueUpdate(transaction, of: tombstone, now: now) },
      { entry in
        if shadow.row(sale).state == .none {
          shadow.queued(entry, isUpdate: true)
        } else {
          shadow.collapsed(entry)
        }
        shadow.proof(transaction.proof, of: sale)
      })
  }

  func attach(_ proof: Payload, to key: EntryKey, now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.attach(proof, to: key, now: now) },
      { _ in shadow.proof(proof, of: Names.transaction(key)) })
  }

  // MARK: Lanes

  // The reads that the machine makes most often do not go through the funnel: a run makes thousands of them.
  func lanes() throws(QueueError) -> [Lane] { try base.lanes() }
  func readyEntries(
    in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool
  ) throws(QueueError) -> [Entry] {
    try base.readyEntries(in: lane, now: now, limit: limit, dueFirst: dueFirst)
  }
  func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp? { try base.nextReadyAt(in: lane) }
  func entry(_ key: EntryKey) throws(QueueError) -> Entry? { try base.entry(key) }

  func postpone(_ key: EntryKey, _ wait: Wait, reason: String, now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.postpone(key, wait, reason: reason, now: now) },
      { _ in
        shadow.change(Names.transaction(key)) { row in
          row.readyAt = wait.ends.milliseconds
          row.isAside =
            wait.cause == .poison && wait.milliseconds >= RetryPolicy().quarantineRetryMilliseconds
        }
      })
  }

  func wait(of key: EntryKey) throws(QueueError) -> Wait? { try base.wait(of: key) }

  func changeWaits(
    in lanes: [Lane]?, keeping state: RetryState?, reason: String, now: Timestamp,
    _ change: (inout Wait) -> Void
  ) throws(QueueError) -> Set<Lane> {
    // One by one in the shadow's order: what the base does in its own order gives the same.
    var moments: [(sale: Int, readyAt: Int64)] = []
    for sale in shadow.rows.indices where shadow.rows[sale].state == .queued {
      guard shadow.rows[sale].readyAt > now.milliseconds,
        lanes?.contains(Names.lanes[shadow.rows[sale].lane]) ?? true,
        var wait = try base.wait(of: Names.key(sale))
      else { continue }
      change(&wait)
      if wait.ends.milliseconds < shadow.rows[sale].readyAt { moments.append((sale, wait.ends.milliseconds)) }
    }
    return try write(
      { () throws(QueueError) in
        try base.changeWaits(in: lanes, keeping: state, reason: reason, now: now, change)
      },
      { _ in
        if let state { shadow.retry = state }
        for (sale, moment) in moments { shadow.change(sale) { $0.readyAt = moment } }
      })
  }

  // MARK: Attempts

  func recordAttempt(_ keys: [EntryKey], keeping state: RetryState?, now: Timestamp) throws(QueueError) {
    try writeSoon(
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

  func release(_ key: EntryKey, _ wait: Wait?, now: Timestamp) throws(QueueError) -> Bool {
    try write(
      { () throws(QueueError) in try base.release(key, wait, now: now) },
      { isFree in
        let sale = Names.transaction(key)
        guard copy isFree, shadow.row(sale).state == .quarantined else { return }
        shadow.checker.mark(.released)
        shadow.set(.queued, of: sale)
        shadow.change(sale) { row in
          row.readyAt = wait?.ends.milliseconds ?? 0
          row.queuedAt = shadow.checker.moment().at
          row.isAside = wait.map { $0.asked > 0 } ?? false
        }
      })
  }

  // MARK: The end

  func settle(_ settled: [SettledClaim], now: Timestamp) throws(QueueError) -> SettledClaims {
    var newer: [Int] = []
    var kept: [Tombstone] = []
    for claim in settled {
      guard let entry = try base.entry(claim.key) else { continue }
      if claim.keepsTombstone, let tombstone = try base.tombstone(claim.key) { kept.append(tombstone) }
      if claim.hasPendingUpdate(of: entry) { newer.append(Names.transaction(claim.key)) }
    }
    return try write(
      { () throws(QueueError) in try base.settle(settled, now: now) },
      { result in
        let tombstones = (copy result).tombstones
        for tombstone in tombstones { shadow.acknowledged(tombstone) }
        kept.forEach(shadow.staysOver)
        if (copy result).hasPendingUpdates { shadow.pendingUpdates.formUnion(newer) }
        for claim in settled where claim.orderNumber != nil {
          shadow.checker.mark(.boundByVerdict)
        }
        if shadow.buried > shadow.limits.tombstones { reconcileTombstones() }
      })
  }

  /// Only the storage knows which tombstones it dropped. It may drop those without duties, and no more than necessary.
  private func reconcileTombstones() {
    do throws(QueueError) {
      var dropped = 0
      for sale in shadow.rows.indices where shadow.rows[sale].isBuried {
        guard try base.tombstone(Names.key(sale)) == nil else { continue }
        let row = shadow.rows[sale]
        shadow.checker.expect(
          .finished, !row.hasPendingFinish && !row.isUnconfirmed,
          "\(Names.key(sale)) was forgotten with its duties")
        dropped += 1
        shadow.forgotten(sale)
      }
      let free = shadow.buried - shadow.pending - shadow.unconfirmed
      shadow.checker.expect(
        .bounded, free <= shadow.limits.tombstones, "\(free) tombstones without duties are kept")
    } catch {
      return
    }
  }

  func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? { try base.tombstone(key) }

  func markFinished(_ key: EntryKey) throws(QueueError) {
    try writeSoon(
      { () throws(QueueError) in try base.markFinished(key) },
      { _ in shadow.finished(Names.transaction(key)) })
  }

  func markConfirmed(_ key: EntryKey) throws(QueueError) {
    try writeSoon(
      { () throws(QueueError) in try base.markConfirmed(key) }, { _ in shadow.seen(Names.transaction(key)) })
  }

  // MARK: Pending updates

  func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.keepLedgerEpoch(epoch, offeringAgain: offeringAgain) },
      { _ in shadow.epoch = epoch })
  }

  func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.oweUpdate(transaction, now: now) },
      { _ in
        shadow.checker.mark(.updatePending)
        shadow.pendingUpdates.insert(Names.transaction(transaction.key))
      })
  }

  func queuePendingUpdates(now: Timestamp) throws(QueueError) -> QueuedUpdates {
    try write(
      { () throws(QueueError) in try base.queuePendingUpdates(now: now) },
      { pending in
        for key in (copy pending).queued where shadow.row(Names.transaction(key)).state == .none {
          do throws(QueueError) {
            if let entry = try base.entry(key) { shadow.queued(entry, isUpdate: true) }
          } catch {
            shadow.checker.broken(.prefix, "an update that was queued cannot be read")
          }
        }
      })
  }

  // MARK: Adoptions

  func keepAdoption(of account: String) throws(QueueError) -> DeviceAdoption {
    try write(
      { () throws(QueueError) in try base.keepAdoption(of: account) },
      { _ in
        shadow.adoptions |= 1 << Names.account(account)
        shadow.adoptionsEver |= shadow.adoptions
      })
  }

  func endAdoption(of account: String, throughPlace place: Int64) throws(QueueError) {
    try write(
      { () throws(QueueError) in try base.endAdoption(of: account, throughPlace: place) },
      { _ in
        do throws(QueueError) {
          // A wider adoption stays.
          guard try !base.deviceAdoptions().contains(where: { $0.account == account }) else { return }
          shadow.adoptions &= ~(1 << Names.account(account))
        } catch {
          shadow.checker.broken(.prefix, "the adoptions cannot be read")
        }
      })
  }
}

// MARK: - Matching, without the funnel as well

extension WatchedStorage {
  func orders(_ query: TokenQuery) throws(QueueError) -> [OrderFacts] { try base.orders(query) }
  func knownTransaction(_ key: EntryKey) throws(QueueError) -> KnownTransaction? {
    try base.knownTransaction(key)
  }
  func unboundOrders(_ query: OrderQuery) throws(QueueError) -> [OrderFacts] { try base.unboundOrders(query) }
  func payer(ofBundle payment: String, _ query: OrderQuery) throws(QueueError) -> String? {
    try base.payer(ofBundle: payment, query)
  }
  func hasSeveralAccounts(_ query: OrderQuery) throws(QueueError) -> Bool {
    try base.hasSeveralAccounts(query)
  }
}
