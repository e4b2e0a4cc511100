/// How much a queue holds. At a limit nothing is evicted: enqueuing throws.
///
/// The defaults are of the size of a keychain: a person has a handful of purchases in flight, and a mirror of the
/// whole has to fit into storage that was made for passwords.
public struct QueueLimits: Hashable, Sendable {
  /// Entries, quarantined ones included.
  public var entries: Int
  /// Bytes of all proofs; one that several entries share counts once.
  public var totalBytes: Int
  /// Bytes of a single proof.
  public var proofBytes: Int

  /// Limits; 64 entries, 4 MiB and 1 MiB unless said otherwise.
  public init(entries: Int = 64, totalBytes: Int = 4 << 20, proofBytes: Int = 1 << 20) {
    self.entries = entries
    self.totalBytes = totalBytes
    self.proofBytes = proofBytes
  }
}
