import PurchaseSQLite

/// Capacity: reserved before a payment, freed without loss, otherwise refused.
extension QueueFile {
  /// Reserves capacity for one entry and for `bytes` bytes of payload. The reservation ends when an entry with its name
  /// is enqueued, when it is cancelled, or at `until`. A second reservation with the same name replaces the first.
  ///
  /// Call it before a payment: it throws `queueFull` while the user has not paid yet. With `displacing`, other
  /// reservations give way to it, the one that ends first before the others.
  package func reserve(
    _ name: String, bytes: Int = 64 << 10, until: Timestamp, displacing: Bool = false, now: Timestamp
  ) throws(QueueError) {
    guard bytes >= 0 else { throw .invalid(what: "a reservation of \(bytes) bytes") }
    // Checked before it is added to anything: a sum could overflow.
    guard bytes <= limits.totalBytes else {
      throw .queueFull(.totalBytes, needed: bytes, allowed: limits.totalBytes)
    }
    guard name.utf8.count <= limits.textBytes else {
      throw .queueFull(.textBytes, needed: name.utf8.count, allowed: limits.textBytes)
    }
    try transaction { () throws(QueueError) in
      var totals = try self.totals()
      try self.consume(name, &totals)
      totals.reserved += 1
      totals.reservedBytes += bytes
      try self.ensureCapacityForDuties(totals)
      if displacing { try self.displaceReservations(&totals) }
      try self.ensureCapacityForEntry(&totals, now: now)
      try self.ensureCapacityForBytes(&totals, now: now)
      let row = totals
      try self.read { () throws(SQLiteError) in
        try self.statements.capacity.insertReservation.run([
          .text(name), .integer(Int64(bytes)), .integer(until.milliseconds),
        ])
        try self.statements.capacity.setTotals.run(row)
      }
    }
  }

  /// Cancels a reservation. An unknown name is fine.
  package func cancelReservation(_ name: String) throws(QueueError) {
    try transaction { () throws(QueueError) in try self.endReservation(name) }
  }

  /// Ends a reservation, inside a transaction. Nil and an unknown name are fine.
  func endReservation(_ name: String?) throws(QueueError) {
    guard let name else { return }
    var totals = try totals()
    guard try consume(name, &totals) else { return }
    let row = totals
    try read { () throws(SQLiteError) in try statements.capacity.setTotals.run(row) }
  }

  /// Ends a reservation; its capacity goes to the entry that names it. False for an unknown name.
  @discardableResult
  func consume(_ name: String?, _ totals: inout Totals) throws(QueueError) -> Bool {
    guard let name else { return false }
    let bytes = try first(statements.capacity.reservation, [.text(name)]) { $0.integer(0) }
    guard let bytes else { return false }
    try run(statements.capacity.deleteReservation, [.text(name)])
    totals.reserved -= 1
    // The row has no checksum: a size that lies frees no more than is reserved.
    totals.reservedBytes -= min(max(Int(bytes), 0), totals.reservedBytes)
    return true
  }

  /// Throws if the tombstones with a duty, which are never removed, take what all tombstones may take. So a finish that
  /// is pending is not lost, the file stays within its limits, and an acknowledgement is never refused.
  func ensureCapacityForDuties(_ totals: Totals) throws(QueueError) {
    guard totals.dutyBytes < limits.tombstoneBytes else {
      throw .queueFull(.tombstoneBytes, needed: totals.dutyBytes, allowed: limits.tombstoneBytes)
    }
  }

  /// Removes expired reservations if the limit of entries is passed; throws if it is still passed then.
  func ensureCapacityForEntry(_ totals: inout Totals, now: Timestamp) throws(QueueError) {
    if totals.taken > limits.entries { try dropExpiredReservations(&totals, now: now) }
    guard totals.taken <= limits.entries else {
      throw .queueFull(.entries, needed: totals.taken, allowed: limits.entries)
    }
  }

  /// If the limit of bytes is passed, removes expired reservations, then replaces the older payloads of the same kind
  /// that the new payload covers; throws if the limit is still passed then.
  func ensureCapacityForBytes(
    replacing covered: [EntryKey] = [], with new: PayloadReference? = nil, _ totals: inout Totals,
    now: Timestamp
  ) throws(QueueError) {
    if totals.takenBytes > limits.totalBytes { try dropExpiredReservations(&totals, now: now) }
    for key in covered where totals.takenBytes > limits.totalBytes {
      guard let new, let old = try entry(key), old.state != .damaged else { continue }
      guard let index = old.payloads.firstIndex(where: { $0.kind == new.kind && $0.id != new.id }) else {
        continue
      }
      var entry = old
      totals.count(entry, -1)
      try drop(entry.payloads[index], &totals)
      entry.payloads[index] = new
      entry.history.append("a newer payload replaces its own, to free capacity", at: now)
      totals.count(entry, 1)
      try run(statements.payloads.addToUses, [.integer(1), .integer(new.id)])
      try write(entry)
    }
    guard totals.takenBytes <= limits.totalBytes else {
      throw .queueFull(.totalBytes, needed: totals.takenBytes, allowed: limits.totalBytes)
    }
  }

  /// Ends reservations until one more fits, the one that ends first before the others. The new one is counted, and has no
  /// row yet.
  private func displaceReservations(_ totals: inout Totals) throws(QueueError) {
    func lacksCapacity() -> Bool {
      totals.taken > limits.entries || totals.takenBytes > limits.totalBytes
    }
    guard lacksCapacity() else { return }
    let names = try read { () throws(SQLiteError) in
      try connection.prepare("SELECT name FROM reservations ORDER BY until, name").all { $0.text(0) }
    }
    for name in names where lacksCapacity() { try consume(name, &totals) }
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
  /// Entries and reservations that count against `QueueLimits.entries`.
  var taken: Int { queued + reserved }
  /// Bytes that count against `QueueLimits.totalBytes`.
  var takenBytes: Int { bytes + reservedBytes }
}
