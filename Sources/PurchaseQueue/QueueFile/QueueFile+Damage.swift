import PurchaseSQLite

/// Damage: rows that do not match their checksum are isolated; damaged pages are left to the salvage of the next
/// opening.
extension QueueFile {
  /// Marks the file, so that the next opening salvages it. Does nothing if another file has its path by now.
  func markDamage() {
    guard !connection.hasMoved else { return }
    FileArchive(path: path, disk: setup.disk).markDamaged()
  }

  /// Isolates the values that a check found: each costs the entries that use it, and no others. Damaged pages are
  /// remembered; open the file again to salvage it.
  package func isolate(_ report: CheckReport) throws(QueueError) {
    if !report.pages.isEmpty { markDamage() }
    if !report.entries.isEmpty { try isolate(report.entries) }
    for id in report.payloads where try storedBytes(id) == nil { try losePayload(id) }
    for key in report.tombstones { _ = try tombstone(key) }
  }

  func verified(_ stored: StoredEntry) throws(QueueError) -> Entry? {
    var isolated: Set<Int64> = []
    guard try isolateDamaged([stored], &isolated) else { return stored.entry }
    return try storedEntry(stored.entry.key)?.entry
  }

  /// As `isolateDamaged`, for rows that an index lists as queued in this lane.
  func isolateDamaged(
    _ stored: [StoredEntry], of lane: Lane?, _ isolated: inout Set<Int64>
  ) throws(QueueError) -> Bool {
    // No place: the index lists a row that does not exist.
    guard stored.allSatisfy({ $0.entry.place > 0 }) else { throw brokenIndex() }
    if try isolateDamaged(stored, &isolated) { return true }
    guard stored.allSatisfy({ $0.entry.lane == lane ?? $0.entry.lane && $0.entry.state == .queued }) else {
      throw brokenIndex()
    }
    return false
  }

  /// Isolates rows that do not match their checksum. True if there were any: read again.
  ///
  /// `isolated` are the places of this call's earlier rounds. A row that was isolated and comes back damaged is read in
  /// two ways that disagree, so the pages are damaged; without that test the rounds would not end.
  func isolateDamaged(_ stored: [StoredEntry], _ isolated: inout Set<Int64>) throws(QueueError) -> Bool {
    let broken = stored.filter { !$0.isWhole }
    guard !broken.isEmpty else { return false }
    let count = isolated.count
    isolated.formUnion(broken.map(\.entry.place))
    guard isolated.count > count else { throw brokenIndex() }
    // Read by their places, the rows are correct: the index is damaged.
    guard try isolate(broken.map(\.entry.place)) > 0 else { throw brokenIndex() }
    return true
  }

  /// An index and its table disagree. The salvage builds the indexes again.
  func brokenIndex() -> QueueError {
    markDamage()
    return .damaged(path: path, what: "an index does not agree with its table")
  }

  /// Marks the entries at these places as damaged: their content is kept and not delivered. Returns how many were
  /// damaged or no longer exist.
  @discardableResult
  func isolate(_ places: [Int64]) throws(QueueError) -> Int {
    var damaged = 0
    try transaction { () throws(QueueError) in
      for place in places {
        let stored = try self.first(self.statements.entries.byPlace, [.integer(place)]) { StoredEntry($0) }
        guard let stored else {
          // Another process has settled the entry since.
          damaged += 1
          continue
        }
        guard !stored.isWhole else { continue }
        var entry = stored.entry
        entry.state = .damaged
        entry.reason = "the row does not match its checksum"
        try self.write(try self.withTruePlace(entry))
        damaged += 1
      }
      try self.recount()
    }
    checkpoint?(.entriesIsolated)
    return damaged
  }

  /// A place that was never given is a lie: places behind it could not be given any more. The row moves behind the
  /// others.
  private func withTruePlace(_ old: Entry) throws(QueueError) -> Entry {
    let last = try read { () throws(SQLiteError) in
      try connection.prepare("SELECT max(place) FROM entries WHERE place<?").first([.integer(old.place)]) {
        $0.optionalInteger(0)
      } ?? nil
    }
    let known = try max(knownLastPlace(), last ?? 0)
    guard old.place < 1 || old.place > known, known < .max else { return old }
    var entry = old
    entry.place = known + 1
    guard entry.place != old.place else { return old }
    let (from, to) = (old.place, entry.place)
    try read { () throws(SQLiteError) in
      try connection.prepare("UPDATE entries SET place=? WHERE place=?").run([.integer(to), .integer(from)])
    }
    return entry
  }

  func damagedPlaces() -> QueueError {
    markDamage()
    return .damaged(path: path, what: "the last place is the largest number")
  }

  // MARK: Counting again

  /// The last place that was given, as far as totals and facts have it; otherwise 0.
  private func knownLastPlace() throws(QueueError) -> Int64 {
    let counted = try first(statements.capacity.totals) { Totals($0) }
    let salvaged = try fact(LastPlace.fact).flatMap { Int64($0) }
    return max((counted ?? nil)?.lastPlace ?? 0, salvaged ?? 0)
  }

  /// Counts the totals and the uses of each payload again, inside a transaction. Slow; needed only after damage.
  ///
  /// - Parameter isReplacing: a damaged row was removed, and a new one of its entry follows.
  func recount(isReplacing: Bool = false) throws(QueueError) {
    let before = try first(statements.capacity.totals) { Totals($0) }
    let entries = try all(statements.entries.all) { StoredEntry($0).entry }
    var totals = Totals()
    totals.lastPlace = try knownLastPlace()
    var uses: [Int64: Int64] = [:]
    for entry in entries {
      totals.lastPlace = max(totals.lastPlace, entry.place)
      totals.count(entry, 1)
      for id in entry.payloads.compactMap(\.id) { uses[id, default: 0] += 1 }
    }
    do throws(SQLiteError) {
      let payloads = try connection.prepare("SELECT id, length(bytes), uses FROM payloads").all {
        (id: $0.integer(0), size: Int($0.integer(1)), uses: $0.integer(2))
      }
      for payload in payloads {
        let used = uses[payload.id, default: 0]
        if used == 0 {
          try connection.prepare("DELETE FROM payloads WHERE id=?").run([.integer(payload.id)])
          continue
        }
        totals.bytes += payload.size
        if used != payload.uses {
          // Not as a difference: a count that lies could overflow.
          try connection.prepare("UPDATE payloads SET uses=? WHERE id=?").run([
            .integer(used), .integer(payload.id),
          ])
        }
      }
      let reserved = try connection.prepare(
        "SELECT count(*), CAST(total(min(max(bytes, 0), 1 << 40)) AS INTEGER) FROM reservations"
      ).first {
        // Rows without a checksum: a size that lies counts as the most that could be reserved.
        (Int($0.integer(0)), min(max(Int($0.integer(1)), 0), 1 << 40))
      }
      (totals.reserved, totals.reservedBytes) = reserved ?? (0, 0)
      try countTombstones(&totals)
      statements.capacity.cache.forget()
      try QueueSchema.setTotals(totals, in: connection)
    } catch {
      throw QueueError(error, path: path)
    }
    try keepBooks(from: before ?? nil, to: totals, isReplacing: isReplacing)
  }

  private func countTombstones(_ totals: inout Totals) throws(SQLiteError) {
    let hasDuty = "(finish_pending OR unconfirmed)"
    let bytes = TombstoneStatements.bytes
    let counted = try connection.prepare(
      """
      SELECT count(*), ifnull(sum(unconfirmed), 0), ifnull(sum(\(hasDuty)), 0), ifnull(sum(\(bytes)), 0), \
      ifnull(sum(iif(\(hasDuty), \(bytes), 0)), 0) FROM tombstones
      """
    ).first { row in (0..<5).map { Int(row.integer(Int32($0))) } }
    guard let counted else { return }
    (totals.tombstones, totals.unconfirmed, totals.duties) = (counted[0], counted[1], counted[2])
    (totals.tombstoneBytes, totals.dutyBytes) = (counted[3], counted[4])
  }
}
