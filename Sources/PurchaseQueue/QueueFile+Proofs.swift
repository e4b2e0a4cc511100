import PurchaseSQLite

/// Proofs are stored once, however many entries share them: a proof's number is its checksum.
extension QueueFile {
  /// The bytes of a proof, checked against their checksum.
  ///
  /// Nil if they are not in the file and have to be read from their source: the proof was too long, or its bytes were
  /// found damaged, by this call or before. In the latter case the entries that use it know it only by reference
  /// from now on.
  public func proof(_ reference: ProofReference) throws(QueueError) -> Proof? {
    guard let id = reference.id else { return nil }
    guard let bytes = try storedBytes(id) else {
      try loseProof(id)
      return nil
    }
    return Proof(kind: reference.kind, bytes: bytes)
  }

  /// Nil if the row is missing, or is not what was written.
  func storedBytes(_ id: Int64) throws(QueueError) -> [UInt8]? {
    let found = try read { () throws(SQLiteError) in
      try statements.proofs.byID.first([.integer(id)]) { (checksum: $0.integer(0), bytes: $0.bytes(1)) }
    }
    guard let found, Checksum.of(found.bytes) == found.checksum else { return nil }
    return found.bytes
  }

  /// Stores the proofs of a new entry and returns what its row says of them.
  func store(
    _ proofs: [Proof], covering covered: [EntryKey], _ totals: inout Totals, now: Timestamp
  ) throws(QueueError) -> [ProofReference] {
    var references: [ProofReference] = []
    for proof in proofs {
      references.append(try store(proof, covering: covered, &totals, now: now))
    }
    return references.count > 1 ? references.sorted { $0.kind < $1.kind } : references
  }

  private func store(
    _ proof: Proof, covering covered: [EntryKey], _ totals: inout Totals, now: Timestamp
  ) throws(QueueError) -> ProofReference {
    let size = proof.bytes.count
    guard size <= limits.proofBytes else { return ProofReference(kind: proof.kind, id: nil, size: size) }
    let checksum = Checksum.of(proof.bytes)
    var id = checksum
    while try !insert(proof.bytes, checksum: checksum, at: id) {
      if try stored(id) == proof.bytes {
        try read { () throws(SQLiteError) in try statements.proofs.addToUses.run([.integer(1), .integer(id)])
        }
        return ProofReference(kind: proof.kind, id: id, size: size)
      }
      // Other bytes with the same checksum: the next number that is free. Never seen, and cheap to be right about.
      id &+= 1
    }
    totals.bytes += size
    let reference = ProofReference(kind: proof.kind, id: id, size: size)
    try makeRoomForBytes(replacing: covered, with: reference, &totals, now: now)
    return reference
  }

  /// False if that number is taken.
  private func insert(_ bytes: [UInt8], checksum: Int64, at id: Int64) throws(QueueError) -> Bool {
    try read { () throws(SQLiteError) in
      try statements.proofs.insert.run([.integer(id), .integer(checksum), .bytes(bytes)])
      return connection.changes > 0
    }
  }

  private func stored(_ id: Int64) throws(QueueError) -> [UInt8]? {
    try read { () throws(SQLiteError) in try statements.proofs.byID.first([.integer(id)]) { $0.bytes(1) } }
  }

  /// Newer proofs take the place of older ones of their kind; the others stay.
  func exchange(
    _ old: [ProofReference], for new: [Proof], covering covered: [EntryKey], _ totals: inout Totals,
    now: Timestamp
  ) throws(QueueError) -> [ProofReference] {
    var references = old
    for proof in new {
      if let index = references.firstIndex(where: { $0.kind == proof.kind }) {
        let older = references[index]
        // The same bytes again, as at every redelivery; or more than can be kept: nothing changes.
        if older.size == proof.bytes.count, let id = older.id, try stored(id) == proof.bytes { continue }
        guard proof.bytes.count <= limits.proofBytes else { continue }
        // The old one goes first: at the cap, its room is the new one's.
        try drop(older, &totals)
        references.remove(at: index)
      }
      references.append(try store(proof, covering: covered, &totals, now: now))
    }
    return references.sorted { $0.kind < $1.kind }
  }

  /// One use less; the last one takes the bytes with it.
  func drop(_ reference: ProofReference, _ totals: inout Totals) throws(QueueError) {
    guard let id = reference.id else { return }
    let wasLast = try read { () throws(SQLiteError) in
      try statements.proofs.deleteUnused.run([.integer(id)])
      if connection.changes > 0 { return true }
      try statements.proofs.addToUses.run([.integer(-1), .integer(id)])
      return false
    }
    if wasLast { totals.bytes -= reference.size }
  }

  /// The bytes are not what was written: whoever uses them has to get them from their source again.
  func loseProof(_ id: Int64) throws(QueueError) {
    try transaction { () throws(QueueError) in
      for var entry in try self.allEntries() where entry.proofs.contains(where: { $0.id == id }) {
        for index in entry.proofs.indices where entry.proofs[index].id == id { entry.proofs[index].id = nil }
        try self.write(entry)
      }
      try self.read { () throws(SQLiteError) in
        try self.connection.prepare("DELETE FROM proofs WHERE id=?").run([.integer(id)])
      }
      try self.recount()
    }
  }
}
