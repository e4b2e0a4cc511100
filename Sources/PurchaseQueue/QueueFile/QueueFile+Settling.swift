import PurchaseSQLite

/// Settling and discarding: how entries leave the queue.
extension QueueFile {
  /// Removes settled entries and leaves a tombstone for each, all in one commit; then removes their mirrors. A key
  /// without an entry is skipped: it was settled before.
  ///
  /// A settlement that names the payloads that were sent (`Settlement.init(_:)`) settles only these. If the entry has got
  /// a newer payload since, it stays in its place with the newer payloads, and has no tombstone in the result.
  @discardableResult
  package func acknowledge(_ settlements: [Settlement], now: Timestamp) throws(QueueError) -> [Tombstone] {
    try acknowledge(settlements, now: now) { (_, _) throws(QueueError) in }
  }

  /// As `acknowledge`; the writes of `companion` are committed with the tombstones. It gets the entry as it was.
  package func acknowledge(
    _ settlements: [Settlement], now: Timestamp,
    with companion: (Tombstone, Entry) throws(QueueError) -> Void
  ) throws(QueueError) -> [Tombstone] {
    try end(settlements, note: nil, now: now, with: companion)
  }

  /// Gives up an entry that is not delivered. Apart from settling, an entry leaves the queue only this way. The person
  /// and the reason stay in the tombstone and in the case file. Nil if the key has no entry.
  @discardableResult
  package func discard(
    _ key: EntryKey, by person: String, reason: String, now: Timestamp
  ) throws(QueueError) -> Tombstone? {
    let settlement = Settlement(key: key, outcome: Tombstone.discarded)
    let note = "discarded by \(person): \(reason)"
    return try end([settlement], note: note, now: now) { (_, _) throws(QueueError) in }.first
  }

  private func end(
    _ settlements: [Settlement], note: String?, now: Timestamp,
    with companion: (Tombstone, Entry) throws(QueueError) -> Void
  ) throws(QueueError) -> [Tombstone] {
    guard !settlements.isEmpty else { return [] }
    try checkTexts(settlements)
    let ended = try transaction(.durable) { () throws(QueueError) in
      var totals = try self.totals()
      let before = totals
      var ended = Ended()
      for settlement in settlements {
        if totals.reserved > 0 { try self.consume(settlement.reservation, &totals) }
        guard let entry = try self.entry(settlement.key) else { continue }
        if let left = settlement.leftover(of: entry, now: now) {
          try self.keep(left, insteadOf: entry, &totals)
          ended.shortened.append((left.key, entry.payloads))
          continue
        }
        if settlement.keepsTombstone, try self.hasTombstone(entry.key) {
          try self.remove(entry, &totals)
          try companion(Tombstone(entry, settlement, note: note, now: now), entry)
          ended.removed.append(entry)
          self.note(note == nil ? .settled(settlement.outcome) : .discarded)
          continue
        }
        let tombstone = try self.bury(
          entry, Tombstone(entry, settlement, note: note, now: now), &totals)
        try companion(tombstone, entry)
        ended.buried.append((tombstone, entry))
        self.note(note == nil ? .settled(settlement.outcome) : .discarded)
      }
      try self.forgetOldOutcomes(&totals)
      let row = totals
      if row != before {
        try self.read { () throws(SQLiteError) in try self.statements.capacity.setTotals.run(row) }
      }
      let left = ended.buried.count + ended.removed.count
      if note != nil, left > 0 { try self.changeBooks { $0.discarded += left } }
      return ended
    }
    afterCommit { [self] in
      checkpoint?(.settleCommitted)
      removeMirrors(of: ended.buried.map(\.entry) + ended.removed)
      for (key, payloads) in ended.shortened { replaceMirror(of: key, without: payloads, now: now) }
      checkpoint?(.settleMirrored)
    }
    return ended.buried.map(\.tombstone)
  }

  private struct Ended {
    var buried: [(tombstone: Tombstone, entry: Entry)] = []
    /// Entries whose tombstones stay as they were.
    var removed: [Entry] = []
    /// Entries that stay, with the payloads that they had.
    var shortened: [(key: EntryKey, payloads: [PayloadReference])] = []
  }

  private func checkTexts(_ settlements: [Settlement]) throws(QueueError) {
    for settlement in settlements {
      let text = settlement.outcome.utf8.count + (settlement.orderNumber?.utf8.count ?? 0)
      guard text <= limits.textBytes else {
        throw .queueFull(.textBytes, needed: text, allowed: limits.textBytes)
      }
    }
  }

  /// Writes an entry of which a part is settled: the payloads that were sent are dropped.
  private func keep(_ left: Entry, insteadOf entry: Entry, _ totals: inout Totals) throws(QueueError) {
    totals.count(entry, -1)
    for payload in entry.payloads where !left.payloads.contains(payload) { try drop(payload, &totals) }
    totals.count(left, 1)
    try write(left)
  }

  private func hasTombstone(_ key: EntryKey) throws(QueueError) -> Bool {
    try read { () throws(SQLiteError) in
      try statements.tombstones.byKey.first([.text(key.rawValue)]) { StoredTombstone($0).isWhole } ?? false
    }
  }

  private func remove(_ entry: Entry, _ totals: inout Totals) throws(QueueError) {
    try run(statements.entries.delete, [.integer(entry.place)])
    for payload in entry.payloads { try drop(payload, &totals) }
    totals.count(entry, -1)
  }

  /// Returns the tombstone as it is stored: with the duties of an earlier tombstone of the key.
  private func bury(
    _ entry: Entry, _ tombstone: Tombstone, _ totals: inout Totals
  ) throws(QueueError) -> Tombstone {
    try run(statements.entries.delete, [.integer(entry.place)])
    let buried = try insert(tombstone, &totals)
    for payload in entry.payloads { try drop(payload, &totals) }
    totals.count(entry, -1)
    try dropTombstonesBeyondLimits(&totals)
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
        try statements.tombstones.delete.run([key])
        return earlier
      }
      if let earlier { totals.count(earlier.tombstone, -1) }
      if earlier?.tombstone.isFinishPending == true { tombstone.isFinishPending = true }
      // Only the update was given up. The app has not seen the earlier outcome of the backend yet, so keep that.
      if new.outcome == Tombstone.discarded, let earlier, earlier.isWhole, earlier.tombstone.isUnconfirmed,
        !tombstone.isUnconfirmed
      {
        tombstone.outcome = earlier.tombstone.outcome
        tombstone.isUnconfirmed = true
      }
      _ = try isInserted()
    }
    totals.count(tombstone, 1)
    return tombstone
  }
}

// MARK: - Old tombstones

extension QueueFile {
  /// Removes the oldest tombstones without a duty while tombstones pass a limit: some more than needed, so that not
  /// every acknowledgement has to search for the oldest. With many duties a few others are kept, for the same reason.
  private func dropTombstonesBeyondLimits(_ totals: inout Totals) throws(QueueError) {
    let (spare, mostBytes) = (limits.tombstones / 16, limits.tombstoneBytes)
    let most = max(limits.tombstones - totals.duties, spare)
    let free = totals.tombstones - totals.duties
    guard free > 0, free > most || totals.tombstoneBytes > mostBytes else { return }
    try dropTombstones(settledBefore: .max, &totals) { totals in
      totals.tombstones - totals.duties > most - spare
        || totals.tombstoneBytes > mostBytes - mostBytes / 16
    }
  }

  /// Removes the oldest tombstones without a duty while `isWanted`.
  func dropTombstones(
    settledBefore moment: Int64, _ totals: inout Totals, while isWanted: (Totals) -> Bool
  ) throws(QueueError) {
    while isWanted(totals) {
      let oldest = try all(statements.tombstones.oldest, [.integer(moment), .integer(1_024)]) {
        (key: $0.text(0), bytes: Int($0.integer(1)))
      }
      for tombstone in oldest where isWanted(totals) {
        try run(statements.tombstones.delete, [.text(tombstone.key)])
        totals.tombstones -= connection.changes
        totals.tombstoneBytes -= tombstone.bytes
      }
      guard oldest.count == 1_024 else { return }
    }
  }
}

extension Tombstone {
  /// The tombstone of an entry.
  package init(_ entry: borrowing Entry, _ settlement: Settlement, note: String?, now: Timestamp) {
    self.init(
      key: entry.key, lane: entry.lane, orderNumber: settlement.orderNumber ?? entry.orderNumber,
      outcome: settlement.outcome, details: entry.details, enqueuedAt: entry.enqueuedAt,
      attempts: entry.attempts, settledAt: now, isFinishPending: settlement.hasPendingFinish,
      isUnconfirmed: settlement.isUnconfirmed, history: entry.history)
    if let note { history.append(note, at: now) }
  }
}

extension Settlement {
  /// The entry as it stays, if it has a payload that was not sent; nil if all of it is settled.
  func leftover(of entry: Entry, now: Timestamp) -> Entry? {
    guard let payloads else { return nil }
    var left = entry
    left.payloads = entry.payloads.filter { !payloads.contains($0) }
    guard !left.payloads.isEmpty else { return nil }
    left.orderNumber = orderNumber ?? entry.orderNumber
    left.history.append("acknowledged; a newer payload stays", at: now)
    return left
  }
}
