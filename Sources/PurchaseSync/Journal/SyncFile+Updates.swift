package import PurchaseQueue
import PurchaseSQLite

/// Updates of settled transactions for which there was no capacity, and adoptions.
extension SyncFile {
  // MARK: Pending updates

  package func ledgerEpoch() throws(QueueError) -> String? { try queue.fact("ledger_epoch") }

  package func keepLedgerEpoch(_ epoch: String, offeringAgain: Bool) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      try self.queue.setFact("ledger_epoch", epoch)
      // Everything that was settled by a verdict, in the order of settlement.
      if offeringAgain { try self.queue.run(self.statements.oweEverything) }
    }
  }

  package func oweUpdate(_ transaction: StoreTransaction, now: Timestamp) throws(QueueError) {
    let details = try TransactionDetails(transaction).text()
    try queue.transaction { () throws(QueueError) in try self.owe(transaction.key, details: details) }
  }

  package func oweUpdate(of key: EntryKey) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in try self.owe(key) }
  }

  /// Without details, everything is sent again; newer details that are already pending stay. Inside a transaction.
  func owe(_ key: EntryKey, details: String? = nil) throws(QueueError) {
    try queue.run(statements.oweUpdate, [.text(key.rawValue), .text(details)])
  }

  package func queuePendingUpdates(now: Timestamp) throws(QueueError) -> QueuedUpdates {
    var queued: [EntryKey] = []
    // One at a time: a pending update without a tombstone takes no capacity, so any number of them can be
    // removed.
    while let pending = try nextPendingUpdate() {
      do throws(QueueError) {
        // Also in a group, which goes on without it: the pending update stays if it cannot be queued.
        let entry = try queue.undoableInGroup { () throws(QueueError) in
          try self.queuePending(pending, now: now)
        }
        if let entry { queued.append(entry.key) }
      } catch .queueFull {
        return QueuedUpdates(queued: queued, areWaiting: true)
      }
    }
    return try queueQuestions(after: queued, now: now)
  }

  /// Its details are nil if everything is sent again.
  private typealias PendingUpdate = (place: Int64, key: EntryKey, details: String?)

  private func queuePending(_ pending: PendingUpdate, now: Timestamp) throws(QueueError) -> Entry? {
    try queue.transaction { () throws(QueueError) in
      try self.queue.run(self.statements.endPendingUpdate, [.integer(pending.place)])
      // The tombstone may have been dropped since. Then the settled details are unknown, and there is nothing to send.
      guard let tombstone = try self.queue.tombstone(pending.key) else { return nil }
      // What cannot be read is sent as it was settled.
      let update = pending.details.flatMap { EntryDetails(text: $0, key: pending.key).known }
      let details = try update?.keeping(from: tombstone).text() ?? tombstone.details
      return try self.enqueueUpdate(of: tombstone, details: details, proofs: [], now: now)
    }
  }

  private func nextPendingUpdate() throws(QueueError) -> PendingUpdate? {
    try queue.first(statements.nextPendingUpdate) {
      (place: $0.integer(0), key: EntryKey(rawValue: $0.text(1)), details: $0.optionalText(2))
    }
  }

  private func queueQuestions(after known: [EntryKey], now: Timestamp) throws(QueueError) -> QueuedUpdates {
    var queued = known
    for question in try questions() {
      do throws(QueueError) {
        let entry = try queue.undoableInGroup { () throws(QueueError) in
          try self.ask(question, details: question.of.details, now: now)
        }
        if let entry { queued.append(entry.key) }
      } catch .queueFull {
        return QueuedUpdates(queued: queued, areWaiting: true)
      }
    }
    return QueuedUpdates(queued: queued, areWaiting: false)
  }

  // MARK: Adoption of device purchases

  package func deviceAdoptions() throws(QueueError) -> [DeviceAdoption] {
    try queue.all(statements.adoptions) { DeviceAdoption(account: $0.text(0), throughPlace: $0.integer(1)) }
  }

  package func keepAdoption(of account: String) throws(QueueError) -> DeviceAdoption {
    try queue.transaction { () throws(QueueError) in
      let place = try self.queue.lastPlace()
      try self.queue.run(self.statements.keepAdoption, [.text(account), .integer(place)])
      return DeviceAdoption(account: account, throughPlace: place)
    }
  }

  package func deviceLaneHolds(throughPlace place: Int64) throws(QueueError) -> Bool {
    try queue.first(statements.heldInLane, [.text(Lane.device.rawValue), .integer(place)]) { _ in true }
      ?? false
  }

  package func endAdoption(of account: String, throughPlace place: Int64) throws(QueueError) {
    try queue.transaction { () throws(QueueError) in
      try self.queue.run(self.statements.endAdoption, [.text(account), .integer(place)])
    }
  }

  // MARK: Facts

  /// A named value; nil if there is none, or if its text cannot be decoded. Its owner then starts afresh.
  func fact<Value: Decodable>(_ name: String) throws(QueueError) -> Value? {
    try queue.fact(name).flatMap { Value(json: $0.utf8) }
  }

  /// Stores the value and returns the stored text.
  @discardableResult
  func setFact(_ name: String, _ value: some Encodable) throws(QueueError) -> String {
    let text = try value.jsonText(of: name)
    try queue.setFact(name, text)
    return text
  }
}
