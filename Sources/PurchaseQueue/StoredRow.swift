import PurchaseSQLite

/// A row of `entries` as it was read, before its checksum is verified.
struct StoredEntry {
  var entry: Entry
  var checksum: Int64

  init(_ row: borrowing Row) {
    entry = Entry(
      place: row.integer(0), key: EntryKey(rawValue: row.text(1)), lane: Lane(text: row.text(2)),
      orderNumber: row.optionalText(3), details: row.text(4),
      state: Entry.State(rawValue: row.text(5)) ?? .queued,
      enqueuedAt: Timestamp(milliseconds: row.integer(6)), attempts: Int(row.integer(7)),
      attemptedAt: row.optionalInteger(8).map(Timestamp.init(milliseconds:)),
      readyAt: Timestamp(milliseconds: row.integer(9)), isUnprotected: row.flag(10), proofs: [])
    checksum = row.integer(11)
  }

  /// Over every field that the row stores, in the order of the columns.
  static func checksum(of entry: Entry) -> Int64 {
    let fields: [String] = [
      entry.key.rawValue, entry.lane.text, entry.orderNumber ?? "\u{0}", entry.details, entry.state.rawValue,
      "\(entry.place) \(entry.enqueuedAt.milliseconds) \(entry.attempts)",
      "\(entry.attemptedAt?.milliseconds ?? -1) \(entry.readyAt.milliseconds) \(entry.isUnprotected)",
    ]
    return Checksum.of(Array(fields.joined(separator: "\u{1}").utf8))
  }
}

/// A row of `tombstones` as it was read, before its checksum is verified.
struct StoredTombstone {
  var tombstone: Tombstone
  var checksum: Int64

  init(_ row: borrowing Row) {
    tombstone = Tombstone(
      key: EntryKey(rawValue: row.text(0)), lane: Lane(text: row.text(1)), orderNumber: row.optionalText(2),
      outcome: row.text(3), details: row.text(4), settledAt: Timestamp(milliseconds: row.integer(5)),
      isFinishOwed: row.flag(6), isUnseen: row.flag(7))
    checksum = row.integer(8)
  }

  /// Over every field that the row stores, in the order of the columns.
  static func checksum(of tombstone: Tombstone) -> Int64 {
    let fields: [String] = [
      tombstone.key.rawValue, tombstone.lane.text, tombstone.orderNumber ?? "\u{0}", tombstone.outcome,
      tombstone.details,
      "\(tombstone.settledAt.milliseconds) \(tombstone.isFinishOwed) \(tombstone.isUnseen)",
    ]
    return Checksum.of(Array(fields.joined(separator: "\u{1}").utf8))
  }
}
