package import PurchaseQueue
package import PurchaseSync

extension MemoryStorage: MatchSource {
  package func orders(_ query: TokenQuery) -> [OrderFacts] { book.orders(query) }
  package func knownTransaction(_ key: EntryKey) -> KnownTransaction? { book.knownTransaction(key) }
  package func unboundOrders(_ query: OrderQuery) -> [OrderFacts] { book.unboundOrders(query) }
  package func payer(ofBundle payment: String, _ query: OrderQuery) -> String? {
    book.payer(ofBundle: payment, query)
  }
  package func hasSeveralAccounts(_ query: OrderQuery) -> Bool { book.hasSeveralAccounts(query) }
}

extension MemoryStorage: SyncStorage {
  // MARK: Transactions

  package func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    let key = transaction.key
    if let record = record(key) {
      if var entry = record.entry {
        if entry.orderNumber == nil, let number = match.orderNumber {
          try book.record(match, of: key)
          entry.orderNumber = number
        }
        entry.payloads = exchange(entry.payloads, for: transaction.proof)
        record.entry = entry
        return .collapsed(entry)
      }
      if let tombstone = record.tombstone { return .settled(tombstone) }
    }
    try checkCapacity()
    // Binds first: for a taken order this throws, and nothing is queued.
    try book.record(match, of: key)
    if let payment = transaction.bundlePayment { book.note(bundlePayment: payment, of: key) }
    return .inserted(
      insertEntry(
        key, lane: match.lane, orderNumber: match.orderNumber, proofs: [reference(transaction.proof)],
        said: Said(transaction: transaction, storeAccount: storeAccount), now: now))
  }

  package func isNews(_ transaction: StoreTransaction, since tombstone: Tombstone) -> Bool {
    guard let known = record(tombstone.key)?.settled?.transaction else { return false }
    return TransactionDetails(transaction).isNews(
      since: TransactionDetails(known), settledAs: tombstone.verdict)
  }

  package func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry {
    if let record = record(tombstone.key), var entry = record.entry {
      entry.payloads = exchange(entry.payloads, for: transaction.proof)
      record.entry = entry
      return entry
    }
    try checkCapacity()
    return insertUpdate(of: tombstone, transaction, proofs: [reference(transaction.proof)], now: now)
  }

  private func insertUpdate(
    of tombstone: Tombstone, _ news: StoreTransaction, proofs: [PayloadReference], now: Timestamp
  ) -> Entry {
    let said = Said(transaction: news, storeAccount: record(tombstone.key)?.settled?.storeAccount)
    return insertEntry(
      tombstone.key, lane: tombstone.lane, orderNumber: tombstone.orderNumber, proofs: proofs, said: said,
      now: now)
  }

  package func attach(_ proof: Payload, to key: EntryKey, now: Timestamp) {
    guard let record = record(key), var entry = record.entry else { return }
    entry.payloads = exchange(entry.payloads, for: proof)
    record.entry = entry
    record.watch.gotNewProof()
  }

  // MARK: Lanes

  package func lanes() -> [Lane] {
    var found: [Lane] = []
    for line in lines where line.contains(where: { $0.entry?.state == .queued }) { found.append(line.lane) }
    return found
  }

  package func readyEntries(in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool) -> [Entry] {
    var ready: [Entry] = []
    var due: [Entry] = []
    guard let line = line(lane) else { return ready }
    line.forEach { record in
      if record.isReady(now), let entry = record.entry {
        if entry.readyAt.milliseconds == 0 { ready.append(entry) } else { due.append(entry) }
      }
      return dueFirst || ready.count < limit
    }
    guard !due.isEmpty else { return Array(ready.prefix(limit)) }
    due.sort { ($0.readyAt, $0.place) < ($1.readyAt, $1.place) }
    return Array((dueFirst ? due + ready : ready + due).prefix(limit))
  }

  package func nextReadyAt(in lane: Lane) -> Timestamp? {
    guard let line = line(lane) else { return nil }
    var next: Timestamp?
    line.forEach { record in
      if let moment = record.postponedTo { next = min(next ?? moment, moment) }
      return true
    }
    return next
  }

  package func entry(_ key: EntryKey) -> Entry? { record(key)?.entry }

  package func postpone(
    _ key: EntryKey, _ wait: Wait, reason: String, now: Timestamp
  ) throws(QueueError) {
    try recordOfEntry(key).postpone(wait)
  }

  package func wait(of key: EntryKey) -> Wait? {
    record(key).flatMap { record in record.entry.flatMap { Wait(of: $0, stored: record.wait) } }
  }

  package func changeWaits(
    in lanes: [Lane]?, keeping state: RetryState?, reason: String, now: Timestamp,
    _ change: (inout Wait) -> Void
  ) -> Set<Lane> {
    if let state { retry = state }
    var changed: Set<Lane> = []
    for line in lines where lanes?.contains(line.lane) ?? true {
      line.forEach { record in
        guard let moment = record.postponedTo, moment > now, let entry = record.entry,
          var wait = Wait(of: entry, stored: record.wait)
        else { return true }
        change(&wait)
        if wait.ends < moment {
          record.postpone(wait)
          changed.insert(line.lane)
        }
        return true
      }
    }
    return changed
  }

  // MARK: Attempts

  package func recordAttempt(
    _ keys: [EntryKey], keeping state: RetryState?, now: Timestamp
  ) throws(QueueError) {
    if keys.count > 1 { for key in keys { _ = try recordOfEntry(key) } }
    for key in keys {
      let record = try recordOfEntry(key)
      record.entry?.attempts += 1
      record.entry?.attemptedAt = now
    }
    if let state { retry = state }
  }

  package func retryState() -> RetryState { retry }

  package func keep(_ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp) {
    retry = state
    for (key, watch) in watches { record(key)?.watch = watch }
  }

  package func watch(of key: EntryKey) -> PoisonWatch { record(key)?.watch ?? PoisonWatch() }

  // MARK: Quarantine

  package func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    let record = try recordOfEntry(key)
    guard record.entry?.state == .queued else { return true }
    guard quarantinedCount < limits.quarantinedEntries else { return false }
    set(.quarantined, of: record)
    record.entry?.reason = reason
    return true
  }

  package func release(
    _ key: EntryKey, _ wait: Wait?, now: Timestamp
  ) throws(QueueError) -> Bool {
    let record = try recordOfEntry(key)
    guard record.entry?.state == .quarantined else { return true }
    guard queuedCount < limits.entries else { return false }
    set(.queued, of: record)
    record.entry?.reason = nil
    record.entry?.readyAt = Timestamp(milliseconds: 0)
    if let wait { record.postpone(wait) }
    return true
  }

  package func hasQuarantined() -> Bool { quarantinedCount > 0 }

  package func quarantined() -> [EntryKey] {
    guard quarantinedCount > 0 else { return [] }
    return allEntries.filter { $0.state == .quarantined }.map(\.key)
  }

  package func quarantineTrial() -> TrialRecord? { trial }
  package func keep(_ trial: TrialRecord) { self.trial = trial }

  // MARK: The end

  package func binding(by orderNumber: String, of key: EntryKey) -> VerdictBinding {
    guard let record = record(key), record.entry != nil, let said = record.said else { return .keep }
    return VerdictBinding(
      verdictOrder: orderNumber, of: key, productID: said.transaction.soldProductID,
      quantity: said.transaction.isSubscription ? nil : said.transaction.quantity,
      isOfBundle: said.transaction.bundlePayment != nil,
      isOfAnotherPayer: said.transaction.isOfAnotherPayer
        || record.settled?.transaction.isOfAnotherPayer == true,
      known: book.knownTransaction(key), order: book.order(orderNumber),
      holder: book.holder(ofForeign: orderNumber))
  }

  package func settle(
    _ settled: [SettledClaim], now: Timestamp
  ) throws(QueueError) -> SettledClaims {
    // A refused claim must change nothing, so the bindings of the claims before it are reverted.
    let before = settled.count { $0.orderNumber != nil } > 1 ? book : nil
    do throws(QueueError) {
      for claim in settled {
        guard let number = claim.orderNumber, let entry = record(claim.key)?.entry else { continue }
        try book.bind(claim.key, to: number, lane: entry.lane, isVerdict: true)
      }
    } catch {
      if let before { book = before }
      throw error
    }
    var ended: [Tombstone] = []
    var hasPendingUpdates = false
    ended.reserveCapacity(settled.count)
    for claim in settled {
      guard let record = record(claim.key), let entry = record.entry else { continue }
      let settlement = Settlement(
        key: claim.key, outcome: claim.outcome, orderNumber: claim.orderNumber, hasPendingFinish: true,
        isUnconfirmed: true)
      let tombstone = bury(record, entry, settlement, now: now)
      if claim.hasPendingUpdate(of: entry) {
        oweUpdate(of: claim.key)
        hasPendingUpdates = true
      }
      if let number = tombstone.orderNumber {
        if claim.verdict == .granted || claim.verdict == .duplicate { book.set(.delivered, of: number) }
        if claim.verdict == .refunded {
          let refund = record.settled.map { KnownRefund(claim.refund, TransactionDetails($0.transaction)) }
          book.set(refund?.leavesUnits == true ? .partlyRefunded : .refunded, of: number)
        }
      }
      ended.append(tombstone)
    }
    try forgetOldOutcomes()
    return SettledClaims(ended, hasPendingUpdates: hasPendingUpdates)
  }

  package func tombstone(_ key: EntryKey) -> Tombstone? { record(key)?.tombstone }

  package func tombstonesWithDuties() -> [Tombstone] {
    dutyCount == 0 ? [] : tombstones { $0.isFinishPending || $0.isUnconfirmed }
  }

  package func storeAccount(of tombstone: Tombstone) -> String? {
    record(tombstone.key)?.settled?.storeAccount
  }

  package func markFinished(_ key: EntryKey) throws(QueueError) {
    try changeDuties(key) { $0.isFinishPending = false }
  }

  package func markConfirmed(_ key: EntryKey) throws(QueueError) {
    try changeDuties(key) { $0.isUnconfirmed = false }
  }

  // MARK: Updates that are pending

  package func ledgerEpoch() -> String? { epoch }

  package func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) {
    self.epoch = epoch
    guard offeringAgain else { return }
    let known = Set(pending.map(\.key))
    for tombstone in allTombstones where !known.contains(tombstone.key) {
      pending.append((tombstone.key, nil))
    }
  }

  package func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) {
    if let place = pending.firstIndex(where: { $0.key == transaction.key }) {
      pending[place].news = transaction
    } else {
      pending.append((transaction.key, transaction))
    }
  }

  package func oweUpdate(of key: EntryKey) {
    if !pending.contains(where: { $0.key == key }) { pending.append((key, nil)) }
  }

  package func queuePendingUpdates(now: Timestamp) -> QueuedUpdates {
    var queued: [EntryKey] = []
    while let first = pending.first {
      // Its tombstone may be dropped by now, or its update may be queued already.
      if let record = record(first.key), let tombstone = record.tombstone, let settled = record.settled {
        if record.entry == nil {
          guard queuedCount < limits.entries else { break }
          _ = insertUpdate(of: tombstone, first.news ?? settled.transaction, proofs: [], now: now)
        }
        queued.append(first.key)
      }
      pending.removeFirst()
    }
    return QueuedUpdates(queued: queued, areWaiting: !pending.isEmpty)
  }

  // MARK: Claims of what the device bought

  package func deviceAdoptions() -> [DeviceAdoption] { claims }

  package func keepAdoption(of account: String) -> DeviceAdoption {
    let claim = DeviceAdoption(account: account, throughPlace: lastPlace)
    if let place = claims.firstIndex(where: { $0.account == account }) {
      claims[place] = claim
    } else {
      claims.append(claim)
    }
    return claim
  }

  package func deviceLaneHolds(throughPlace place: Int64) -> Bool {
    line(.device)?.contains { ($0.entry?.place ?? .max) <= place } ?? false
  }

  package func endAdoption(of account: String, throughPlace place: Int64) {
    claims.removeAll { $0.account == account && $0.throughPlace <= place }
  }
}

extension MemoryStorage.Turns {
  fileprivate func contains(where fits: (MemoryStorage.Record) -> Bool) -> Bool {
    var isFound = false
    forEach { record in
      isFound = fits(record)
      return !isFound
    }
    return isFound
  }
}

// An entry is large, so these read it in place.
extension MemoryStorage.Record {
  fileprivate func postpone(_ wait: Wait) {
    entry?.readyAt = wait.ends
    self.wait = wait
  }

  fileprivate func isReady(_ now: Timestamp) -> Bool {
    entry?.state == .queued && (entry?.readyAt ?? now) <= now
  }

  /// The moment until which it is postponed, possibly past; nil for none.
  fileprivate var postponedTo: Timestamp? {
    guard entry?.state == .queued, let moment = entry?.readyAt, moment.milliseconds != 0 else { return nil }
    return moment
  }
}
