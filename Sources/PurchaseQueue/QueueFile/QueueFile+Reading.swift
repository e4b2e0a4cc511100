import PurchaseSQLite

/// Reading entries. A row that does not match its checksum is isolated; the other rows stay readable.
extension QueueFile {
  /// The entry with that key, if it is queued, quarantined or damaged.
  package func entry(_ key: EntryKey) throws(QueueError) -> Entry? {
    guard let stored = try storedEntry(key) else { return nil }
    return try verified(stored)
  }

  /// The first queued entry of a lane, postponed or not; in constant time.
  package func head(of lane: Lane) throws(QueueError) -> Entry? {
    var isolated: Set<Int64> = []
    while true {
      let stored = try first(statements.turns.head, [.text(lane.rawValue)]) { StoredEntry($0) }
      guard let stored else { return nil }
      if try isolateDamaged([stored], of: lane, &isolated) { continue }
      return stored.entry
    }
  }

  /// The first queued entry of a lane with the bytes of its payloads. A payload that is not in the file
  /// (`PayloadReference.isByReference`) is left out.
  package func peek(_ lane: Lane) throws(QueueError) -> (entry: Entry, payloads: [Payload])? {
    var isolated: Set<Int64> = []
    while true {
      let stored = try first(statements.turns.peek, [.text(lane.rawValue)]) {
        (row: StoredEntry($0), checksum: $0.optionalInteger(16), bytes: $0.bytes(17))
      }
      guard let stored else { return nil }
      if try isolateDamaged([stored.row], of: lane, &isolated) { continue }
      var entry = stored.row.entry
      var payloads: [Payload] = []
      for (index, reference) in entry.payloads.enumerated() {
        // The first payload comes with the entry. If it is damaged, `payload` handles the damage.
        if index == 0, reference.id != nil, let checksum = stored.checksum,
          Checksum.of(stored.bytes) == checksum
        {
          payloads.append(Payload(kind: reference.kind, bytes: stored.bytes))
        } else if let payload = try payload(reference) {
          payloads.append(payload)
        } else {
          entry.payloads[index].id = nil
        }
      }
      return (entry, payloads)
    }
  }

  /// The first queued entries of a lane by place, at most `limit`.
  package func entries(in lane: Lane, limit: Int = 100) throws(QueueError) -> [Entry] {
    try entries(of: lane, statements.turns.first, [.text(lane.rawValue), .integer(Int64(limit))])
  }

  /// The first entries of a lane that may be sent at `moment`, at most `limit`: first the entries that were never
  /// postponed, by place, then the postponed ones, longest due first. `dueFirst` swaps the two groups: a caller that
  /// alternates keeps no entry waiting behind entries that fail again and again.
  package func entries(
    in lane: Lane, readyBy moment: Timestamp, limit: Int = 100, dueFirst: Bool = false
  ) throws(QueueError) -> [Entry] {
    // The usual case. With postponed entries, the two groups meet in a table of their own.
    guard try nextReadyAt(in: lane) != nil else {
      return try entries(
        of: lane, statements.turns.neverPostponed, [.text(lane.rawValue), .integer(Int64(limit))])
    }
    let values: [SQLValue] = [
      .text(lane.rawValue), .integer(Int64(limit)), .integer(moment.milliseconds), .integer(dueFirst ? 1 : 0),
    ]
    return try entries(of: lane, statements.turns.ready, values)
  }

  /// The queued entries that are postponed beyond that moment.
  package func entries(postponedBeyond moment: Timestamp) throws(QueueError) -> [Entry] {
    try entries(of: nil, statements.turns.postponedBeyond, [.integer(moment.milliseconds)])
  }

  private func entries(
    of lane: Lane?, _ statement: PreparedStatement, _ values: [SQLValue]
  ) throws(QueueError) -> [Entry] {
    var isolated: Set<Int64> = []
    while true {
      let stored = try all(statement, values) { StoredEntry($0) }
      if try isolateDamaged(stored, of: lane, &isolated) { continue }
      return stored.map(\.entry)
    }
  }

  /// The entry to send now, over all lanes, in constant time: the first that was never postponed, otherwise the
  /// postponed one that has been due longest. Nil if no entry is ready.
  package func nextReady(now: Timestamp) throws(QueueError) -> Entry? {
    var unfit: Int64?
    var isolated: Set<Int64> = []
    while true {
      let (ready, postponed) = try read { () throws(SQLiteError) in
        (
          try statements.turns.firstReady.first { $0.optionalInteger(0) } ?? nil,
          try statements.turns.firstPostponed.first { (place: $0.integer(0), readyAt: $0.integer(1)) }
        )
      }
      let due = postponed.flatMap { $0.readyAt <= now.milliseconds ? $0.place : nil }
      guard let place = ready ?? due else { return nil }
      let stored = try first(statements.entries.byPlace, [.integer(place)]) { StoredEntry($0) }
      if let stored, try isolateDamaged([stored], &isolated) { continue }
      if let stored, stored.entry.state == .queued { return stored.entry }
      // Another process may have settled the entry since. The same place twice means a damaged index.
      guard unfit != place else { throw brokenIndex() }
      unfit = place
    }
  }

  /// The moment when the next postponed entry becomes ready; nil if none is postponed.
  package func nextReadyAt() throws(QueueError) -> Timestamp? {
    try first(statements.turns.firstPostponed) { Timestamp(milliseconds: $0.integer(1)) }
  }

  /// The moment when the next postponed entry of a lane becomes ready; nil if none is postponed there.
  package func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp? {
    try first(statements.turns.firstPostponedInLane, [.text(lane.rawValue)]) {
      $0.optionalInteger(0).map(Timestamp.init(milliseconds:))
    } ?? nil
  }

  /// The place of the newest entry that was ever queued.
  package func lastPlace() throws(QueueError) -> Int64 { try totals().lastPlace }

  /// Every entry, in the order of the places.
  package func allEntries() throws(QueueError) -> [Entry] {
    var isolated: Set<Int64> = []
    while true {
      let stored = try all(statements.entries.all) { StoredEntry($0) }
      if try !isolateDamaged(stored, &isolated) { return stored.map(\.entry) }
    }
  }

  /// The lanes that have a queued entry.
  package func lanes() throws(QueueError) -> [Lane] {
    try all(statements.turns.lanes) { Lane(rawValue: $0.text(0)) }
  }

  func storedEntry(_ key: EntryKey) throws(QueueError) -> StoredEntry? {
    let stored = try first(statements.entries.byKey, [.text(key.rawValue)]) { StoredEntry($0) }
    guard let stored else { return nil }
    guard stored.entry.key == key else { throw brokenIndex() }
    return stored
  }

  /// Nil if the row of the totals has to be read: always outside of a transaction.
  func cachedTotals() -> Totals? {
    guard connection.isInTransaction else { return nil }
    return statements.capacity.cache.totals(at: connection.dataVersion)
  }

  func totals() throws(QueueError) -> Totals {
    if let totals = cachedTotals() { return totals }
    let stored = try first(statements.capacity.totals) { Totals($0) }
    if let totals = stored ?? nil {
      if connection.isInTransaction { statements.capacity.cache.keep(totals) }
      return totals
    }
    // Damaged totals are counted again.
    try transaction { () throws(QueueError) in try self.recount() }
    let recounted = try first(statements.capacity.totals) { Totals($0) }
    guard let totals = recounted ?? nil else {
      throw .damaged(path: path, what: "the totals cannot be written")
    }
    return totals
  }
}
