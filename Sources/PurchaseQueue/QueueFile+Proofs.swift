import PurchaseSQLite

/// Proofs are stored once, however many entries share them.
extension QueueFile {
  func attach(_ proofs: [Proof], to entry: Entry) throws(QueueError) {
    for proof in proofs {
      guard proof.bytes.count <= limits.proofBytes else {
        throw .full(what: "bytes of one proof", needed: proof.bytes.count, limit: limits.proofBytes)
      }
      let id = try store(proof)
      try read { () throws(SQLiteError) in
        try statements.linkProof.run([.integer(entry.place), .text(proof.kind), .integer(id)])
      }
      for old in entry.proofs where old.kind == proof.kind && old.id != id { try dropIfUnused(old) }
    }
  }

  /// The id of the equal proof that is stored already, or of a new one.
  private func store(_ proof: Proof) throws(QueueError) -> Int64 {
    let checksum = Checksum.of(proof.bytes)
    let size = Int64(proof.bytes.count)
    let candidates = try read { () throws(SQLiteError) in
      try statements.proofsByChecksum.all([.integer(checksum), .integer(size)]) {
        ($0.integer(0), $0.bytes(1))
      }
    }
    if let equal = candidates.first(where: { $0.1 == proof.bytes }) { return equal.0 }
    try checkRoom(entries: 0, bytes: proof.bytes.count)
    return try read { () throws(SQLiteError) in
      try statements.insertProof.run([.integer(checksum), .integer(size), .bytes(proof.bytes)])
      let id = connection.lastInsertedRow
      try statements.addToTotals.run([.integer(0), .integer(size)])
      return id
    }
  }

  func dropIfUnused(_ proof: ProofReference) throws(QueueError) {
    try read { () throws(SQLiteError) in
      try statements.deleteProofIfUnused.run([.integer(proof.id)])
      if connection.changes > 0 {
        try statements.addToTotals.run([.integer(0), .integer(Int64(-proof.size))])
      }
    }
  }

  /// Throws `full` if so much more does not fit.
  package func checkRoom(entries: Int = 1, bytes: Int = 0) throws(QueueError) {
    let now = try totals()
    guard now.entries + entries <= limits.entries else {
      throw .full(what: "entries", needed: now.entries + entries, limit: limits.entries)
    }
    guard now.bytes + bytes <= limits.totalBytes else {
      throw .full(what: "bytes of all proofs", needed: now.bytes + bytes, limit: limits.totalBytes)
    }
  }
}
