import PurchaseSQLite

/// The checksums of other modules' schema, kept among the facts. Twice, so that a flipped bit in one leaves the other.
enum SchemaNotes {
  /// Those that match their checksum.
  static func read(_ connection: borrowing Connection) throws(SQLiteError) -> [String] {
    let names = SchemaText.facts.map(SQLValue.text)
    return try connection.prepare("SELECT name, value, checksum FROM facts WHERE name IN (?,?)").all(names) {
      $0.integer(2) == RowHash.of($0.text(0), $0.text(1)) ? $0.text(1) : nil
    }.compactMap { $0 }
  }

  /// Call it in a transaction that makes tables, or without one.
  static func write(_ note: String, _ connection: borrowing Connection) throws(SQLiteError) {
    let begins = !connection.isInTransaction
    if begins { try connection.execute("BEGIN IMMEDIATE") }
    let set = try connection.prepare("INSERT OR REPLACE INTO facts(name, value, checksum) VALUES(?,?,?)")
    for name in SchemaText.facts {
      try set.run([.text(name), .text(note), .integer(RowHash.of(name, note))])
    }
    if begins { try connection.execute("COMMIT") }
  }
}

extension QueueFile {
  /// Whether the tables and indexes of another module with these names are there, and noted. Changes nothing.
  package func hasNoted(_ names: [String]) throws(QueueError) -> Bool {
    try read { () throws(SQLiteError) in
      let all = try connection.prepare(SchemaText.select).all { SchemaText.item($0) }
      let items = SchemaText.others(all)
      let note = SchemaText.note(of: items)
      guard try SchemaNotes.read(connection) == [note, note] else { return false }
      return Set(items.map(\.name)).isSuperset(of: names)
    }
  }

  /// Notes the checksums of the schema of other modules. Call it in the transaction that changes that schema.
  package func noteSchema() throws(QueueError) {
    try read { () throws(SQLiteError) in
      let items = try connection.prepare(SchemaText.select).all { SchemaText.item($0) }
      let note = SchemaText.note(of: SchemaText.others(items))
      guard try SchemaNotes.read(connection) != [note, note] else { return }
      try SchemaNotes.write(note, connection)
    }
  }
}
