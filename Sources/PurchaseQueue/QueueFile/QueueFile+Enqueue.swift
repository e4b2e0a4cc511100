import PurchaseSQLite

extension QueueFile {
  /// Queues an entry at the end of its lane. An entry that is queued already keeps its account, order, attempts and
  /// place; a missing order is filled in, and a newer payload of a kind replaces the older one.
  ///
  /// Throws `queueFull` if capacity is missing even after everything was freed that can be freed without loss. A payload
  /// longer than `QueueLimits.payloadBytes` is queued by reference.
  package func enqueue(_ new: NewEntry, now: Timestamp) throws(QueueError) -> Enqueued {
    try enqueue(new, now: now) { (_) throws(QueueError) in }
  }

  /// As `enqueue`; the writes of `companion` are committed with the entry.
  package func enqueue(
    _ new: NewEntry, now: Timestamp, with companion: (Enqueued) throws(QueueError) -> Void
  ) throws(QueueError) -> Enqueued {
    checkpoint?(.enqueueBegin)
    try check(new)
    let result = try transaction(.durable) { () throws(QueueError) in
      let result = try self.insertOrCollapse(new, now: now)
      try companion(result)
      return result
    }
    afterCommit { [self] in
      checkpoint?(.enqueueCommitted)
      switch result {
      case .inserted(let entry), .collapsed(let entry): if !new.isUpdate { mirror(entry.key, now: now) }
      case .settled: break
      }
      checkpoint?(.enqueueMirrored)
    }
    return result
  }

  func check(_ new: NewEntry) throws(QueueError) {
    let text =
      new.key.rawValue.utf8.count + new.lane.rawValue.utf8.count + (new.orderNumber?.utf8.count ?? 0)
      + new.details.utf8.count
    guard text <= limits.textBytes else {
      throw .queueFull(.textBytes, needed: text, allowed: limits.textBytes)
    }
    for payload in new.payloads {
      guard Payload.isKind(payload.kind) else {
        throw .invalid(what: "a payload's kind is not 1 to 64 bytes of text in one line")
      }
      guard new.hasSource || payload.bytes.count <= limits.payloadBytes else {
        throw .invalid(
          what:
            "a payload of \(payload.bytes.count) bytes. The limit is \(limits.payloadBytes); store it elsewhere and "
            + "queue its name")
      }
    }
    guard new.payloads.count <= QueueLimits.payloadsOfAnEntry else { throw tooManyPayloads(new.key) }
    guard new.payloads.count < 2 || Set(new.payloads.map(\.kind)).count == new.payloads.count else {
      throw .invalid(what: "entry \(new.key) has two payloads of one kind")
    }
  }

  func tooManyPayloads(_ key: EntryKey) -> QueueError {
    .invalid(what: "entry \(key) would have more than \(QueueLimits.payloadsOfAnEntry) payloads")
  }

  func insertOrCollapse(_ new: NewEntry, now: Timestamp) throws(QueueError) -> Enqueued {
    if let totals = try totals(ifUnknown: new.key) { return .inserted(try insert(new, totals, now: now)) }
    // An entry that has a tombstone too is an update under way.
    if let entry = try storedEntry(new.key) {
      let old = entry.entry
      note(.collapsed)
      return .collapsed(try entry.isWhole ? collapse(new, into: old, now: now) : replace(old, new, now))
    }
    if !new.isUpdate, let tombstone = try tombstone(new.key) {
      try endReservation(new.reservation)
      note(.known)
      return .settled(tombstone)
    }
    return .inserted(try insert(new, now: now))
  }

  /// Whether the key has an entry or a tombstone, damaged ones included.
  package func isKnown(_ key: EntryKey) throws(QueueError) -> Bool {
    let found = try first(statements.capacity.isKnown, [.text(key.rawValue)]) { $0.flag(0) }
    return found ?? false
  }

  /// The totals; nil if the key has an entry or a tombstone, or if the totals are damaged.
  private func totals(ifUnknown key: EntryKey) throws(QueueError) -> Totals? {
    if let totals = cachedTotals() {
      let isKnown = try first(statements.capacity.isKnown, [.text(key.rawValue)]) { $0.flag(0) }
      return isKnown == false ? totals : nil
    }
    let found = try first(statements.capacity.totalsAndKnown, [.text(key.rawValue)]) {
      $0.flag(CapacityStatements.columnCount) ? nil : Totals($0)
    }
    guard let totals = found ?? nil else { return nil }
    statements.capacity.cache.keep(totals)
    return totals
  }

  func insert(_ new: NewEntry, _ counted: Totals? = nil, now: Timestamp) throws(QueueError) -> Entry {
    var totals: Totals
    if let counted { totals = counted } else { totals = try self.totals() }
    let isReserved = try consume(new.reservation, &totals)
    // Only damage or a hand-made row comes near the end of the numbers.
    guard totals.lastPlace < .max else { throw damagedPlaces() }
    totals.lastPlace += 1
    totals.queued += 1
    // An update replaces its tombstone. What is reserved is paid.
    if !isReserved, !new.isUpdate { try ensureCapacityForDuties(totals) }
    try ensureCapacityForEntry(&totals, now: now)
    let payloads = try store(new.payloads, covering: new.covers, &totals, now: now)
    let entry = Entry(
      place: totals.lastPlace, key: new.key, lane: new.lane, orderNumber: new.orderNumber,
      details: new.details, payloads: payloads, now: now)
    try read { () throws(SQLiteError) in
      try statements.entries.insert.run(entry.values)
      try statements.capacity.setTotals.run(totals)
    }
    note(.entered(new.isUpdate ? .update : new.isRestored ? .restored : .new))
    return entry
  }

  /// Enqueued again: only missing fields and the payloads of the entry change.
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
    // The entry's own older payloads are replaced in any case.
    let others = new.covers.filter { $0 != new.key }
    entry.payloads = try exchange(entry.payloads, for: new.payloads, covering: others, &totals, now: now)
    totals.count(entry, 1)
    guard entry.payloads.count <= QueueLimits.payloadsOfAnEntry else { throw tooManyPayloads(entry.key) }
    if entry.payloads != old.payloads { entry.history.append("newer payload", at: now) }
    if entry != old || totals != before { try write(entry, totals) }
    return entry
  }

  /// Replaces a damaged row by a new one at the end of its lane.
  func replace(_ old: Entry, _ new: NewEntry, _ now: Timestamp) throws(QueueError) -> Entry {
    try run(statements.entries.delete, [.integer(old.place)])
    try recount(isReplacing: true)
    note(.replaced)
    var entry = try insert(new, now: now)
    entry.history.append("enqueued again; the earlier row was damaged", at: now)
    try write(entry)
    return entry
  }

  /// Writes the row of an entry, and the totals if they changed with it.
  func write(_ entry: Entry, _ totals: Totals? = nil) throws(QueueError) {
    try read { () throws(SQLiteError) in
      try statements.entries.update.run(entry.values)
      if let totals { try statements.capacity.setTotals.run(totals) }
    }
  }
}
