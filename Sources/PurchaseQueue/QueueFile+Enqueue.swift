import PurchaseSQLite

extension QueueFile {
  /// Queues an entry at the end of its lane. One that is there already keeps its account, order, attempts and
  /// place; a missing order is filled in, and a newer proof of a kind replaces the older one.
  ///
  /// Throws `queueFull` if there is no room even after room was made without loss. A proof longer than
  /// `QueueLimits.proofBytes` is queued by reference.
  public func enqueue(_ new: NewEntry, now: Timestamp) throws(QueueError) -> Enqueued {
    try enqueue(new, now: now) { (_) throws(QueueError) in }
  }

  /// As `enqueue`; what `companion` writes of the result is committed with the entry.
  package func enqueue(
    _ new: NewEntry, now: Timestamp, with companion: (Enqueued) throws(QueueError) -> Void
  ) throws(QueueError) -> Enqueued {
    hook?("enqueue.begin")
    try check(new)
    let result = try transaction { () throws(QueueError) in
      let result = try self.insertOrCollapse(new, now: now)
      try companion(result)
      return result
    }
    afterCommit { [self] in
      hook?("enqueue.committed")
      switch result {
      case .inserted(let entry), .collapsed(let entry): if !new.isUpdate { mirror(entry, now: now) }
      case .settled: break
      }
      hook?("enqueue.mirrored")
    }
    return result
  }

  private func check(_ new: NewEntry) throws(QueueError) {
    let text =
      new.key.rawValue.utf8.count + new.lane.text.utf8.count + (new.orderNumber?.utf8.count ?? 0)
      + new.details.utf8.count
    guard text <= limits.textBytes else {
      throw .queueFull(.textBytes, needed: text, allowed: limits.textBytes)
    }
    for proof in new.proofs {
      guard (1...64).contains(proof.kind.utf8.count), !proof.kind.utf8.contains(where: { $0 < 32 }) else {
        throw .invalid(what: "a proof's kind is not 1 to 64 bytes of text in one line")
      }
    }
    guard new.proofs.count < 2 || Set(new.proofs.map(\.kind)).count == new.proofs.count else {
      throw .invalid(what: "entry \(new.key) has two proofs of one kind")
    }
  }

  func insertOrCollapse(_ new: NewEntry, now: Timestamp) throws(QueueError) -> Enqueued {
    if let totals = try totals(ifUnknown: new.key) { return .inserted(try insert(new, totals, now: now)) }
    // An entry beside a tombstone is an update under way.
    if let entry = try storedEntry(new.key) {
      let old = entry.entry
      return .collapsed(try entry.isWhole ? collapse(new, into: old, now: now) : replace(old, new, now))
    }
    if !new.isUpdate, let tombstone = try tombstone(new.key) { return .settled(tombstone) }
    return .inserted(try insert(new, now: now))
  }

  /// The counts; nil if there is an entry of that name or a tombstone, or if the counts are damaged.
  private func totals(ifUnknown key: EntryKey) throws(QueueError) -> Totals? {
    let found = try read { () throws(SQLiteError) in
      try statements.room.totalsAndKnown.first([.text(key.rawValue)]) { $0.flag(10) ? nil : Totals($0) }
    }
    return found ?? nil
  }

  func insert(_ new: NewEntry, _ counted: Totals? = nil, now: Timestamp) throws(QueueError) -> Entry {
    var totals: Totals
    if let counted { totals = counted } else { totals = try self.totals() }
    try consume(new.reservation, &totals)
    totals.lastPlace += 1
    totals.queued += 1
    try makeRoomForEntry(&totals, now: now)
    let proofs = try store(new.proofs, covering: new.covers, &totals, now: now)
    let entry = Entry(
      place: totals.lastPlace, key: new.key, lane: new.lane, orderNumber: new.orderNumber,
      details: new.details, proofs: proofs, now: now)
    try read { () throws(SQLiteError) in
      try statements.entries.insert.run(entry.values)
      try statements.room.setTotals.run(totals.values)
    }
    return entry
  }

  /// Enqueued again: nothing of the entry changes but what was missing, and its proofs.
  private func collapse(_ new: NewEntry, into old: Entry, now: Timestamp) throws(QueueError) -> Entry {
    if old.state == .damaged { return try replace(old, new, now) }
    var entry = old
    var totals = try totals()
    let before = totals
    try consume(new.reservation, &totals)
    if entry.orderNumber == nil, let order = new.orderNumber {
      entry.orderNumber = order
      entry.history.append("order \(order) filled in", at: now)
    }
    totals.count(entry, -1)
    // Its own older proofs are replaced anyway.
    let others = new.covers.filter { $0 != new.key }
    entry.proofs = try exchange(entry.proofs, for: new.proofs, covering: others, &totals, now: now)
    totals.count(entry, 1)
    if entry.proofs != old.proofs { entry.history.append("newer proof", at: now) }
    if entry != old || totals != before { try write(entry, totals) }
    return entry
  }

  /// A row that cannot be trusted is written anew, at the end of its lane.
  func replace(_ old: Entry, _ new: NewEntry, _ now: Timestamp) throws(QueueError) -> Entry {
    try read { () throws(SQLiteError) in try statements.entries.delete.run([.integer(old.place)]) }
    try recount()
    var entry = try insert(new, now: now)
    entry.history.append("enqueued again; the earlier row was damaged", at: now)
    try write(entry)
    return entry
  }

  /// Writes an entry's row, and the totals if they changed with it.
  func write(_ entry: Entry, _ totals: Totals? = nil) throws(QueueError) {
    try read { () throws(SQLiteError) in
      try statements.entries.update.run(entry.values)
      if let totals { try statements.room.setTotals.run(totals.values) }
    }
  }
}
