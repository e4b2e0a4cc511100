import PurchaseSQLite

/// Writes the rows of a recovery into a new file, so that nothing in it contradicts anything else: each entry refers to
/// payloads that are there, each payload counts its uses, and the totals are counted.
struct SalvagedRows {
  private(set) var entries = 0
  private(set) var tombstones = 0
  private(set) var losses: [String]
  /// How many entries are known to be lost; nil if the count of them is lost too.
  private(set) var lostEntries: Int?

  private static let mostLosses = 20

  /// Call it in a transaction.
  init(_ recovery: Recovery, in fresh: borrowing Connection) throws(SQLiteError) {
    losses = recovery.losses
    var totals = Totals()
    totals.lastPlace = recovery.rows.lastPlace
    try write(recovery.rows, &totals, in: fresh)
    for companion in recovery.companions { try write(companion, in: fresh) }
    for part in recovery.parts { try add(part, to: fresh) }
    let items = try fresh.prepare(SchemaText.select).all { SchemaText.item($0) }
    try SchemaNotes.write(SchemaText.note(of: SchemaText.others(items)), fresh)
    try writeBooks(recovery.rows, totals, in: fresh)
    try QueueSchema.setTotals(totals, in: fresh)
    if losses.count > Self.mostLosses {
      losses = losses.prefix(Self.mostLosses) + ["and \(losses.count - Self.mostLosses) more"]
    }
  }

  // MARK: Our tables

  private mutating func write(
    _ rows: FoundRows, _ totals: inout Totals, in fresh: borrowing Connection
  ) throws(SQLiteError) {
    let statements = QueueStatements(fresh)
    var uses: [Int64: Int64] = [:]
    var lostPayloads = 0
    for var entry in rows.placed() {
      for (index, reference) in entry.payloads.enumerated() {
        guard let id = reference.id else { continue }
        if rows.payloads[id]?.count == reference.size {
          uses[id, default: 0] += 1
        } else {
          entry.payloads[index].id = nil
          lostPayloads += 1
        }
      }
      try statements.entries.insert.run(entry.values)
      totals.count(entry, 1)
      totals.lastPlace = max(totals.lastPlace, entry.place)
      entries += 1
    }
    if lostPayloads > 0 { losses.append("\(lostPayloads) payloads: their entries have them by reference") }
    let payload = try fresh.prepare("INSERT INTO payloads(id, checksum, uses, bytes) VALUES(?,?,?,?)")
    for (id, count) in uses.sorted(by: { $0.key < $1.key }) {
      guard let bytes = rows.payloads[id] else { continue }
      try payload.run([.integer(id), .integer(Checksum.of(bytes)), .integer(count), .bytes(bytes)])
      totals.bytes += bytes.count
    }
    for tombstone in rows.tombstones.values.sorted(by: { EntryKey.isBefore($0.key, $1.key) }) {
      try statements.tombstones.insert.run(tombstone.values)
      totals.count(tombstone, 1)
      tombstones += 1
    }
    var facts = rows.facts
    // Places up to this one are never given again, even if the totals are lost as well.
    facts[LastPlace.fact] = String(rows.lastPlace)
    for (name, value) in facts.sorted(by: { $0.key < $1.key }) {
      try statements.facts.set.run([.text(name), .text(value), .integer(RowHash.of(name, value))])
    }
    for row in rows.reservations {
      try statements.capacity.insertReservation.run([
        .text(row.name), .integer(row.bytes), .integer(row.until),
      ])
      totals.reserved += 1
      totals.reservedBytes += Int(row.bytes)
    }
  }

  /// The totals of the damaged file say how many entries there were. Without them the books begin at zero.
  private mutating func writeBooks(
    _ rows: FoundRows, _ totals: Totals, in fresh: borrowing Connection
  ) throws(SQLiteError) {
    let known = rows.facts[StoredBooks.fact].flatMap { StoredBooks($0) }
    var books = known ?? StoredBooks()
    if let before = rows.totals, known != nil || rows.lost["facts", default: 0] == 0 {
      let lostBefore = books.lost
      books.recounted(from: before, to: totals)
      lostEntries = books.lost - lostBefore
    } else {
      books = .restarted(at: totals, after: books.restarts)
    }
    guard books != known ?? StoredBooks() else { return }
    let (name, value) = (StoredBooks.fact, books.text)
    try QueueStatements(fresh).facts.set.run([.text(name), .text(value), .integer(RowHash.of(name, value))])
  }

  // MARK: Tables of other modules

  private mutating func write(
    _ companion: Recovery.Companion, in fresh: borrowing Connection
  ) throws(SQLiteError) {
    guard try add(companion.sql, to: fresh) else { return }
    let columns = try fresh.prepare("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid").all([
      .text(companion.name)
    ]) { (name: $0.text(0), key: $0.integer(1)) }
    let isWithout = SchemaText.isWithoutRowid(companion.sql)
    // In a table WITHOUT ROWID, the record begins with the key.
    let keys = columns.filter { $0.key > 0 }.sorted { $0.key < $1.key }
    let stored = isWithout ? keys + columns.filter { $0.key == 0 } : columns
    let names = stored.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let marks = stored.map { _ in "?" }.joined(separator: ",")
    let insert = try fresh.prepare("INSERT OR IGNORE INTO \"\(companion.name)\"(\(names)) VALUES(\(marks))")
    var lost = 0
    for row in companion.rows {
      guard row.values.count == stored.count else {
        lost += 1
        continue
      }
      var values = row.values
      // The number of the row stands for its INTEGER PRIMARY KEY.
      if let rowid = row.rowid, keys.count == 1, let index = stored.firstIndex(where: { $0.key == 1 }),
        values[index] == .null
      {
        values[index] = .integer(rowid)
      }
      do throws(SQLiteError) {
        try insert.run(values)
        if fresh.changes == 0 { lost += 1 }
      } catch  where error.code.primary == .constraint {
        // A damaged value has another type.
        lost += 1
      }
    }
    if lost > 0 { losses.append("\(lost) rows of \(companion.name)") }
  }

  /// False if the text cannot be run: it belongs to something that is lost, or rows contradict it.
  @discardableResult
  private mutating func add(_ sql: String, to fresh: borrowing Connection) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      try fresh.execute(sql)
      return true
    } catch  where error.code.primary == .constraint || error.code.primary == .error {
      losses.append(Redaction.line(sql))
      return false
    }
  }
}
