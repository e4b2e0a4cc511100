import PurchaseSQLite

/// A row of `entries` as it was read, before its checksum is verified.
struct StoredEntry {
  static let columns = """
    place, key, lane, state, ready_at, order_number, attempts, attempted_at, enqueued_at, unprotected, proofs, \
    details, reason, history, checksum
    """

  var entry: Entry
  /// True if the row is what was written.
  var isWhole: Bool

  init(_ row: borrowing Row) {
    let state = Entry.State(rawValue: row.text(3))
    entry = Entry(
      place: row.integer(0), key: EntryKey(rawValue: row.text(1)), lane: Lane(text: row.text(2)),
      orderNumber: row.optionalText(5), details: row.text(11), state: state ?? .damaged,
      reason: row.optionalText(12), enqueuedAt: Timestamp(milliseconds: row.integer(8)),
      attempts: Int(row.integer(6)),
      attemptedAt: row.optionalInteger(7).map(Timestamp.init(milliseconds:)),
      readyAt: Timestamp(milliseconds: row.integer(4)), isUnprotected: row.flag(9),
      proofs: ProofReference.list(row.text(10)), history: History(text: row.text(13)))
    isWhole = state != nil && row.integer(14) == entry.checksum
  }
}

extension Entry {
  /// Over every field that the row stores.
  var checksum: Int64 {
    var hash = RowHash()
    hash.add(place)
    hash.add(key.rawValue)
    hash.add(lane.text)
    hash.add(state.rawValue)
    hash.add(readyAt.milliseconds)
    hash.add(orderNumber)
    hash.add(Int64(attempts))
    hash.add(attemptedAt?.milliseconds)
    hash.add(enqueuedAt.milliseconds)
    hash.add(isUnprotected)
    hash.add(ProofReference.text(proofs))
    hash.add(details)
    hash.add(reason)
    hash.add(history.text)
    return hash.value
  }

  /// Every column, the place first.
  var values: [SQLValue] {
    [
      .integer(place), .text(key.rawValue), .text(lane.text), .text(state.rawValue),
      .integer(readyAt.milliseconds), .text(orderNumber), .integer(Int64(attempts)),
      .integer(attemptedAt?.milliseconds), .integer(enqueuedAt.milliseconds), .flag(isUnprotected),
      .text(ProofReference.text(proofs)), .text(details), .text(reason), .text(history.text),
      .integer(checksum),
    ]
  }
}

/// A row of `tombstones` as it was read, before its checksum is verified.
struct StoredTombstone {
  static let columns = """
    key, lane, order_number, outcome, details, enqueued_at, attempts, settled_at, finish_owed, unseen, history, \
    checksum
    """

  var tombstone: Tombstone
  /// True if the row is what was written.
  var isWhole: Bool

  init(_ row: borrowing Row) {
    tombstone = Tombstone(
      key: EntryKey(rawValue: row.text(0)), lane: Lane(text: row.text(1)), orderNumber: row.optionalText(2),
      outcome: row.text(3), details: row.text(4), enqueuedAt: Timestamp(milliseconds: row.integer(5)),
      attempts: Int(row.integer(6)), settledAt: Timestamp(milliseconds: row.integer(7)),
      isFinishOwed: row.flag(8), isUnseen: row.flag(9), history: History(text: row.text(10)))
    isWhole = row.integer(11) == tombstone.checksum
  }
}

extension Tombstone {
  /// Over every field that the row stores.
  var checksum: Int64 {
    var hash = RowHash()
    hash.add(key.rawValue)
    hash.add(lane.text)
    hash.add(orderNumber)
    hash.add(outcome)
    hash.add(details)
    hash.add(enqueuedAt.milliseconds)
    hash.add(Int64(attempts))
    hash.add(settledAt.milliseconds)
    hash.add(isFinishOwed)
    hash.add(isUnseen)
    hash.add(history.text)
    return hash.value
  }

  /// Every column.
  var values: [SQLValue] {
    [
      .text(key.rawValue), .text(lane.text), .text(orderNumber), .text(outcome), .text(details),
      .integer(enqueuedAt.milliseconds), .integer(Int64(attempts)), .integer(settledAt.milliseconds),
      .flag(isFinishOwed), .flag(isUnseen), .text(history.text), .integer(checksum),
    ]
  }
}
