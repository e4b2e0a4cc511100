#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The calls that read a queue: `DurableQueue.read` and `QueueFile.read`, and `QueueWriter.reader` inside a commit.
///
/// Every call throws `QueueError`. A row that does not match its checksum is isolated; the other rows stay readable.
/// Between two calls another process may change the file. Valid until the body returns.
public struct QueueReader {
  let file: QueueFile
  let now: Timestamp

  /// The entry with that key, if it is queued, quarantined or damaged.
  public func entry(_ key: EntryKey) throws(QueueError) -> Entry? { try file.entry(key) }

  /// The first queued entry of a lane, postponed or not, with the bytes of its payloads. A payload that is not in the
  /// file (`PayloadReference.isByReference`) is left out. In constant time.
  public func peek(_ lane: Lane) throws(QueueError) -> (entry: Entry, payloads: [Payload])? {
    try file.peek(lane)
  }

  /// The first queued entries of a lane in order, at most `limit`.
  public func entries(in lane: Lane, limit: Int = 100) throws(QueueError) -> [Entry] {
    try file.entries(in: lane, limit: limit)
  }

  /// The entry to send now, over all lanes, in constant time: the first that was never postponed, otherwise the
  /// postponed one that has been due longest. Nil if no entry is ready.
  public func nextReady() throws(QueueError) -> Entry? { try file.nextReady(now: now) }

  /// The moment when the next postponed entry becomes ready; nil if none is postponed.
  public func nextReadyDate() throws(QueueError) -> Date? { try file.nextReadyAt()?.date }

  /// The number of queued entries.
  public func count() throws(QueueError) -> Int { try file.count() }

  /// What came in, what is there, and what left. In constant time.
  public func books() throws(QueueError) -> QueueBooks { try file.books() }

  /// The lanes that have a queued entry.
  public func lanes() throws(QueueError) -> [Lane] { try file.lanes() }

  /// The entries that are not sent: quarantined and damaged ones.
  public func quarantined() throws(QueueError) -> [Entry] { try file.quarantined() }

  /// The bytes of a payload; nil if they have to be read from their source.
  public func payload(_ reference: PayloadReference) throws(QueueError) -> Payload? {
    try file.payload(reference)
  }

  /// The tombstone of a settled entry.
  public func tombstone(_ key: EntryKey) throws(QueueError) -> Tombstone? { try file.tombstone(key) }

  /// The case file of one entry, queued or settled.
  public func caseFile(for key: EntryKey) throws(QueueError) -> CaseFile? { try file.caseFile(for: key) }

  /// Counts, sizes and ages.
  public func health() throws(QueueError) -> QueueHealth { try file.health() }
}
