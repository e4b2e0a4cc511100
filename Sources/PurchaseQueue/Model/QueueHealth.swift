/// How a queue is: counts, sizes and ages, without a word of what is in it.
public struct QueueHealth: Hashable, Sendable, Codable {
  /// Entries that wait for their turn.
  public var queued: Int
  /// Entries in quarantine.
  public var quarantined: Int
  /// Entries whose rows are damaged.
  public var damaged: Int
  /// Entries that the vault does not hold a whole copy of.
  public var unprotected: Int
  /// Reservations.
  public var reserved: Int
  /// Bytes of all proofs.
  public var bytes: Int
  /// Bytes reserved for proofs.
  public var reservedBytes: Int
  /// When the oldest entry was queued.
  public var oldestEnqueuedAt: Timestamp?
  /// When the next postponed entry becomes ready.
  public var nextReadyAt: Timestamp?
  /// The most attempts that one of the entries took so far.
  public var mostAttempts: Int
  /// Settled entries that are remembered.
  public var tombstones: Int
  /// Of these: the source has to be told.
  public var finishesOwed: Int
  /// Of these: the outcome has not reached anyone.
  public var unseen: Int
  /// The database file, in bytes.
  public var fileBytes: Int
  /// Its log.
  public var logBytes: Int
  /// Free pages in the file, in bytes.
  public var freeBytes: Int
  /// Damaged files that were set aside.
  public var setAside: [String]
  /// Why the vault could not be reconciled at the opening.
  public var vaultProblem: String?
  /// The version of the file's schema.
  public var schemaVersion: Int
  /// The version of the SQLite library in use.
  public var sqliteVersion: String
}
