/// How much a queue holds. At a limit nothing is evicted: room is made without loss, else enqueuing throws.
///
/// The defaults are of the scale of a keychain. A person has a handful of purchases in flight, so 64 entries are
/// months of a dead backend; an app receipt is 5 to 100 KB, shared by the entries that it covers, so 4 MiB hold 40
/// different large ones; and the whole has to fit into the vault, storage that was made for passwords.
public struct QueueLimits: Hashable, Sendable {
  /// Entries that wait for their turn, reservations, and settled ones whose outcome is unseen.
  public var entries: Int
  /// Bytes of all proofs; one that several entries share counts once.
  public var totalBytes: Int
  /// Bytes of a single proof; a longer one is queued by reference.
  public var proofBytes: Int
  /// Bytes of an entry's key, lane, order number and details together.
  public var textBytes: Int
  /// Entries in quarantine.
  public var quarantinedEntries: Int
  /// Bytes of the proofs of quarantined entries, shared ones counted for each: quarantine leaves the rest of
  /// `totalBytes` to those that can be delivered.
  public var quarantinedBytes: Int
  /// Tombstones without a duty that are kept.
  public var tombstones: Int
  /// How long they are kept.
  public var tombstoneMilliseconds: Int64

  /// Limits; 64 entries, 4 MiB in all, 1 MiB a proof, 8 KiB of text, a quarantine of 32 entries and 2 MiB, and
  /// 10,000 tombstones for 400 days, unless said otherwise.
  public init(
    entries: Int = 64, totalBytes: Int = 4 << 20, proofBytes: Int = 1 << 20, textBytes: Int = 8 << 10,
    quarantinedEntries: Int = 32, quarantinedBytes: Int = 2 << 20, tombstones: Int = 10_000,
    tombstoneMilliseconds: Int64 = 400 * 86_400_000
  ) {
    self.entries = entries
    self.totalBytes = totalBytes
    self.proofBytes = proofBytes
    self.textBytes = textBytes
    self.quarantinedEntries = quarantinedEntries
    self.quarantinedBytes = quarantinedBytes
    self.tombstones = tombstones
    self.tombstoneMilliseconds = tombstoneMilliseconds
  }
}

/// One of the limits of a queue. More may come with later versions.
@nonexhaustive
public enum QueueLimit: String, Hashable, Sendable, Codable {
  /// `QueueLimits.entries`.
  case entries
  /// `QueueLimits.totalBytes`.
  case totalBytes
  /// `QueueLimits.textBytes`.
  case textBytes
  /// `QueueLimits.quarantinedEntries`.
  case quarantinedEntries
  /// `QueueLimits.quarantinedBytes`.
  case quarantinedBytes
}
