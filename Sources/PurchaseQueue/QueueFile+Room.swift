import PurchaseSQLite

/// The cap: room is reserved before anyone pays, made without loss, and otherwise refused.
extension QueueFile {
  /// Reserves room for one entry with a proof of so many bytes, until it is enqueued with this reservation's name,
  /// the reservation is cancelled, or the time is over. Reserving again under the same name replaces it.
  ///
  /// To be called before anyone pays: throws `queueFull` while nothing has happened yet.
  public func reserve(
    _ name: String, bytes: Int = 64 << 10, until: Timestamp, now: Timestamp
  ) throws(QueueError) {
    guard bytes >= 0 else { throw .invalid(what: "a reservation of \(bytes) bytes") }
    // Before anything is added to it: a sum could overflow.
    guard bytes <= limits.totalBytes else {
      throw .queueFull(.totalBytes, needed: bytes, allowed: limits.totalBytes)
    }
    try transaction { () throws(QueueError) in
      var totals = try self.totals()
      try self.consume(name, &totals)
      totals.reserved += 1
      totals.reservedBytes += bytes
      try self.makeRoomForEntry(&totals, now: now)
      try self.makeRoomForBytes(&totals, now: now)
      let row = totals
      try self.read { () throws(SQLiteError) in
        try self.statements.room.insertReservation.run([
          .text(name), .integer(Int64(bytes)), .integer(until.milliseconds),
        ])
        try self.statements.room.setTotals.run(row.values)
      }
    }
  }

  /// Gives the room back; an unknown name is fine.
  public func cancelReservation(_ name: String) throws(QueueError) {
    try transaction { () throws(QueueError) in
      var totals = try self.totals()
      try self.consume(name, &totals)
      let row = totals
      try self.read { () throws(SQLiteError) in try self.statements.room.setTotals.run(row.values) }
    }
  }

  /// Ends a reservation, whose room is then its holder's.
  func consume(_ name: String?, _ totals: inout Totals) throws(QueueError) {
    guard let name else { return }
    let bytes = try read { () throws(SQLiteError) in
      try statements.room.reservation.first([.text(name)]) { $0.integer(0) }
    }
    guard let bytes else { return }
    try read { () throws(SQLiteError) in try statements.room.deleteReservation.run([.text(name)]) }
    totals.reserved -= 1
    totals.reservedBytes -= Int(bytes)
  }

  /// Throws if there are more entries than allowed, even without the reservations whose time is over.
  func makeRoomForEntry(_ totals: inout Totals, now: Timestamp) throws(QueueError) {
    if totals.taken > limits.entries { try dropExpiredReservations(&totals, now: now) }
    guard totals.taken <= limits.entries else {
      throw .queueFull(.entries, needed: totals.taken, allowed: limits.entries)
    }
  }

  /// Throws if there are more bytes than allowed, even without the reservations whose time is over, and after the
  /// new proof stands in for older ones of its kind that it covers.
  func makeRoomForBytes(
    replacing covered: [EntryKey] = [], with new: ProofReference? = nil, _ totals: inout Totals,
    now: Timestamp
  ) throws(QueueError) {
    if totals.takenBytes > limits.totalBytes { try dropExpiredReservations(&totals, now: now) }
    for key in covered where totals.takenBytes > limits.totalBytes {
      guard let new, let old = try entry(key), old.state != .damaged else { continue }
      guard let index = old.proofs.firstIndex(where: { $0.kind == new.kind && $0.id != new.id }) else {
        continue
      }
      var entry = old
      totals.count(entry, -1)
      try drop(entry.proofs[index], &totals)
      entry.proofs[index] = new
      entry.history.append("a newer proof stands in for its own, to make room", at: now)
      totals.count(entry, 1)
      try read { () throws(SQLiteError) in
        try statements.proofs.addToUses.run([.integer(1), .integer(new.id)])
      }
      try write(entry)
    }
    guard totals.takenBytes <= limits.totalBytes else {
      throw .queueFull(.totalBytes, needed: totals.takenBytes, allowed: limits.totalBytes)
    }
  }

  private func dropExpiredReservations(_ totals: inout Totals, now: Timestamp) throws(QueueError) {
    guard totals.reserved > 0 else { return }
    let expired = try read { () throws(SQLiteError) in
      try connection.prepare("SELECT name FROM reservations WHERE until<=?").all([.integer(now.milliseconds)])
      {
        $0.text(0)
      }
    }
    for name in expired { try consume(name, &totals) }
  }
}

extension Totals {
  /// What counts against `QueueLimits.entries`.
  var taken: Int { queued + reserved + unseen }
  /// What counts against `QueueLimits.totalBytes`.
  var takenBytes: Int { bytes + reservedBytes }
}
