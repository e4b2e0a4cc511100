import PurchaseSQLite

/// Counts that are stored in one row, because counting rows takes 9 ms at 10,000 entries.
struct Totals: Hashable, Sendable {
  var lastPlace: Int64 = 0
  /// Entries in their lanes.
  var queued = 0
  /// Bytes of all payloads in the file.
  var bytes = 0
  /// Entries in quarantine, and damaged ones.
  var quarantined = 0
  /// Bytes of their payloads; a shared payload counts for each entry.
  var quarantinedBytes = 0
  var reserved = 0
  var reservedBytes = 0
  var tombstones = 0
  /// Tombstones whose outcome is unconfirmed. They take no capacity of entries.
  var unconfirmed = 0
  /// Tombstones with a duty.
  var duties = 0
  /// Bytes of all tombstones.
  var tombstoneBytes = 0
  /// Bytes of the tombstones with a duty.
  var dutyBytes = 0

  private var fields: [Int64] {
    [
      lastPlace, Int64(queued), Int64(bytes), Int64(quarantined), Int64(quarantinedBytes), Int64(reserved),
      Int64(reservedBytes), Int64(tombstones), Int64(unconfirmed), Int64(duties),
      Int64(tombstoneBytes), Int64(dutyBytes),
    ]
  }

  /// The columns and their checksum.
  var values: [SQLValue] {
    let fields = fields
    return (fields + [RowHash.of(fields)]).map { .integer($0) }
  }

  init() {}

  /// From the row; nil if it does not match its checksum.
  init?(_ row: borrowing Row) {
    lastPlace = row.integer(0)
    queued = Int(row.integer(1))
    bytes = Int(row.integer(2))
    quarantined = Int(row.integer(3))
    quarantinedBytes = Int(row.integer(4))
    reserved = Int(row.integer(5))
    reservedBytes = Int(row.integer(6))
    tombstones = Int(row.integer(7))
    unconfirmed = Int(row.integer(8))
    duties = Int(row.integer(9))
    tombstoneBytes = Int(row.integer(10))
    dutyBytes = Int(row.integer(11))
    guard row.integer(12) == RowHash.of(fields) else { return nil }
  }

  /// Adds an entry to the counts (`sign` 1) or removes it (-1).
  mutating func count(_ entry: Entry, _ sign: Int) {
    switch entry.state {
    case .queued: queued += sign
    case .quarantined, .damaged:
      quarantined += sign
      quarantinedBytes += sign * entry.storedBytes
    }
  }
}

extension Totals {
  /// Adds a tombstone to the counts (`sign` 1) or removes it (-1).
  mutating func count(_ tombstone: Tombstone, _ sign: Int) {
    let bytes = sign * tombstone.storedBytes
    tombstones += sign
    tombstoneBytes += bytes
    if tombstone.isUnconfirmed { unconfirmed += sign }
    guard tombstone.hasDuty else { return }
    duties += sign
    dutyBytes += bytes
  }
}

extension Tombstone {
  /// What a row takes apart from its texts.
  static let rowBytes = 128

  /// Whether it has to be finished at its source, or confirmed by the app.
  var hasDuty: Bool { isFinishPending || isUnconfirmed }

  /// Bytes of its texts and of its row. The key counts twice: an index has it too.
  var storedBytes: Int {
    Self.rowBytes + 2 * key.rawValue.utf8.count + lane.rawValue.utf8.count + (orderNumber?.utf8.count ?? 0)
      + outcome.utf8.count + details.utf8.count + history.text.utf8.count
  }
}

extension Entry {
  /// Bytes of its payloads in the file; shared payloads count fully.
  var storedBytes: Int { payloads.reduce(0) { $0 + ($1.isByReference ? 0 : $1.size) } }
}
