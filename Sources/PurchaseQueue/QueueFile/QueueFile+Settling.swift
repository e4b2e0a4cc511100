import PurchaseSQLite

/// Settling and discarding: how entries leave the queue.
extension QueueFile {
  /// Removes settled entries and leaves a tombstone for each, all in one commit; then removes their mirrors. A key
  /// without an entry is skipped: it was settled before.
  @discardableResult
  public func acknowledge(_ settlements: [Settlement], now: Timestamp) throws(QueueError) -> [Tombstone] {
    try acknowledge(settlements, now: now) { (_) throws(QueueError) in }
  }

  /// As `acknowledge`; the writes of `companion` are committed with the tombstones.
  package func acknowledge(
    _ settlements: [Settlement], now: Timestamp, with companion: (Tombstone) throws(QueueError) -> Void
  ) throws(QueueError) -> [Tombstone] {
    try end(settlements, note: nil, now: now, with: companion)
  }

  /// Gives up an entry that is not delivered. Apart from settling, an entry leaves the queue only this way. The person
  /// and the reason stay in the tombstone and in the case file. Nil if the key has no entry.
  @discardableResult
  public func discard(
    _ key: EntryKey, by person: String, reason: String, now: Timestamp
  ) throws(QueueError) -> Tombstone? {
    let settlement = Settlement(key: key, outcome: Tombstone.discarded)
    let note = "discarded by \(person): \(reason)"
    return try end([settlement], note: note, now: now) { (_) throws(QueueError) in }.first
  }

  private func end(
    _ settlements: [Settlement], note: String?, now: Timestamp,
    with companion: (Tombstone) throws(QueueError) -> Void
  ) throws(QueueError) -> [Tombstone] {
    guard !settlements.isEmpty else { return [] }
    let ended = try transaction { () throws(QueueError) in
      var totals = try self.totals()
      var ended: [(tombstone: Tombstone, entry: Entry)] = []
      for settlement in settlements {
        guard let entry = try self.entry(settlement.key) else { continue }
        let tombstone = try self.bury(
          entry, Tombstone(entry, settlement, note: note, now: now), &totals)
        try companion(tombstone)
        ended.append((tombstone, entry))
      }
      if !ended.isEmpty {
        let row = totals
        try self.read { () throws(SQLiteError) in try self.statements.capacity.setTotals.run(row.values) }
      }
      return ended
    }
    afterCommit { [self] in
      checkpoint?(.settleCommitted)
      for (_, entry) in ended { removeMirror(of: entry) }
      checkpoint?(.settleMirrored)
    }
    return ended.map(\.tombstone)
  }

  /// Returns the tombstone as it is stored: with the duties of an earlier tombstone of the key.
  private func bury(
    _ entry: Entry, _ tombstone: Tombstone, _ totals: inout Totals
  ) throws(QueueError) -> Tombstone {
    try read { () throws(SQLiteError) in
      try statements.entries.delete.run([.integer(entry.place)])
    }
    let buried = try insert(tombstone, &totals)
    for proof in entry.proofs { try drop(proof, &totals) }
    totals.count(entry, -1)
    if totals.tombstones > limits.tombstones {
      // More than needed, so that not every acknowledgement has to search for the oldest.
      let extra = totals.tombstones - limits.tombstones + limits.tombstones / 16
      try dropTombstones(settledBefore: .max, atMost: extra, &totals)
    }
    return buried
  }

  private func insert(_ new: Tombstone, _ totals: inout Totals) throws(QueueError) -> Tombstone {
    var tombstone = new
    func isInserted() throws(QueueError) -> Bool {
      try read { () throws(SQLiteError) in
        try statements.tombstones.insert.run(tombstone.values)
        return connection.changes > 0
      }
    }
    if try !isInserted() {
      // Settled before, and queued again by an update, a salvage or an old vault: the newer tombstone replaces it.
      let key = SQLValue.text(tombstone.key.rawValue)
      let earlier = try read { () throws(SQLiteError) in
        let earlier = try statements.tombstones.byKey.first([key]) { StoredTombstone($0) }
        try connection.prepare("DELETE FROM tombstones WHERE key=?").run([key])
        return earlier
      }
      totals.tombstones -= 1
      if earlier?.tombstone.isUnseen == true { totals.unseen -= 1 }
      if earlier?.tombstone.isFinishOwed == true { tombstone.isFinishOwed = true }
      // Only the update was given up. The app has not seen the earlier outcome of the backend yet, so keep that.
      if new.outcome == Tombstone.discarded, let earlier, earlier.isWhole, earlier.tombstone.isUnseen,
        !tombstone.isUnseen
      {
        tombstone.outcome = earlier.tombstone.outcome
        tombstone.isUnseen = true
      }
      _ = try isInserted()
    }
    totals.tombstones += 1
    if tombstone.isUnseen { totals.unseen += 1 }
    return tombstone
  }

  /// Removes the oldest tombstones without a duty.
  func dropTombstones(
    settledBefore moment: Int64, atMost count: Int, _ totals: inout Totals
  ) throws(QueueError) {
    try read { () throws(SQLiteError) in
      try statements.tombstones.dropOldest.run([.integer(moment), .integer(Int64(count))])
    }
    totals.tombstones -= connection.changes
  }
}

extension Tombstone {
  /// The tombstone of an entry.
  package init(_ entry: borrowing Entry, _ settlement: Settlement, note: String?, now: Timestamp) {
    self.init(
      key: entry.key, lane: entry.lane, orderNumber: settlement.orderNumber ?? entry.orderNumber,
      outcome: settlement.outcome, details: entry.details, enqueuedAt: entry.enqueuedAt,
      attempts: entry.attempts, settledAt: now, isFinishOwed: settlement.owesFinish,
      isUnseen: settlement.isUnseen, history: entry.history)
    if let note { history.append(note, at: now) }
  }
}
