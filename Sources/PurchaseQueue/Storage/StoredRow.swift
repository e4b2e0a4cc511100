import PurchaseSQLite

/// A row of `entries` as it was read, with the result of its checksum.
struct StoredEntry {
  static let columns = """
    place, key, lane, state, ready_at, order_number, attempts, attempted_at, enqueued_at, unprotected, payloads, \
    details, reason, history, notes, checksum
    """
  static let columnCount = 16
  /// The place of each value in a statement.
  static let marks = Array(repeating: "?", count: columnCount).joined(separator: ",")

  var entry: Entry
  /// True if the row matches its checksum.
  var isWhole: Bool

  init(_ row: borrowing Row) {
    let (lane, state, payloads) = (row.text(2), row.text(3), row.text(10))
    let known = Entry.State(rawValue: state)
    entry = Entry(
      place: row.integer(0), key: EntryKey(rawValue: row.text(1)), lane: Lane(rawValue: lane),
      orderNumber: row.optionalText(5), details: row.text(11), state: known ?? .damaged,
      reason: row.optionalText(12), enqueuedAt: Timestamp(milliseconds: row.integer(8)),
      attempts: Int(row.integer(6)),
      attemptedAt: row.optionalInteger(7).map(Timestamp.init(milliseconds:)),
      readyAt: Timestamp(milliseconds: row.integer(4)), isUnprotected: row.flag(9),
      payloads: PayloadReference.list(payloads), history: History(text: row.text(13)),
      notes: row.optionalText(14))
    // Over the stored texts, not over the decoded values.
    isWhole = known != nil && row.integer(15) == entry.checksum(lane: lane, state: state, payloads: payloads)
  }
}

extension Entry {
  /// Over every field that the row stores.
  fileprivate func checksum(lane: String, state: String, payloads: String) -> Int64 {
    var hash = RowHash()
    hash.add(place)
    hash.add(key.rawValue)
    hash.add(lane)
    hash.add(state)
    hash.add(readyAt.milliseconds)
    hash.add(orderNumber)
    hash.add(Int64(attempts))
    hash.add(attemptedAt?.milliseconds)
    hash.add(enqueuedAt.milliseconds)
    hash.add(isUnprotected)
    hash.add(payloads)
    hash.add(details)
    hash.add(reason)
    hash.add(history.text)
    hash.add(notes)
    return hash.value
  }

  /// Every column, the place first.
  var values: [SQLValue] {
    let (lane, state, payloads) = (lane.rawValue, state.rawValue, PayloadReference.text(payloads))
    return [
      .integer(place), .text(key.rawValue), .text(lane), .text(state), .integer(readyAt.milliseconds),
      .text(orderNumber), .integer(Int64(attempts)), .integer(attemptedAt?.milliseconds),
      .integer(enqueuedAt.milliseconds), .flag(isUnprotected), .text(payloads), .text(details), .text(reason),
      .text(history.text), .text(notes), .integer(checksum(lane: lane, state: state, payloads: payloads)),
    ]
  }
}

/// A row of `tombstones` as it was read, with the result of its checksum.
struct StoredTombstone {
  static let columns = """
    key, lane, order_number, outcome, details, enqueued_at, attempts, settled_at, finish_pending, unconfirmed, history, \
    checksum
    """

  var tombstone: Tombstone
  /// True if the row matches its checksum.
  var isWhole: Bool

  init(_ row: borrowing Row) {
    let lane = row.text(1)
    tombstone = Tombstone(
      key: EntryKey(rawValue: row.text(0)), lane: Lane(rawValue: lane), orderNumber: row.optionalText(2),
      outcome: row.text(3), details: row.text(4), enqueuedAt: Timestamp(milliseconds: row.integer(5)),
      attempts: Int(row.integer(6)), settledAt: Timestamp(milliseconds: row.integer(7)),
      isFinishPending: row.flag(8), isUnconfirmed: row.flag(9), history: History(text: row.text(10)))
    isWhole = row.integer(11) == tombstone.checksum(lane: lane)
  }
}

extension Tombstone {
  /// Over every field that the row stores.
  var checksum: Int64 { checksum(lane: lane.rawValue) }

  fileprivate func checksum(lane: String) -> Int64 {
    var hash = RowHash()
    hash.add(key.rawValue)
    hash.add(lane)
    hash.add(orderNumber)
    hash.add(outcome)
    hash.add(details)
    hash.add(enqueuedAt.milliseconds)
    hash.add(Int64(attempts))
    hash.add(settledAt.milliseconds)
    hash.add(isFinishPending)
    hash.add(isUnconfirmed)
    hash.add(history.text)
    return hash.value
  }

  /// Every column.
  var values: [SQLValue] {
    let lane = lane.rawValue
    return [
      .text(key.rawValue), .text(lane), .text(orderNumber), .text(outcome), .text(details),
      .integer(enqueuedAt.milliseconds), .integer(Int64(attempts)), .integer(settledAt.milliseconds),
      .flag(isFinishPending), .flag(isUnconfirmed), .text(history.text), .integer(checksum(lane: lane)),
    ]
  }
}
