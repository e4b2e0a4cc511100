import PurchaseSQLite

/// Reading entries. A row that does not match its checksum is set apart, and costs nothing but itself.
extension QueueFile {
  /// The entry of that name, if it is queued, quarantined or damaged.
  public func entry(_ key: EntryKey) throws(QueueError) -> Entry? {
    guard let stored = try storedEntry(key) else { return nil }
    return try verified(stored)
  }

  /// The first entry of a lane that takes its turn, postponed or not; in constant time.
  public func head(of lane: Lane) throws(QueueError) -> Entry? {
    while true {
      let stored = try read { () throws(SQLiteError) in
        try statements.turns.head.first([.text(lane.text)]) { StoredEntry($0) }
      }
      guard let stored else { return nil }
      if try setApartDamaged([stored], of: lane) { continue }
      return stored.entry
    }
  }

  /// The first entry of a lane with the bytes of its proofs: what is to be sent next. A proof that is not in the file
  /// (`ProofReference.isByReference`) is left out.
  public func peek(_ lane: Lane) throws(QueueError) -> (entry: Entry, proofs: [Proof])? {
    while true {
      let stored = try read { () throws(SQLiteError) in
        try statements.turns.peek.first([.text(lane.text)]) {
          (row: StoredEntry($0), checksum: $0.optionalInteger(15), bytes: $0.bytes(16))
        }
      }
      guard let stored else { return nil }
      if try setApartDamaged([stored.row], of: lane) { continue }
      var entry = stored.row.entry
      var proofs: [Proof] = []
      for (index, reference) in entry.proofs.enumerated() {
        // The first comes with the entry; if it is not right, reading it again says what becomes of it.
        if index == 0, reference.id != nil, let checksum = stored.checksum,
          Checksum.of(stored.bytes) == checksum
        {
          proofs.append(Proof(kind: reference.kind, bytes: stored.bytes))
        } else if let proof = try proof(reference) {
          proofs.append(proof)
        } else {
          entry.proofs[index].id = nil
        }
      }
      return (entry, proofs)
    }
  }

  /// The first entries of a lane by place, at most `limit`; without those in quarantine.
  public func entries(in lane: Lane, limit: Int = 100) throws(QueueError) -> [Entry] {
    try entries(of: lane, statements.turns.first, [.text(lane.text), .integer(Int64(limit))])
  }

  /// The first entries of a lane that may be sent by `moment`, at most `limit`: those that were never postponed by
  /// place, and those that were, the longest due first; these before the others if `dueFirst`. Whoever lets the two
  /// take turns keeps nothing waiting behind what fails again and again.
  public func entries(
    in lane: Lane, readyBy moment: Timestamp, limit: Int = 100, dueFirst: Bool = false
  ) throws(QueueError) -> [Entry] {
    let values: [SQLValue] = [
      .text(lane.text), .integer(Int64(limit)), .integer(moment.milliseconds), .integer(dueFirst ? 1 : 0),
    ]
    return try entries(of: lane, statements.turns.ready, values)
  }

  /// Those that take their turn, but not before or at that moment.
  package func entries(postponedBeyond moment: Timestamp) throws(QueueError) -> [Entry] {
    try entries(of: nil, statements.turns.postponedBeyond, [.integer(moment.milliseconds)])
  }

  private func entries(
    of lane: Lane?, _ statement: PreparedStatement, _ values: [SQLValue]
  ) throws(QueueError) -> [Entry] {
    while true {
      let stored = try read { () throws(SQLiteError) in try statement.all(values) { StoredEntry($0) } }
      if try setApartDamaged(stored, of: lane) { continue }
      return stored.map(\.entry)
    }
  }

  /// The entry to be sent now, over all lanes, in constant time: the first that was never postponed; if there is
  /// none, the one whose moment came first. Nil if there is none.
  public func nextReady(now: Timestamp) throws(QueueError) -> Entry? {
    var unfit: Int64?
    while true {
      let (ready, postponed) = try read { () throws(SQLiteError) in
        (
          try statements.turns.firstReady.first { $0.optionalInteger(0) } ?? nil,
          try statements.turns.firstPostponed.first { (place: $0.integer(0), readyAt: $0.integer(1)) }
        )
      }
      let due = postponed.flatMap { $0.readyAt <= now.milliseconds ? $0.place : nil }
      guard let place = ready ?? due else { return nil }
      let stored = try read { () throws(SQLiteError) in
        try statements.entries.byPlace.first([.integer(place)]) { StoredEntry($0) }
      }
      if let stored, try setApartDamaged([stored]) { continue }
      if let stored, stored.entry.state == .queued { return stored.entry }
      // Another process was faster; but not twice.
      guard unfit != place else { throw brokenIndex() }
      unfit = place
    }
  }

  /// When the next postponed entry becomes ready, if any is postponed.
  public func nextReadyAt() throws(QueueError) -> Timestamp? {
    try read { () throws(SQLiteError) in
      try statements.turns.firstPostponed.first { Timestamp(milliseconds: $0.integer(1)) }
    }
  }

  /// When the first postponed entry of a lane becomes ready, if any is postponed there.
  package func nextReadyAt(in lane: Lane) throws(QueueError) -> Timestamp? {
    try read { () throws(SQLiteError) in
      try statements.turns.firstPostponedInLane.first([.text(lane.text)]) {
        $0.optionalInteger(0).map(Timestamp.init(milliseconds:))
      }
    } ?? nil
  }

  /// The place of the entry that was queued last, of all that ever were.
  package func lastPlace() throws(QueueError) -> Int64 { try totals().lastPlace }

  /// Every entry, in the order of the places.
  public func allEntries() throws(QueueError) -> [Entry] {
    let stored = try read { () throws(SQLiteError) in try statements.entries.all.all { StoredEntry($0) } }
    if try setApartDamaged(stored) { return try allEntries() }
    return stored.map(\.entry)
  }

  /// The lanes in which an entry waits for its turn.
  public func lanes() throws(QueueError) -> [Lane] {
    try read { () throws(SQLiteError) in try statements.turns.lanes.all { Lane(text: $0.text(0)) } }
  }

  func storedEntry(_ key: EntryKey) throws(QueueError) -> StoredEntry? {
    let stored = try read { () throws(SQLiteError) in
      try statements.entries.byKey.first([.text(key.rawValue)]) { StoredEntry($0) }
    }
    guard let stored else { return nil }
    guard stored.entry.key == key else { throw brokenIndex() }
    return stored
  }

  func totals() throws(QueueError) -> Totals {
    let stored = try read { () throws(SQLiteError) in try statements.room.totals.first { Totals($0) } }
    if let totals = stored ?? nil { return totals }
    // A damaged count is counted again.
    try transaction { () throws(QueueError) in try self.recount() }
    let recounted = try read { () throws(SQLiteError) in try statements.room.totals.first { Totals($0) } }
    guard let totals = recounted ?? nil else {
      throw .damaged(path: path, what: "the totals cannot be written")
    }
    return totals
  }

  private func verified(_ stored: StoredEntry) throws(QueueError) -> Entry? {
    guard try setApartDamaged([stored]) else { return stored.entry }
    return try storedEntry(stored.entry.key)?.entry
  }

  /// As `setApartDamaged`, of rows that an index named as queued in this lane.
  private func setApartDamaged(_ stored: [StoredEntry], of lane: Lane?) throws(QueueError) -> Bool {
    // No place: the index names a row that is not there.
    guard stored.allSatisfy({ $0.entry.place > 0 }) else { throw brokenIndex() }
    if try setApartDamaged(stored) { return true }
    guard stored.allSatisfy({ $0.entry.lane == lane ?? $0.entry.lane && $0.entry.state == .queued }) else {
      throw brokenIndex()
    }
    return false
  }

  /// Takes rows that are not what was written out of their lanes' turn. True if there were any.
  private func setApartDamaged(_ stored: [StoredEntry]) throws(QueueError) -> Bool {
    let broken = stored.filter { !$0.isWhole }
    guard !broken.isEmpty else { return false }
    // By their places they are whole: then it was an index that said something else.
    guard try setApart(broken.map(\.entry.place)) > 0 else { throw brokenIndex() }
    return true
  }

  /// An index and its table do not agree: salvage makes the indexes anew.
  private func brokenIndex() -> QueueError {
    markDamage()
    return .damaged(path: path, what: "an index does not agree with its table")
  }

  /// Marks the entries at these places as damaged: what stands in them is kept, and not delivered. Returns how many
  /// were, or are gone.
  @discardableResult
  func setApart(_ places: [Int64]) throws(QueueError) -> Int {
    var damaged = 0
    try transaction { () throws(QueueError) in
      for place in places {
        let stored = try self.read { () throws(SQLiteError) in
          try self.statements.entries.byPlace.first([.integer(place)]) { StoredEntry($0) }
        }
        guard let stored else {
          // Another process settled it meanwhile.
          damaged += 1
          continue
        }
        guard !stored.isWhole else { continue }
        var entry = stored.entry
        entry.state = .damaged
        entry.reason = "the row does not match its checksum"
        try self.write(entry)
        damaged += 1
      }
      try self.recount()
    }
    hook?("entries.set-apart")
    return damaged
  }
}
