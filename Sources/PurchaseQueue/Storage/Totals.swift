import PurchaseSQLite

/// Counts that are stored in one row, because counting rows takes 9 ms at 10,000 entries.
struct Totals: Hashable, Sendable {
  var lastPlace: Int64 = 0
  /// Entries in their lanes.
  var queued = 0
  /// Bytes of all proofs in the file.
  var bytes = 0
  /// Entries in quarantine, and damaged ones.
  var quarantined = 0
  /// Bytes of their proofs; a shared proof counts for each entry.
  var quarantinedBytes = 0
  var reserved = 0
  var reservedBytes = 0
  var tombstones = 0
  /// Tombstones whose outcome is unseen.
  var unseen = 0

  private var fields: [Int64] {
    [
      lastPlace, Int64(queued), Int64(bytes), Int64(quarantined), Int64(quarantinedBytes), Int64(reserved),
      Int64(reservedBytes), Int64(tombstones), Int64(unseen),
    ]
  }

  /// The columns and their checksum.
  var values: [SQLValue] { fields.map { .integer($0) } + [.integer(RowHash.of(fields))] }

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
    unseen = Int(row.integer(8))
    guard row.integer(9) == RowHash.of(fields) else { return nil }
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

extension Entry {
  /// Bytes of its proofs in the file; shared proofs count fully.
  var storedBytes: Int { proofs.reduce(0) { $0 + ($1.isByReference ? 0 : $1.size) } }
}
