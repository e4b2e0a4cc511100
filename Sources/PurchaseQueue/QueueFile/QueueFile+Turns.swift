import PurchaseSQLite

/// Changes of an entry between enqueuing and settling: attempts, postponing, quarantine.
extension QueueFile {
  /// Counts an attempt of each entry. Call it before the send. Promised soon: after a power cut, the count is one lower.
  package func recordAttempt(_ keys: [EntryKey], now: Timestamp) throws(QueueError) {
    try change(keys, .soon) { entry in
      entry.attempts += 1
      entry.attemptedAt = now
      entry.history.append("attempt \(entry.attempts)", at: now)
    }
    afterCommit { [self] in checkpoint?(.attemptCommitted) }
  }

  /// Keeps an entry from being sent before a moment; the other entries of its lane pass it.
  package func postpone(
    _ key: EntryKey, until: Timestamp, reason: String = "postponed", now: Timestamp
  ) throws(QueueError) {
    try change([key]) { entry in
      entry.readyAt = until
      entry.history.append("\(reason); not before \(until.milliseconds)", at: now)
    }
  }

  /// Moves an entry that was never sent to another lane: its receiver is known now. It keeps its place. Nil if there is no
  /// such entry.
  package func move(
    _ key: EntryKey, to lane: Lane, details: String, now: Timestamp
  ) throws(QueueError) -> Entry? {
    let moved = try transaction { () throws(QueueError) -> Entry? in
      guard var entry = try self.entry(key), entry.attempts == 0, entry.state != .damaged else { return nil }
      var totals = try self.totals()
      totals.count(entry, -1)
      (entry.lane, entry.details, entry.readyAt) = (lane, details, Timestamp(milliseconds: 0))
      entry.history.append("its receiver is known", at: now)
      totals.count(entry, 1)
      try self.check(entry)
      try self.write(entry, totals)
      return entry
    }
    guard let moved else { return nil }
    afterCommit { [self] in mirror(key, now: now) }
    return try entry(key) ?? moved
  }

  /// Changes what the owner keeps of the entry, in its row. Nothing is written where nothing changes, and for an entry
  /// that is not there or damaged.
  package func changeNotes(
    of key: EntryKey, _ change: (String?) throws(QueueError) -> String?
  ) throws(QueueError) {
    try transaction { () throws(QueueError) in
      guard var entry = try self.entry(key), entry.state != .damaged else { return }
      let before = entry.notes
      entry.notes = try change(before)
      if entry.notes != before { try self.write(entry) }
    }
  }

  private func check(_ entry: Entry) throws(QueueError) {
    let text =
      entry.key.rawValue.utf8.count + entry.lane.rawValue.utf8.count + (entry.orderNumber?.utf8.count ?? 0)
      + entry.details.utf8.count
    guard text <= limits.textBytes else {
      throw .queueFull(.textBytes, needed: text, allowed: limits.textBytes)
    }
  }

  /// Moves an entry that cannot be delivered now to quarantine: the others of its lane pass it. Throws `queueFull` if
  /// the quarantine is full; the entry then stays in its lane.
  package func quarantine(_ key: EntryKey, reason: String, now: Timestamp) throws(QueueError) {
    try transaction { () throws(QueueError) in
      guard var entry = try self.entry(key) else { throw QueueError.unknownEntry(key) }
      guard entry.state == .queued else { return }
      var totals = try self.totals()
      totals.count(entry, -1)
      entry.state = .quarantined
      entry.reason = Redaction.line(reason)
      entry.history.append("quarantined: \(reason)", at: now)
      totals.count(entry, 1)
      try self.checkQuarantine(entry, totals)
      try self.write(entry, totals)
      self.note(.quarantined)
    }
    afterCommit { [self] in checkpoint?(.quarantineCommitted) }
  }

  /// Releases a quarantined entry to its place in its lane. Throws `queueFull` if the lanes have no capacity.
  package func release(_ key: EntryKey, now: Timestamp) throws(QueueError) {
    try release(key, until: nil, now: now)
  }

  /// Releases and postpones the entry in one commit.
  package func release(_ key: EntryKey, until: Timestamp?, now: Timestamp) throws(QueueError) {
    try transaction { () throws(QueueError) in
      guard var entry = try self.entry(key) else { throw QueueError.unknownEntry(key) }
      guard entry.state == .quarantined else { return }
      var totals = try self.totals()
      totals.count(entry, -1)
      entry.state = .queued
      entry.reason = nil
      entry.readyAt = until ?? Timestamp(milliseconds: 0)
      entry.history.append("released from quarantine", at: now)
      totals.count(entry, 1)
      try self.ensureCapacityForEntry(&totals, now: now)
      try self.write(entry, totals)
      self.note(.released)
    }
    afterCommit { [self] in checkpoint?(.releaseCommitted) }
  }

  /// The entries that are not sent: quarantined and damaged ones.
  package func quarantined() throws(QueueError) -> [Entry] {
    try allEntries().filter { $0.state != .queued }
  }

  /// True if an entry is quarantined or damaged; reads no entry.
  package func hasQuarantined() throws(QueueError) -> Bool { try totals().quarantined > 0 }

  /// Throws if the quarantine is over its limits. Does nothing for an entry that is not quarantined.
  func checkQuarantine(_ entry: Entry, _ totals: Totals) throws(QueueError) {
    guard entry.state == .quarantined else { return }
    guard totals.quarantined <= limits.quarantinedEntries else {
      throw .queueFull(
        .quarantinedEntries, needed: totals.quarantined, allowed: limits.quarantinedEntries)
    }
    guard totals.quarantinedBytes <= limits.quarantinedBytes else {
      throw .queueFull(
        .quarantinedBytes, needed: totals.quarantinedBytes, allowed: limits.quarantinedBytes)
    }
  }

  /// Changes fields that the totals do not count, in one commit.
  private func change(
    _ keys: [EntryKey], _ promise: CommitPromise = .durable, _ change: (inout Entry) -> Void
  ) throws(QueueError) {
    try transaction(promise) { () throws(QueueError) in
      for key in keys {
        guard var entry = try self.entry(key) else { throw QueueError.unknownEntry(key) }
        change(&entry)
        try self.write(entry)
      }
    }
  }
}
