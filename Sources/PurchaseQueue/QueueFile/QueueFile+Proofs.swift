import PurchaseSQLite

/// A proof is stored once, however many entries share it: its number is its checksum.
extension QueueFile {
  /// The bytes of a proof, checked against their checksum.
  ///
  /// Nil if the bytes are not in the file and have to be read from their source: the proof was too long, or this or an
  /// earlier call found its bytes damaged. After damage, the entries that use the proof have it only by reference.
  public func proof(_ reference: ProofReference) throws(QueueError) -> Proof? {
    guard let id = reference.id else { return nil }
    guard let bytes = try storedBytes(id) else {
      try loseProof(id)
      return nil
    }
    return Proof(kind: reference.kind, bytes: bytes)
  }

  /// Nil if the row is missing or does not match its checksum.
  func storedBytes(_ id: Int64) throws(QueueError) -> [UInt8]? {
    let found = try read { () throws(SQLiteError) in
      try statements.proofs.byID.first([.integer(id)]) { (checksum: $0.integer(0), bytes: $0.bytes(1)) }
    }
    guard let found, Checksum.of(found.bytes) == found.checksum else { return nil }
    return found.bytes
  }

  /// Stores the proofs of a new entry and returns their references.
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
      // Other bytes have the same checksum: take the next free number. Never observed, and cheap to handle.
      id &+= 1
    }
    totals.bytes += size
    let reference = ProofReference(kind: proof.kind, id: id, size: size)
    try ensureCapacityForBytes(replacing: covered, with: reference, &totals, now: now)
    return reference
  }

  /// False if another proof has that number.
  private func insert(_ bytes: [UInt8], checksum: Int64, at id: Int64) throws(QueueError) -> Bool {
    try read { () throws(SQLiteError) in
      try statements.proofs.insert.run([.integer(id), .integer(checksum), .bytes(bytes)])
      return connection.changes > 0
    }
  }

  private func stored(_ id: Int64) throws(QueueError) -> [UInt8]? {
    try read { () throws(SQLiteError) in try statements.proofs.byID.first([.integer(id)]) { $0.bytes(1) } }
  }

  /// Newer proofs replace older ones of their kind; the others stay.
  func exchange(
    _ old: [ProofReference], for new: [Proof], covering covered: [EntryKey], _ totals: inout Totals,
    now: Timestamp
  ) throws(QueueError) -> [ProofReference] {
    var references = old
    for proof in new {
      if let index = references.firstIndex(where: { $0.kind == proof.kind }) {
        let older = references[index]
        // Nothing changes for equal bytes, as at every redelivery, and for a proof that is too long to store.
        if older.size == proof.bytes.count, let id = older.id, try stored(id) == proof.bytes { continue }
        guard proof.bytes.count <= limits.proofBytes else { continue }
        // The old proof goes first: at the limit, the new one takes its capacity.
        try drop(older, &totals)
        references.remove(at: index)
      }
      references.append(try store(proof, covering: covered, &totals, now: now))
    }
    return references.sorted { $0.kind < $1.kind }
  }

  /// Removes one use of a proof, and the bytes with the last use.
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

  /// Removes damaged bytes: the entries that use them have the proof only by reference from now on.
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
