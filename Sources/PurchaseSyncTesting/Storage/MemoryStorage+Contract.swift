package import Foundation
package import PurchaseQueue
package import PurchaseSync

extension MemoryStorage: MatchSource {
  package func orderFacts(accountToken: UUID) -> OrderFacts? { book.orderFacts(accountToken: accountToken) }
  package func knownTransaction(_ key: EntryKey) -> KnownTransaction? { book.knownTransaction(key) }
  package func unboundOrders(_ query: OrderQuery) -> [OrderFacts] { book.unboundOrders(query) }
  package func hasSeveralAccounts(_ query: OrderQuery) -> Bool { book.hasSeveralAccounts(query) }
}

extension MemoryStorage: SyncStorage {
  // MARK: Transactions

  package func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    let key = transaction.key
    if var entry = entries[key] {
      if entry.orderNumber == nil, let number = match.orderNumber {
        try book.record(match, of: key)
        entry.orderNumber = number
      }
      entry.proofs = exchange(entry.proofs, for: transaction.proof)
      entries[key] = entry
      return .collapsed(entry)
    }
    if let tombstone = tombstones[key] { return .settled(tombstone) }
    // Bound first: an order that is taken throws, and then nothing is queued.
    guard queuedCount < limits.entries else {
      throw .queueFull(.entries, needed: queuedCount + 1, allowed: limits.entries)
    }
    try book.record(match, of: key)
    var said = TransactionDetails(transaction, match: match)
    said.storeAccount = storeAccount
    details[key] = said
    return .inserted(
      try insertEntry(
        key, lane: match.lane, orderNumber: match.orderNumber, proofs: [transaction.proof], now: now))
  }

  package func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) -> Bool {
    guard let known = details[tombstone.key] else { return false }
    return !TransactionDetails(transaction).changes(since: known).isEmpty
  }

  package func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry {
    let entry = try insertEntry(
      tombstone.key, lane: tombstone.lane, orderNumber: tombstone.orderNumber, proofs: [transaction.proof],
      now: now)
    details[tombstone.key] = TransactionDetails(transaction)
    return entry
  }

  package func attach(_ proof: Proof, to key: EntryKey, now: Timestamp) throws(QueueError) {
    guard entries[key] != nil else { return }
    try change(key) { $0.proofs = exchange($0.proofs, for: proof) }
    var watch = watches[key] ?? PoisonWatch()
    watch.gotNewProof()
    watches[key] = watch
  }

  // MARK: Lanes

  package func lanes() -> [Lane] {
    turns.filter { $0.value.rest.contains { entries[$0]?.state == .queued } }.keys
      .sorted { $0.text < $1.text }
  }

  package func readyEntries(in lane: Lane, now: Timestamp, limit: Int) -> [Entry] {
    var found: [Entry] = []
    for key in turns[lane]?.rest ?? [] {
      guard let entry = entries[key], entry.state == .queued, entry.readyAt <= now else { continue }
      found.append(entry)
      if found.count == limit { break }
    }
    return found
  }

  package func nextReadyAt(in lane: Lane) -> Timestamp? {
    (turns[lane]?.rest ?? []).lazy.compactMap { self.entries[$0] }
      .filter { $0.state == .queued && $0.readyAt.milliseconds != 0 }.map(\.readyAt).min()
  }

  package func entry(_ key: EntryKey) -> Entry? { entries[key] }

  package func postpone(
    _ key: EntryKey, until: Timestamp, reason: String, now: Timestamp
  ) throws(QueueError) {
    try change(key) { $0.readyAt = until }
  }

  // MARK: Attempts

  package func recordAttempt(
    _ keys: [EntryKey], keeping state: RetryState?, now: Timestamp
  ) throws(QueueError) {
    for key in keys {
      try change(key) {
        $0.attempts += 1
        $0.attemptedAt = now
      }
    }
    if let state { retry = state }
  }

  package func retryState() -> RetryState { retry }

  package func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) {
    retry = state
    for (key, watch) in watches { self.watches[key] = watch == PoisonWatch() ? nil : watch }
  }

  package func watch(of key: EntryKey) -> PoisonWatch { watches[key] ?? PoisonWatch() }

  // MARK: Quarantine

  package func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    guard quarantinedKeys.contains(key) || quarantinedKeys.count < limits.quarantinedEntries else {
      return false
    }
    try change(key) {
      $0.state = .quarantined
      $0.reason = reason
    }
    quarantinedKeys.insert(key)
    return true
  }

  package func release(_ key: EntryKey, now: Timestamp) throws(QueueError) -> Bool {
    guard quarantinedKeys.contains(key) else { return true }
    guard queuedCount < limits.entries else { return false }
    try change(key) {
      $0.state = .queued
      $0.reason = nil
      $0.readyAt = Timestamp(milliseconds: 0)
    }
    quarantinedKeys.remove(key)
    return true
  }

  package func quarantined() -> [EntryKey] {
    quarantinedKeys.sorted { (entries[$0]?.place ?? 0) < (entries[$1]?.place ?? 0) }
  }

  package func quarantineTrial() -> QuarantineTrial? { trial }
  package func keep(_ trial: QuarantineTrial) { self.trial = trial }

  // MARK: The end

  package func binding(by orderNumber: String, of key: EntryKey) -> VerdictBinding {
    guard let said = details[key], entries[key] != nil else { return .keep }
    return VerdictBinding(
      verdictOrder: orderNumber, of: key, productID: said.productID, quantity: said.quantity,
      known: book.knownTransaction(key), order: book.order(orderNumber))
  }

  package func acknowledge(
    _ settled: [SettledClaim], now: Timestamp
  ) throws(QueueError) -> [Tombstone] {
    var buried: [Tombstone] = []
    for claim in settled {
      guard let entry = entries[claim.key] else { continue }
      if let number = claim.orderNumber { try book.bind(claim.key, to: number, lane: entry.lane) }
      let settlement = Settlement(
        key: claim.key, outcome: claim.verdict.rawValue, orderNumber: claim.orderNumber, owesFinish: true,
        isUnseen: true)
      let tombstone = Tombstone(entry, settlement, note: nil, now: now)
      removeEntry(claim.key)
      watches[claim.key] = nil
      if tombstones.updateValue(tombstone, forKey: claim.key)?.hasDuties != true { duties.append(claim.key) }
      buried.append(tombstone)
    }
    return buried
  }

  package func tombstone(_ key: EntryKey) -> Tombstone? { tombstones[key] }

  package func tombstonesWithDuties() -> [Tombstone] {
    duties.removeAll { tombstones[$0]?.hasDuties != true }
    return duties.compactMap { tombstones[$0] }
  }

  package func storeAccount(of tombstone: Tombstone) -> String? { details[tombstone.key]?.storeAccount }

  package func markFinished(_ key: EntryKey) throws(QueueError) {
    guard tombstones[key] != nil else { throw .unknownEntry(key) }
    tombstones[key]?.isFinishOwed = false
    forgetDuty(key)
  }

  package func markSeen(_ key: EntryKey) throws(QueueError) {
    guard tombstones[key] != nil else { throw .unknownEntry(key) }
    tombstones[key]?.isUnseen = false
    forgetDuty(key)
  }

  /// Settled in order, most duties end in order.
  private func forgetDuty(_ key: EntryKey) {
    if duties.first == key, tombstones[key]?.hasDuties != true { duties.removeFirst() }
  }

  // MARK: Updates that are owed

  package func ledgerEpoch() -> String? { epoch }

  package func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) {
    self.epoch = epoch
    guard offeringAgain else { return }
    let known = Set(owed.map(\.key))
    let settled = tombstones.values.sorted {
      ($0.settledAt, $0.key.rawValue) < ($1.settledAt, $1.key.rawValue)
    }
    for tombstone in settled where !known.contains(tombstone.key) { owed.append((tombstone.key, nil)) }
  }

  package func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) {
    let said = TransactionDetails(transaction)
    if let place = owed.firstIndex(where: { $0.key == transaction.key }) {
      owed[place].details = said
    } else {
      owed.append((transaction.key, said))
    }
  }

  package func queueOwedUpdates(now: Timestamp) throws(QueueError) -> OwedUpdates {
    var queued: [EntryKey] = []
    while let first = owed.first, queuedCount < limits.entries {
      owed.removeFirst()
      guard let tombstone = tombstones[first.key] else { continue }
      if let entry = entries[first.key] {
        queued.append(entry.key)
        continue
      }
      queued.append(
        try insertEntry(
          first.key, lane: tombstone.lane, orderNumber: tombstone.orderNumber, proofs: [], now: now
        ).key)
      if let said = first.details { details[first.key] = said }
    }
    return OwedUpdates(queued: queued, areWaiting: !owed.isEmpty)
  }

  // MARK: Claims of what the device bought

  package func deviceClaims() -> [DeviceClaimant] { claims.sorted { $0.account < $1.account } }

  package func keep(_ claim: DeviceClaimant) {
    claims.removeAll { $0.account == claim.account }
    claims.append(claim)
  }

  package func deviceLaneHolds(queuedBy moment: Timestamp) -> Bool {
    (turns[.device]?.rest ?? []).contains { entries[$0].map { $0.enqueuedAt <= moment } ?? false }
  }

  package func endClaim(of account: String) { claims.removeAll { $0.account == account } }
}

extension Tombstone {
  fileprivate var hasDuties: Bool { isFinishOwed || isUnseen }
}
