import PurchaseSQLite

/// Small named texts in the file.
extension QueueFile {
  /// A named text; nil if there is none, or if it is not what was written.
  package func fact(_ name: String) throws(QueueError) -> String? {
    let found = try read { () throws(SQLiteError) in
      try statements.facts.get.first([.text(name)]) { (value: $0.text(0), checksum: $0.integer(1)) }
    }
    guard let found, found.checksum == RowHash.of(name, found.value) else { return nil }
    return found.value
  }

  /// Writes a named text; in the transaction that is open, if there is one.
  package func setFact(_ name: String, _ value: String) throws(QueueError) {
    try transaction { () throws(QueueError) in
      try self.read { () throws(SQLiteError) in
        try self.statements.facts.set.run([.text(name), .text(value), .integer(RowHash.of(name, value))])
      }
    }
  }
}
