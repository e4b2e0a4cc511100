import PurchaseSQLite

/// A payload is stored once, however many entries share it: its number is its checksum.
extension QueueFile {
  /// The bytes of a payload, checked against their checksum.
  ///
  /// Nil if the bytes are not in the file and have to be read from their source: the payload was too long, or this or an
  /// earlier call found its bytes damaged. After damage, the entries that use the payload have it only by reference.
  package func payload(_ reference: PayloadReference) throws(QueueError) -> Payload? {
    guard let id = reference.id else { return nil }
    guard let bytes = try storedBytes(id) else {
      try losePayload(id)
      return nil
    }
    return Payload(kind: reference.kind, bytes: bytes)
  }

  /// Nil if the row is missing or does not match its checksum.
  func storedBytes(_ id: Int64) throws(QueueError) -> [UInt8]? {
    let found = try first(statements.payloads.byID, [.integer(id)]) {
      (checksum: $0.integer(0), bytes: $0.bytes(1))
    }
    guard let found, Checksum.of(found.bytes) == found.checksum else { return nil }
    return found.bytes
  }

  /// Stores the payloads of a new entry and returns their references.
  func store(
    _ payloads: [Payload], covering covered: [EntryKey], _ totals: inout Totals, now: Timestamp
  ) throws(QueueError) -> [PayloadReference] {
    var references: [PayloadReference] = []
    for payload in payloads {
      references.append(try store(payload, covering: covered, &totals, now: now))
    }
    return references.count > 1 ? references.sorted { $0.kind < $1.kind } : references
  }

  private func store(
    _ payload: Payload, covering covered: [EntryKey], _ totals: inout Totals, now: Timestamp
  ) throws(QueueError) -> PayloadReference {
    let size = payload.bytes.count
    guard size <= limits.payloadBytes else {
      return PayloadReference(kind: payload.kind, id: nil, size: size)
    }
    let checksum = Checksum.of(payload.bytes)
    var id = checksum
    while try !insert(payload.bytes, checksum: checksum, at: id) {
      if try stored(id) == payload.bytes {
        try run(statements.payloads.addToUses, [.integer(1), .integer(id)])
        return PayloadReference(kind: payload.kind, id: id, size: size)
      }
      // Other bytes have the same checksum: take the next free number. Never observed, and cheap to handle.
      id &+= 1
    }
    totals.bytes += size
    let reference = PayloadReference(kind: payload.kind, id: id, size: size)
    try ensureCapacityForBytes(replacing: covered, with: reference, &totals, now: now)
    return reference
  }

  /// False if another payload has that number.
  private func insert(_ bytes: [UInt8], checksum: Int64, at id: Int64) throws(QueueError) -> Bool {
    try read { () throws(SQLiteError) in
      try statements.payloads.insert.run([.integer(id), .integer(checksum), .bytes(bytes)])
      return connection.changes > 0
    }
  }

  private func stored(_ id: Int64) throws(QueueError) -> [UInt8]? {
    try first(statements.payloads.byID, [.integer(id)]) { $0.bytes(1) }
  }

  /// Newer payloads replace older ones of their kind; the others stay.
  func exchange(
    _ old: [PayloadReference], for new: [Payload], covering covered: [EntryKey], _ totals: inout Totals,
    now: Timestamp
  ) throws(QueueError) -> [PayloadReference] {
    var references = old
    for payload in new {
      if let index = references.firstIndex(where: { $0.kind == payload.kind }) {
        let older = references[index]
        // Nothing changes for equal bytes, as at every redelivery. Of a payload by reference only the size is known.
        if older.size == payload.bytes.count {
          if let id = older.id {
            if try stored(id) == payload.bytes { continue }
          } else if payload.bytes.count > limits.payloadBytes {
            continue
          }
        }
        // The old payload goes first: at the limit, the new one takes its capacity.
        try drop(older, &totals)
        references.remove(at: index)
      }
      references.append(try store(payload, covering: covered, &totals, now: now))
    }
    return references.sorted { $0.kind < $1.kind }
  }

  /// Removes one use of a payload, and the bytes with the last use.
  func drop(_ reference: PayloadReference, _ totals: inout Totals) throws(QueueError) {
    guard let id = reference.id else { return }
    let wasLast = try read { () throws(SQLiteError) in
      try statements.payloads.deleteUnused.run([.integer(id)])
      if connection.changes > 0 { return true }
      try statements.payloads.addToUses.run([.integer(-1), .integer(id)])
      return false
    }
    if wasLast { totals.bytes -= reference.size }
  }

  /// Removes damaged bytes: the entries that use them have the payload only by reference from now on.
  func losePayload(_ id: Int64) throws(QueueError) {
    try transaction { () throws(QueueError) in
      for var entry in try self.allEntries() where entry.payloads.contains(where: { $0.id == id }) {
        for index in entry.payloads.indices where entry.payloads[index].id == id {
          entry.payloads[index].id = nil
        }
        try self.write(entry)
      }
      try self.read { () throws(SQLiteError) in
        try self.connection.prepare("DELETE FROM payloads WHERE id=?").run([.integer(id)])
      }
      try self.recount()
    }
  }
}
