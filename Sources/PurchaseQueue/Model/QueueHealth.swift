/// Counts, sizes and ages of a queue, without any content.
public struct QueueHealth: Hashable, Sendable, Codable {
  /// Entries in their lanes.
  public var queued: Int
  /// Entries in quarantine.
  public var quarantined: Int
  /// Entries whose rows are damaged.
  public var damaged: Int
  /// Entries of which the vault holds no complete copy.
  public var unprotected: Int
  /// Open reservations.
  public var reserved: Int
  /// Bytes of all payloads.
  public var bytes: Int
  /// Bytes reserved for payloads.
  public var reservedBytes: Int
  /// The moment when the oldest entry was queued.
  package var oldestEnqueuedAt: Timestamp?
  /// The moment when the next postponed entry becomes ready.
  package var nextReadyAt: Timestamp?
  /// The highest number of attempts of one entry.
  public var mostAttempts: Int
  /// Tombstones of settled entries.
  public var tombstones: Int
  /// Tombstones that have to be finished at their source.
  package var pendingFinishes: Int
  /// Tombstones whose outcome the app has not seen.
  package var unconfirmed: Int
  /// Size of the database file in bytes.
  public var fileBytes: Int
  /// Size of its log in bytes.
  public var logBytes: Int
  /// Size of the free pages in the file, in bytes.
  public var freeBytes: Int
  /// Paths of archived damaged files, oldest first.
  public var archived: [String]
  /// Why the vault could not be reconciled at the opening; nil if it was.
  public var vaultProblem: String?
  /// The version of the file's schema.
  public var schemaVersion: Int
  /// The version of the SQLite library in use.
  public var sqliteVersion: String
}
