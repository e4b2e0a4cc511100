#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The calls that change a queue, inside one durable commit: `DurableQueue.write` and `QueueFile.write`.
///
/// The calls of one body are committed together or not at all. A call that throws `QueueError` has changed nothing; a body
/// that catches the error can go on. What the body throws undoes all of its calls. Valid until the body returns.
public struct QueueWriter {
  let file: QueueFile
  let now: Timestamp

  /// The calls that only read. They see what this body has changed.
  public var reader: QueueReader { QueueReader(file: file, now: now) }

  /// Queues an entry at the end of its lane. An entry that is queued already keeps its lane, details, attempts and place;
  /// a newer payload of a kind replaces the older one. An entry that was settled before is not queued again: the result is
  /// `settled`, and new content needs a new key.
  ///
  /// Throws `queueFull` if capacity is missing even after everything was freed that can be freed without loss, and
  /// `invalid` for a payload longer than `QueueLimits.payloadBytes`.
  @discardableResult
  public func enqueue(_ new: NewEntry) throws(QueueError) -> Enqueued {
    try file.undoable { () throws(QueueError) in try file.enqueue(new, now: now) }
  }

  /// Removes settled entries and leaves a tombstone for each. A key without an entry is skipped: it was settled before.
  ///
  /// A settlement that names the payloads that were sent (`Settlement.init(_:)`) settles only these. If the entry has
  /// got a newer payload since, it stays in its place with the newer payloads, and has no tombstone in the result.
  @discardableResult
  public func acknowledge(_ settlements: [Settlement]) throws(QueueError) -> [Tombstone] {
    try file.undoable { () throws(QueueError) in try file.acknowledge(settlements, now: now) }
  }

  /// Counts an attempt of each entry. Commit it before the send.
  public func recordAttempt(_ keys: [EntryKey]) throws(QueueError) {
    try file.undoable { () throws(QueueError) in try file.recordAttempt(keys, now: now) }
  }

  /// Keeps an entry from being sent before a moment. `deliveries` keeps its lane waiting with it; for `nextReady` the
  /// others of its lane pass it.
  public func postpone(_ key: EntryKey, until: Date, reason: String = "postponed") throws(QueueError) {
    try file.undoable { () throws(QueueError) in
      try file.postpone(key, until: Timestamp(until), reason: reason, now: now)
    }
  }

  /// Moves an entry that cannot be delivered now to quarantine: the others of its lane pass it. Throws `queueFull` if
  /// the quarantine is full; the entry then stays in its lane.
  public func quarantine(_ key: EntryKey, reason: String) throws(QueueError) {
    try file.undoable { () throws(QueueError) in try file.quarantine(key, reason: reason, now: now) }
  }

  /// Releases a quarantined entry to its place in its lane. Throws `queueFull` if the lanes have no capacity.
  public func release(_ key: EntryKey) throws(QueueError) {
    try file.undoable { () throws(QueueError) in try file.release(key, now: now) }
  }

  /// Gives up an entry that is not delivered. Apart from settling, an entry leaves the queue only this way. The person
  /// and the reason stay in the tombstone and in the case file. Nil if the key has no entry.
  @discardableResult
  public func discard(_ key: EntryKey, by person: String, reason: String) throws(QueueError) -> Tombstone? {
    try file.undoable { () throws(QueueError) in try file.discard(key, by: person, reason: reason, now: now) }
  }

  /// Reserves capacity for one entry and for `bytes` bytes of payload. The reservation ends when an entry with its name
  /// is enqueued, when it is cancelled, or at `until`. A second reservation with the same name replaces the first.
  ///
  /// For work that must not begin while its entry would be refused: it throws `queueFull` before.
  public func reserve(_ name: String, bytes: Int = 64 << 10, until: Date) throws(QueueError) {
    try file.undoable { () throws(QueueError) in
      try file.reserve(name, bytes: bytes, until: Timestamp(until), now: now)
    }
  }

  /// Cancels a reservation. An unknown name is fine.
  public func cancelReservation(_ name: String) throws(QueueError) {
    try file.undoable { () throws(QueueError) in try file.cancelReservation(name) }
  }
}
