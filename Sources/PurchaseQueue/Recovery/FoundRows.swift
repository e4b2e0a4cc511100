import PurchaseSQLite

/// The rows of the queue's own tables that were found in a damaged file. A row that matches its checksum is believed,
/// wherever it was found.
struct FoundRows {
  /// How far a row is believed.
  enum Origin {
    /// Its tree leads to it.
    case tree
    /// Its bytes were found on a damaged or lost page: perhaps they are an older copy.
    case remains
  }

  private(set) var entries: [Int64: Entry] = [:]
  /// Rows of entries that do not match their checksum, or did not when they were isolated.
  private(set) var damagedEntries: [Entry] = []
  private(set) var payloads: [Int64: [UInt8]] = [:]
  private(set) var tombstones: [EntryKey: Tombstone] = [:]
  private(set) var facts: [String: String] = [:]
  private(set) var totals: Totals?
  private(set) var reservations: [(name: String, bytes: Int64, until: Int64)] = []
  /// Rows that are lost, by table.
  private(set) var lost: [String: Int] = [:]

  private let decoder: RowDecoder

  init(_ decoder: RowDecoder) { self.decoder = decoder }

  /// Takes a row that the tree of a table leads to.
  mutating func take(_ row: TreeWalk.Row, of table: String) throws(SQLiteError) {
    let isTaken: Bool
    switch table {
    case "entries": isTaken = try takeEntry(row, .tree)
    case "payloads": isTaken = takePayload(row)
    case "tombstones": isTaken = try takeTombstone(row)
    case "facts": isTaken = takeFact(row)
    case "totals": isTaken = try takeTotals(row)
    default: isTaken = takeReservation(row)
    }
    guard !isTaken else { return }
    // A page that is in the wrong place brings rows of another table.
    if try !takeRemains(row) { lost[table, default: 0] += 1 }
  }

  /// Takes a row of any table that was found without a tree, if a checksum shows what it is.
  @discardableResult
  mutating func takeRemains(_ row: TreeWalk.Row) throws(SQLiteError) -> Bool {
    switch (row.values.count, row.rowid) {
    case (StoredEntry.columnCount, _?): try takeEntry(row, .remains)
    case (4, _?): takePayload(row)
    case (12, nil): try takeTombstone(row)
    case (11, _?): try takeTotals(row)
    case (3, nil): takeFact(row)
    default: false
    }
  }

  // MARK: One table each

  private mutating func takeEntry(_ row: TreeWalk.Row, _ origin: Origin) throws(SQLiteError) -> Bool {
    guard let place = row.rowid, row.values.count == StoredEntry.columnCount else { return false }
    guard let stored = try decoder.entry(row.values, place: place) else { return false }
    // A row that was isolated earlier may have the key of another entry.
    if stored.isWhole, stored.entry.state != .damaged {
      if let other = entries[place] {
        if other.key == stored.entry.key, stored.entry.isLater(than: other) { entries[place] = stored.entry }
      } else {
        entries[place] = stored.entry
      }
    } else if origin == .tree {
      damagedEntries.append(stored.entry)
    }
    return true
  }

  private mutating func takePayload(_ row: TreeWalk.Row) -> Bool {
    guard let id = row.rowid, row.values.count == 4, case .integer(let checksum) = row.values[1],
      case .bytes(let bytes) = row.values[3]
    else { return false }
    let sum = Checksum.of(bytes)
    // One of the two is enough: a payload's number is its checksum.
    guard sum == checksum || sum == id else { return false }
    payloads[id] = payloads[id] ?? bytes
    payloads[sum] = payloads[sum] ?? bytes
    return true
  }

  private mutating func takeTombstone(_ row: TreeWalk.Row) throws(SQLiteError) -> Bool {
    guard row.values.count == 12, let stored = try decoder.tombstone(row.values), stored.isWhole else {
      return false
    }
    tombstones[stored.tombstone.key] = tombstones[stored.tombstone.key] ?? stored.tombstone
    return true
  }

  private mutating func takeFact(_ row: TreeWalk.Row) -> Bool {
    guard row.values.count == 3, case .text(let name) = row.values[0], case .text(let value) = row.values[1],
      row.values[2] == .integer(RowHash.of(name, value))
    else { return false }
    facts[name] = facts[name] ?? value
    return true
  }

  private mutating func takeTotals(_ row: TreeWalk.Row) throws(SQLiteError) -> Bool {
    guard row.values.count == Int(CapacityStatements.columnCount) + 1,
      let found = try decoder.totals(Array(row.values.dropFirst()))
    else {
      return false
    }
    totals = totals ?? found
    return true
  }

  private mutating func takeReservation(_ row: TreeWalk.Row) -> Bool {
    guard row.values.count == 3, case .text(let name) = row.values[0],
      case .integer(let bytes) = row.values[1],
      case .integer(let until) = row.values[2], (0...Int64(Int32.max)).contains(bytes)
    else { return false }
    if !reservations.contains(where: { $0.name == name }) { reservations.append((name, bytes, until)) }
    return true
  }

  // MARK: What is kept

  /// Drops older copies: of entries that were settled since, and of entries that were queued again since. An update of a
  /// settled entry, and the row that replaced a damaged one, have a later place.
  mutating func dropOlderCopies() {
    for (place, entry) in entries where tombstones[entry.key]?.enqueuedAt == entry.enqueuedAt {
      entries[place] = nil
    }
    var last: [EntryKey: Int64] = [:]
    for (place, entry) in entries { last[entry.key] = max(place, last[entry.key] ?? place) }
    entries = entries.filter { last[$0.value.key] == $0.key }
  }

  /// The last place that was given, as far as rows that match their checksum have it.
  var lastPlace: Int64 {
    let noted = facts[LastPlace.fact].flatMap { Int64($0) } ?? 0
    return max(totals?.lastPlace ?? 0, noted, entries.keys.max() ?? 0)
  }

  /// The rows of the new file. A damaged row is kept, unless its key has a whole one, but not delivered: it gets a place
  /// behind the others if its own is taken or a lie.
  func placed() -> [Entry] {
    var all = entries
    var names = Set(entries.values.map(\.key))
    var last = lastPlace
    for damaged in damagedEntries where names.insert(damaged.key).inserted {
      var entry = damaged
      entry.state = .damaged
      entry.reason = "the row does not match its checksum"
      if entry.place < 1 || entry.place > last || all[entry.place] != nil {
        guard last < .max else { continue }
        last += 1
        entry.place = last
      }
      all[entry.place] = entry
    }
    return all.sorted { $0.key < $1.key }.map(\.value)
  }
}

extension Entry {
  /// Of two whole rows of one entry, the one with the later event is the newer.
  fileprivate func isLater(than other: Entry) -> Bool {
    let (mine, its) = (
      history.events.last?.at.milliseconds ?? 0, other.history.events.last?.at.milliseconds ?? 0
    )
    return (mine, Int64(attempts)) > (its, Int64(other.attempts))
  }
}
