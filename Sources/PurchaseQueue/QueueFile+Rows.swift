import PurchaseSQLite

/// Rows in and out of the file, and the transaction that companion tables share.
extension QueueFile {
  /// Runs `body` in one durable transaction. Companion tables of other modules write in it too.
  package func transaction<R>(_ body: () throws(QueueError) -> R) throws(QueueError) -> R {
    let path = self.path
    return try connection.transaction(failing: { QueueError($0, path: path) }, body)
  }

  func read<R>(_ body: () throws(SQLiteError) -> R) throws(QueueError) -> R {
    try QueueError.wrap(path, body)
  }

  func insertOrCollapse(_ new: NewEntry, now: Timestamp) throws(QueueError) -> Enqueued {
    if let tombstone = try tombstone(new.key) { return .settled(tombstone) }
    if var entry = try entry(new.key) {
      if entry.orderNumber == nil, let order = new.orderNumber {
        entry.orderNumber = order
        try write(entry)
      }
      try attach(new.proofs, to: entry)
      guard let updated = try self.entry(new.key) else { throw .unknownEntry(new.key) }
      return .collapsed(updated)
    }
    try checkRoom(entries: 1)
    var entry = Entry(
      place: 0, key: new.key, lane: new.lane, orderNumber: new.orderNumber, details: new.details,
      state: .queued, enqueuedAt: now, attempts: 0, attemptedAt: nil, readyAt: now,
      isUnprotected: false, proofs: [])
    entry.place = try nextPlace()
    let row = entry
    try read { () throws(SQLiteError) in
      try statements.insertEntry.run([
        .integer(row.place), .text(row.key.rawValue), .text(row.lane.text), .text(row.orderNumber),
        .text(row.details), .text(row.state.rawValue), .integer(row.enqueuedAt.milliseconds),
        .integer(Int64(row.attempts)), .integer(row.attemptedAt?.milliseconds),
        .integer(row.readyAt.milliseconds), .flag(row.isUnprotected), .integer(StoredEntry.checksum(of: row)),
      ])
      try statements.addToTotals.run([.integer(1), .integer(0)])
    }
    try attach(new.proofs, to: entry)
    guard let inserted = try self.entry(new.key) else { throw .unknownEntry(new.key) }
    return .inserted(inserted)
  }

  func bury(_ settlement: Settlement, now: Timestamp) throws(QueueError) -> Tombstone? {
    guard let entry = try entry(settlement.key) else { return nil }
    let tombstone = Tombstone(
      key: entry.key, lane: entry.lane, orderNumber: settlement.orderNumber ?? entry.orderNumber,
      outcome: settlement.outcome, details: entry.details, settledAt: now,
      isFinishOwed: settlement.owesFinish, isUnseen: true)
    try read { () throws(SQLiteError) in
      try statements.insertTombstone.run([
        .text(tombstone.key.rawValue), .text(tombstone.lane.text), .text(tombstone.orderNumber),
        .text(tombstone.outcome), .text(tombstone.details), .integer(now.milliseconds),
        .flag(tombstone.isFinishOwed), .flag(tombstone.isUnseen),
        .integer(StoredTombstone.checksum(of: tombstone)),
      ])
      try statements.deleteEntry.run([.integer(entry.place)])
      try statements.addToTotals.run([.integer(-1), .integer(0)])
    }
    for proof in entry.proofs { try dropIfUnused(proof) }
    return tombstone
  }

  func update(_ keys: [EntryKey], _ change: (inout Entry) -> Void) throws(QueueError) {
    try transaction { () throws(QueueError) in
      for key in keys {
        guard var entry = try self.entry(key) else { throw QueueError.unknownEntry(key) }
        change(&entry)
        try self.write(entry)
      }
    }
  }

  func write(_ entry: Entry) throws(QueueError) {
    try read { () throws(SQLiteError) in
      try statements.updateEntry.run([
        .text(entry.lane.text), .text(entry.orderNumber), .text(entry.details), .text(entry.state.rawValue),
        .integer(Int64(entry.attempts)), .integer(entry.attemptedAt?.milliseconds),
        .integer(entry.readyAt.milliseconds), .flag(entry.isUnprotected),
        .integer(StoredEntry.checksum(of: entry)), .integer(entry.place),
      ])
    }
  }

  func updateDuties(_ key: EntryKey, _ change: (inout Tombstone) -> Void) throws(QueueError) {
    try transaction { () throws(QueueError) in
      guard var tombstone = try self.tombstone(key) else { throw QueueError.unknownEntry(key) }
      change(&tombstone)
      let changed = tombstone
      try self.read { () throws(SQLiteError) in
        try self.statements.updateDuties.run([
          .flag(changed.isFinishOwed), .flag(changed.isUnseen),
          .integer(StoredTombstone.checksum(of: changed)), .text(key.rawValue),
        ])
      }
    }
  }

  func withProofs(_ stored: StoredEntry) throws(QueueError) -> Entry {
    guard StoredEntry.checksum(of: stored.entry) == stored.checksum else {
      throw .damaged(path: path, what: "entry \(stored.entry.place) does not match its checksum")
    }
    var entry = stored.entry
    entry.proofs = try read { () throws(SQLiteError) in
      try statements.proofsOfEntry.all([.integer(entry.place)]) {
        ProofReference(kind: $0.text(0), id: $0.integer(1), size: Int($0.integer(2)))
      }
    }
    return entry
  }

  func withProofs(_ stored: [StoredEntry]) throws(QueueError) -> [Entry] {
    var entries: [Entry] = []
    for row in stored { entries.append(try withProofs(row)) }
    return entries
  }

  func tombstones(_ body: () throws(SQLiteError) -> [StoredTombstone]) throws(QueueError) -> [Tombstone] {
    let stored = try read(body)
    for row in stored where StoredTombstone.checksum(of: row.tombstone) != row.checksum {
      throw .damaged(path: path, what: "the tombstone of \(row.tombstone.key) does not match its checksum")
    }
    return stored.map(\.tombstone)
  }

  private func nextPlace() throws(QueueError) -> Int64 {
    let last = try read { () throws(SQLiteError) in try statements.lastPlace.first { $0.integer(0) } }
    return (last ?? 0) + 1
  }
}
