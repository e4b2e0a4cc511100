import PurchaseSQLite

/// The end of entries, and what is left of them.
extension QueueFile {
  /// Removes settled entries and leaves a tombstone for each, all in one commit; then removes their mirrors. One
  /// that is not queued is passed over: it was settled before.
  @discardableResult
  public func acknowledge(_ settlements: [Settlement], now: Timestamp) throws(QueueError) -> [Tombstone] {
    try acknowledge(settlements, now: now) { (_) throws(QueueError) in }
  }

  /// As `acknowledge`; what `companion` writes of each tombstone is committed with it.
  package func acknowledge(
    _ settlements: [Settlement], now: Timestamp, with companion: (Tombstone) throws(QueueError) -> Void
  ) throws(QueueError) -> [Tombstone] {
    try end(settlements, note: nil, now: now, with: companion)
  }

  /// Gives an entry up, undelivered: the only way out but being settled. Who did it and why stays in the tombstone
  /// and in the case file. Nil if there is no such entry.
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
        try self.read { () throws(SQLiteError) in try self.statements.room.setTotals.run(row.values) }
      }
      return ended
    }
    afterCommit { [self] in
      hook?("settle.committed")
      for (_, entry) in ended { removeMirror(of: entry) }
      hook?("settle.mirrored")
    }
    return ended.map(\.tombstone)
  }

  /// Returns the tombstone as it stands in the file: with the duties of an earlier one.
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
      // Some more than needed, so that not every acknowledgement has to look for the oldest.
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
      // Settled before, and brought back by an update, a salvage or an old vault: the newer one counts.
      let key = SQLValue.text(tombstone.key.rawValue)
      let earlier = try read { () throws(SQLiteError) in
        let earlier = try statements.tombstones.byKey.first([key]) { StoredTombstone($0) }
        try connection.prepare("DELETE FROM tombstones WHERE key=?").run([key])
        return earlier
      }
      totals.tombstones -= 1
      if earlier?.tombstone.isUnseen == true { totals.unseen -= 1 }
      if earlier?.tombstone.isFinishOwed == true { tombstone.isFinishOwed = true }
      // Given up is the news alone: what the backend said before has not reached the app yet.
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

  /// Drops the oldest tombstones without a duty.
  func dropTombstones(
    settledBefore moment: Int64, atMost count: Int, _ totals: inout Totals
  ) throws(QueueError) {
    try read { () throws(SQLiteError) in
      try statements.tombstones.dropOldest.run([.integer(moment), .integer(Int64(count))])
    }
    totals.tombstones -= connection.changes
  }

  // MARK: Tombstones

  /// What is left of a settled entry. A tombstone that does not match its checksum counts as absent: what it spared
  /// is done again.
  public func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? {
    let stored = try read { () throws(SQLiteError) in
      try statements.tombstones.byKey.first([.text(key.rawValue)]) { StoredTombstone($0) }
    }
    guard let stored else { return nil }
    if stored.isWhole { return stored.tombstone }
    try loseTombstones([key])
    return nil
  }

  /// Tombstones whose finish is owed or whose outcome is unseen, oldest first.
  public func tombstonesWithDuties() throws(QueueError) -> [Tombstone] {
    let stored = try read { () throws(SQLiteError) in
      try statements.tombstones.withDuties.all { StoredTombstone($0) }
    }
    let broken = stored.filter { !$0.isWhole }.map(\.tombstone.key)
    if !broken.isEmpty { try loseTombstones(broken) }
    return stored.filter(\.isWhole).map(\.tombstone)
  }

  /// The source has been told: nothing is owed to it any more.
  public func markFinished(_ key: EntryKey) throws(QueueError) {
    try markFinished(key, forgetting: false)
  }

  /// As `markFinished`; with `forgetting`, the tombstone is dropped in the same commit if that was its last duty.
  package func markFinished(_ key: EntryKey, forgetting: Bool) throws(QueueError) {
    try changeDuties(key, forgetting: forgetting) { $0.isFinishOwed = false }
    afterCommit { [self] in hook?("finish.committed") }
  }

  /// The outcome has reached whoever waited for it.
  public func markSeen(_ key: EntryKey) throws(QueueError) {
    try markSeen(key, forgetting: false)
  }

  /// As `markSeen`; with `forgetting`, the tombstone is dropped in the same commit if that was its last duty.
  package func markSeen(_ key: EntryKey, forgetting: Bool) throws(QueueError) {
    try changeDuties(key, forgetting: forgetting) { $0.isUnseen = false }
  }

  func loseTombstones(_ keys: [EntryKey]) throws(QueueError) {
    try transaction { () throws(QueueError) in
      for key in keys {
        try self.read { () throws(SQLiteError) in
          try self.connection.prepare("DELETE FROM tombstones WHERE key=?").run([.text(key.rawValue)])
        }
      }
      try self.recount()
    }
  }

  private func changeDuties(
    _ key: EntryKey, forgetting: Bool, _ change: (inout Tombstone) -> Void
  ) throws(QueueError) {
    try transaction { () throws(QueueError) in
      guard let old = try self.tombstone(key) else { throw QueueError.unknownEntry(key) }
      var tombstone = old
      change(&tombstone)
      guard tombstone != old else { return }
      let changed = tombstone
      var totals = try self.totals()
      if old.isUnseen, !changed.isUnseen { totals.unseen -= 1 }
      let isForgotten = forgetting && !changed.isFinishOwed && !changed.isUnseen
      if isForgotten { totals.tombstones -= 1 }
      let row = totals
      try self.read { () throws(SQLiteError) in
        if isForgotten {
          try self.connection.prepare("DELETE FROM tombstones WHERE key=?").run([.text(key.rawValue)])
        } else {
          try self.statements.tombstones.updateDuties.run([
            .flag(changed.isFinishOwed), .flag(changed.isUnseen), .integer(changed.checksum),
            .text(key.rawValue),
          ])
        }
        if old.isUnseen != changed.isUnseen || isForgotten {
          try self.statements.room.setTotals.run(row.values)
        }
      }
    }
  }
}

extension Tombstone {
  /// What is left of an entry after its end.
  package init(_ entry: borrowing Entry, _ settlement: Settlement, note: String?, now: Timestamp) {
    self.init(
      key: entry.key, lane: entry.lane, orderNumber: settlement.orderNumber ?? entry.orderNumber,
      outcome: settlement.outcome, details: entry.details, enqueuedAt: entry.enqueuedAt,
      attempts: entry.attempts, settledAt: now, isFinishOwed: settlement.owesFinish,
      isUnseen: settlement.isUnseen, history: entry.history)
    if let note { history.append(note, at: now) }
  }
}
