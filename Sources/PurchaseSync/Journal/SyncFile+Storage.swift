import AppStoreReceipts
import Foundation
package import PurchaseQueue
import PurchaseSQLite

/// The machine's storage, implemented on the queue's file.
extension SyncFile: SyncStorage {
  // MARK: Transactions

  package func enqueue(
    _ transaction: StoreTransaction, _ match: OrderMatch, storeAccount: String?, now: Timestamp
  ) throws(QueueError) -> Enqueued {
    var details = TransactionDetails(transaction, match: match)
    details.storeAccount = storeAccount
    let new = NewEntry(
      key: transaction.key, lane: match.lane, orderNumber: match.orderNumber, details: try details.text(),
      payloads: [transaction.proof], covers: keys(in: transaction.proof),
      reservation: match.orderNumber)
    let journal = self.journal
    let result = try queue.enqueue(new, now: now) { (result) throws(QueueError) in
      switch result {
      case .inserted(let entry), .collapsed(let entry):
        if let number = entry.orderNumber { try journal.bind(entry.key, to: number) }
        if let token = transaction.ownToken, token.isGuest {
          try changeGuestApprovals { $0.end(token: token) }
        }
      case .settled: break
      }
    }
    // Only after the commit does the entry say whether the vault holds it. In a group, that is still to
    // come.
    guard queue.hasVault, !queue.isGrouping, case .inserted(let entry) = result,
      var mirrored = try queue.entry(entry.key)
    else { return result }
    mirrored.isUnprotected = queue.lacksMirror(mirrored)
    return .inserted(mirrored)
  }

  /// The transactions in an app receipt. At the queue's limit for proofs, this receipt replaces older
  /// receipts of theirs. A receipt that cannot be decoded here covers nothing; the backend decides about it.
  ///
  /// The result is kept, because the store may redeliver a thousand transactions with one receipt.
  private func keys(in proof: Payload) -> [EntryKey] {
    guard proof.kind == ProofKind.appReceipt.rawValue else { return [] }
    if let decoded = lastReceipt, decoded.proof == proof { return decoded.keys }
    var keys: [EntryKey] = []
    do throws(ReceiptDecodingError) {
      for transaction in try StoreTransaction.all(in: AppReceipt(decoding: proof.bytes), bytes: proof.bytes) {
        keys.append(transaction.key)
      }
    } catch {
      keys = []
    }
    lastReceipt = (proof, keys)
    return keys
  }

  package func isNews(
    _ transaction: StoreTransaction, since tombstone: Tombstone
  ) throws(QueueError) -> Bool {
    // What was settled cannot be compared: the update is uploaded, and its verdict replaces the tombstone.
    guard let known = EntryDetails(of: tombstone).known else { return true }
    return TransactionDetails(transaction).isNews(
      since: known, settledAs: tombstone.verdict)
  }

  package func enqueueUpdate(
    _ transaction: StoreTransaction, of tombstone: Tombstone, now: Timestamp
  ) throws(QueueError) -> Entry {
    try enqueueUpdate(
      of: tombstone, details: try TransactionDetails(transaction).keeping(from: tombstone).text(),
      proofs: [transaction.proof], now: now)
  }

  func enqueueUpdate(
    of tombstone: Tombstone, details: String, proofs: [Payload], now: Timestamp
  ) throws(QueueError) -> Entry {
    // The tombstone of a discarded question: an update of the transaction itself is none.
    let lane = tombstone.lane.asker == nil ? tombstone.lane : .device
    var new = NewEntry(
      key: tombstone.key, lane: lane, orderNumber: tombstone.orderNumber, details: details, payloads: proofs)
    new.isUpdate = true
    let enqueued = try queue.undoableInGroup { () throws(QueueError) in
      try self.withdrawQuestion(about: tombstone.key, now: now)
      return try self.queue.enqueue(new, now: now)
    }
    switch enqueued {
    case .inserted(let entry), .collapsed(let entry): return entry
    case .settled: throw .invalid(what: "an update of \(tombstone.key) was taken for a redelivery")
    }
  }

  package func attach(_ proof: Payload, to key: EntryKey, now: Timestamp) throws(QueueError) {
    guard let entry = try queue.entry(key) else { return }
    // With an order number, even none, it is the entry of a purchase: the store has a proof that is too long for the queue.
    let new = NewEntry(
      key: key, lane: entry.lane, orderNumber: nil, details: entry.details, payloads: [proof])
    _ = try queue.enqueue(new, now: now) { (_) throws(QueueError) in
      try EntryNotes.change(of: key, in: queue) { $0.watch?.gotNewProof() }
    }
  }

  // MARK: Lanes

  package func lanes() throws(QueueError) -> [Lane] { try queue.lanes() }

  package func readyEntries(
    in lane: Lane, now: Timestamp, limit: Int, dueFirst: Bool
  ) throws(QueueError) -> [Entry] {
    try queue.entries(in: lane, readyBy: now, limit: limit, dueFirst: dueFirst)
  }

  package func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp? {
    try queue.nextReadyAt(in: lane)
  }

  package func entry(_ key: EntryKey) throws(QueueError) -> Entry? { try queue.entry(key) }

  package func postpone(
    _ key: EntryKey, _ wait: Wait, reason: String, now: Timestamp
  ) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      try self.queue.postpone(key, until: wait.ends, reason: reason, now: now)
      try EntryNotes.change(of: key, in: self.queue) { $0.wait = wait }
    }
  }

  package func wait(of key: EntryKey) throws(QueueError) -> Wait? {
    try queue.entry(key).flatMap { Wait(of: $0, stored: EntryNotes($0.notes).wait) }
  }

  package func changeWaits(
    in lanes: [Lane]?, keeping state: RetryState?, reason: String, now: Timestamp,
    _ change: (inout Wait) -> Void
  ) throws(QueueError) -> Set<Lane> {
    let postponed = try queue.entries(postponedBeyond: now).filter { lanes?.contains($0.lane) ?? true }
    guard !postponed.isEmpty || state != nil else { return [] }
    return try queue.transaction { () throws(QueueError) in
      var changed: Set<Lane> = []
      if let state { try self.write(state) }
      for entry in postponed {
        guard var wait = Wait(of: entry, stored: EntryNotes(entry.notes).wait) else { continue }
        change(&wait)
        guard wait.ends < entry.readyAt else { continue }
        try self.postpone(entry.key, wait, reason: reason, now: now)
        changed.insert(entry.lane)
      }
      return changed
    }
  }

  // MARK: Attempts

  package func recordAttempt(
    _ keys: [EntryKey], keeping state: RetryState?, now: Timestamp
  ) throws(QueueError) {
    try queue.transaction(.soon) { () throws(QueueError) in
      try self.queue.recordAttempt(keys, now: now)
      if let state { try self.write(state) }
    }
  }

  /// Call inside a transaction. After a rollback the text in the file differs from the kept one, so it is
  /// decoded again.
  private func write(_ state: RetryState) throws(QueueError) {
    lastRetryState = (try setFact("retry", state), state)
  }

  package func retryState() throws(QueueError) -> RetryState {
    guard let text = try queue.fact("retry") else { return RetryState() }
    // Read before each upload, and rarely changed.
    if let known = lastRetryState, known.text == text { return known.state }
    let state = RetryState(json: text.utf8) ?? RetryState()
    lastRetryState = (text, state)
    return state
  }

  package func keep(
    _ state: RetryState, _ watches: [EntryKey: PoisonWatch], now: Timestamp
  ) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      try self.write(state)
      for (key, watch) in watches { try EntryNotes.keep(watch, of: key, in: self.queue) }
    }
  }

  package func watch(of key: EntryKey) throws(QueueError) -> PoisonWatch {
    EntryNotes(try queue.entry(key)?.notes).watch ?? PoisonWatch()
  }

  // MARK: Quarantine

  package func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) -> Bool {
    do throws(QueueError) {
      try queue.quarantine(key, reason: reason, now: now)
      return true
    } catch .queueFull {
      return false
    }
  }

  package func release(
    _ key: EntryKey, _ wait: Wait?, now: Timestamp
  ) throws(QueueError) -> Bool {
    do throws(QueueError) {
      try queue.undoableInGroup { () throws(QueueError) in
        try self.queue.release(key, until: wait?.ends, now: now)
        if let wait { try EntryNotes.change(of: key, in: self.queue) { $0.wait = wait } }
      }
      return true
    } catch .queueFull {
      return false
    }
  }

  package func hasQuarantined() throws(QueueError) -> Bool { try queue.hasQuarantined() }

  package func quarantined() throws(QueueError) -> [EntryKey] {
    try queue.quarantined().filter { $0.state == .quarantined }.map(\.key)
  }

  package func quarantineTrial() throws(QueueError) -> TrialRecord? {
    try fact("quarantine_trial")
  }

  package func keep(_ trial: TrialRecord) throws(QueueError) {
    try setFact("quarantine_trial", trial)
  }

  // MARK: Settlement

  package func settle(_ claims: [SettledClaim], now: Timestamp) throws(QueueError) -> SettledClaims {
    guard !claims.isEmpty else { return SettledClaims([], hasPendingUpdates: false) }
    let journal = self.journal
    // The settled entry takes no capacity any more, so its order reserves none.
    let settlements = claims.map {
      var settlement = Settlement(
        key: $0.key, outcome: $0.outcome, orderNumber: $0.orderNumber, hasPendingFinish: true,
        isUnconfirmed: true, reservation: $0.orderNumber)
      settlement.keepsTombstone = $0.keepsTombstone
      return settlement
    }
    var hasPendingUpdates = false
    var closed: [OrderRow] = []
    let tombstones = try queue.acknowledge(settlements, now: now) { (buried, entry) throws(QueueError) in
      if claims.contains(where: { $0.key == buried.key && $0.hasPendingUpdate(of: entry) }) {
        try self.owe(buried.key)
        hasPendingUpdates = true
      }
      if let asker = entry.lane.asker, try self.answered(entry, by: asker, buried.outcome, now: now) {
        try self.owe(buried.key)
        hasPendingUpdates = true
      }
      closed += try self.closeOwned(by: buried.key)
      if try !self.questions(about: buried.key).isEmpty { hasPendingUpdates = true }
      guard entry.lane.asker == nil else { return }
      guard let number = buried.orderNumber else { return }
      let isNamed = claims.contains { $0.key == buried.key && $0.orderNumber == number }
      // Two entries of one order, of an old list or an old version: the verdicts of the others must not be rolled back.
      if let obstacle = try journal.obstacle(to: buried.key, number) {
        guard isNamed else { return }
        throw .invalid(what: obstacle)
      }
      try journal.update(number) {
        $0.settle(buried.key, buried.verdict, leavesUnits: buried.refund?.leavesUnits == true)
      }
    }
    for number in tombstones.compactMap(\.orderNumber) { queue.unprotect("order." + number) }
    for row in closed { mirrorState(of: row) }
    return SettledClaims(tombstones, hasPendingUpdates: hasPendingUpdates)
  }

  package func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? { try queue.tombstone(key) }

  package func tombstonesWithDuties() throws(QueueError) -> [Tombstone] { try queue.tombstonesWithDuties() }

  package func storeAccount(of tombstone: Tombstone) throws(QueueError) -> String? {
    EntryDetails(of: tombstone).known?.storeAccount
  }

  package func markFinished(_ key: EntryKey) throws(QueueError) {
    try queue.markFinished(key, forgetting: key.leavesNoTombstone)
  }

  package func markConfirmed(_ key: EntryKey) throws(QueueError) {
    try queue.markConfirmed(key, forgetting: key.leavesNoTombstone)
  }
}
