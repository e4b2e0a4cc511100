/// How much a queue holds. At a limit the queue evicts nothing: it frees capacity without loss, otherwise enqueuing
/// throws.
///
/// The defaults fit a keychain. A user has a few purchases in flight, so 64 entries last for months without a backend.
/// An app receipt has 5 to 100 KB and is shared by the entries that it covers, so 4 MiB hold 40 different large ones.
/// And all of it has to fit into the vault, which is storage for passwords.
public struct QueueLimits: Hashable, Sendable {
  /// Entries in their lanes, reservations, and settled entries whose outcome is unseen.
  public var entries: Int
  /// Bytes of all proofs; a shared proof counts once.
  public var totalBytes: Int
  /// Bytes of a single proof; a longer one is queued by reference.
  public var proofBytes: Int
  /// Bytes of an entry's key, lane, order number and details together.
  public var textBytes: Int
  /// Entries in quarantine.
  public var quarantinedEntries: Int
  /// Bytes of the proofs of quarantined entries; a shared proof counts for each entry. The rest of `totalBytes` stays
  /// for entries that can be delivered.
  public var quarantinedBytes: Int
  /// How many tombstones without a duty are kept.
  public var tombstones: Int
  /// How long a tombstone without a duty is kept.
  public var tombstoneAge: Duration

  /// The defaults: 64 entries, 4 MiB in all, 1 MiB for a proof, 8 KiB of text, a quarantine of 32 entries and 2 MiB,
  /// and 10,000 tombstones for 400 days.
  public init(
    entries: Int = 64, totalBytes: Int = 4 << 20, proofBytes: Int = 1 << 20, textBytes: Int = 8 << 10,
    quarantinedEntries: Int = 32, quarantinedBytes: Int = 2 << 20, tombstones: Int = 10_000,
    tombstoneAge: Duration = .seconds(400 * 86_400)
  ) {
    self.entries = entries
    self.totalBytes = totalBytes
    self.proofBytes = proofBytes
    self.textBytes = textBytes
    self.quarantinedEntries = quarantinedEntries
    self.quarantinedBytes = quarantinedBytes
    self.tombstones = tombstones
    self.tombstoneAge = tombstoneAge
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
