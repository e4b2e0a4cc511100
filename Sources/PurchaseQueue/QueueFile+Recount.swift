import PurchaseSQLite

extension QueueFile {
  /// The last place that was given, as far as that is known without the entries; else 0.
  private func knownLastPlace() throws(QueueError) -> Int64 {
    let counted = try read { () throws(SQLiteError) in try statements.room.totals.first { Totals($0) } }
    let salvaged = try fact(LastPlace.fact).flatMap { Int64($0) }
    return max((counted ?? nil)?.lastPlace ?? 0, salvaged ?? 0)
  }

  /// Counts everything again, and the uses of each proof; inside a transaction. Slow, and needed only after damage.
  func recount() throws(QueueError) {
    let entries = try read { () throws(SQLiteError) in
      try statements.entries.all.all { StoredEntry($0).entry }
    }
    var totals = Totals()
    totals.lastPlace = try knownLastPlace()
    var uses: [Int64: Int64] = [:]
    for entry in entries {
      totals.lastPlace = max(totals.lastPlace, entry.place)
      totals.count(entry, 1)
      for id in entry.proofs.compactMap(\.id) { uses[id, default: 0] += 1 }
    }
    do throws(SQLiteError) {
      let proofs = try connection.prepare("SELECT id, length(bytes), uses FROM proofs").all {
        (id: $0.integer(0), size: Int($0.integer(1)), uses: $0.integer(2))
      }
      for proof in proofs {
        let used = uses[proof.id, default: 0]
        if used == 0 {
          try connection.prepare("DELETE FROM proofs WHERE id=?").run([.integer(proof.id)])
          continue
        }
        totals.bytes += proof.size
        if used != proof.uses {
          try statements.proofs.addToUses.run([.integer(used - proof.uses), .integer(proof.id)])
        }
      }
      let reserved = try connection.prepare("SELECT count(*), ifnull(sum(bytes), 0) FROM reservations").first
      {
        (Int($0.integer(0)), Int($0.integer(1)))
      }
      (totals.reserved, totals.reservedBytes) = reserved ?? (0, 0)
      let buried = try connection.prepare("SELECT count(*), ifnull(sum(unseen), 0) FROM tombstones").first {
        (Int($0.integer(0)), Int($0.integer(1)))
      }
      (totals.tombstones, totals.unseen) = buried ?? (0, 0)
      try QueueSchema.setTotals(totals, in: connection)
    } catch {
      throw QueueError(error, path: path)
    }
  }
}
