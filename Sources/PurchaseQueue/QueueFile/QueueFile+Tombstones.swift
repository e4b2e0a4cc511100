import PurchaseSQLite

/// Tombstones: the records of settled entries, and their duties.
extension QueueFile {
  /// The tombstone of a settled entry. A tombstone that does not match its checksum counts as absent. A source
  /// that has not finished it yet delivers the entry again. If it has, an outcome that the app has not confirmed is
  /// lost.
  package func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? {
    let stored = try first(statements.tombstones.byKey, [.text(key.rawValue)]) { StoredTombstone($0) }
    guard let stored else { return nil }
    if stored.isWhole { return stored.tombstone }
    try loseTombstones([key])
    return nil
  }

  /// Tombstones whose finish is pending or whose outcome is unconfirmed, oldest first.
  package func tombstonesWithDuties() throws(QueueError) -> [Tombstone] {
    let stored = try all(statements.tombstones.withDuties) { StoredTombstone($0) }
    let broken = stored.filter { !$0.isWhole }.map(\.tombstone.key)
    if !broken.isEmpty { try loseTombstones(broken) }
    return stored.filter(\.isWhole).map(\.tombstone)
  }

  /// Records that the source knows that the entry is done. Promised soon: after a power cut, the finish is repeated, and
  /// the source takes it twice.
  ///
  /// - Parameter forgetting: Whether the same commit removes the tombstone if that was its last duty.
  package func markFinished(_ key: EntryKey, forgetting: Bool = false) throws(QueueError) {
    try changeDuties(key, forgetting: forgetting) { $0.isFinishPending = false }
    afterCommit { [self] in checkpoint?(.finishCommitted) }
  }

  /// Records that the app has seen the outcome. Promised soon: after a power cut, the outcome is published again, and the app
  /// knows its key.
  ///
  /// - Parameter forgetting: As of `markFinished`.
  package func markConfirmed(_ key: EntryKey, forgetting: Bool = false) throws(QueueError) {
    try changeDuties(key, forgetting: forgetting) { $0.isUnconfirmed = false }
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
    try transaction(.soon) { () throws(QueueError) in
      guard let old = try self.tombstone(key) else { throw QueueError.unknownEntry(key) }
      var tombstone = old
      change(&tombstone)
      guard tombstone != old else { return }
      let changed = tombstone
      let before = try self.totals()
      var totals = before
      let isForgotten = forgetting && !changed.hasDuty
      totals.count(old, -1)
      if !isForgotten { totals.count(changed, 1) }
      let row = totals
      try self.read { () throws(SQLiteError) in
        if isForgotten {
          try self.statements.tombstones.delete.run([.text(key.rawValue)])
        } else {
          try self.statements.tombstones.updateDuties.run([
            .flag(changed.isFinishPending), .flag(changed.isUnconfirmed), .integer(changed.checksum),
            .text(key.rawValue),
          ])
        }
        if row != before { try self.statements.capacity.setTotals.run(row) }
      }
    }
  }
}
