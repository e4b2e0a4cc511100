/// How much a queue holds. At a limit the queue evicts nothing: it frees capacity without loss, otherwise enqueuing
/// throws.
///
/// The defaults fit a keychain. A user has a few purchases in flight, so 64 entries last for months without a backend.
/// An app receipt has 5 to 100 KB and is shared by the entries that it covers, so 4 MiB hold 40 different large ones.
/// And all of it has to fit into the vault, which is storage for passwords.
public struct QueueLimits: Hashable, Sendable {
  /// Entries in their lanes, and reservations.
  public var entries: Int
  /// Bytes of all payloads; a shared payload counts once.
  public var totalBytes: Int
  /// Bytes of a single payload; a longer one is queued by reference.
  public var payloadBytes: Int
  /// Bytes of an entry's key, lane, order number and details together.
  public var textBytes: Int
  /// Entries in quarantine.
  public var quarantinedEntries: Int
  /// Bytes of the payloads of quarantined entries; a shared payload counts for each entry. The rest of `totalBytes` stays
  /// for entries that can be delivered.
  public var quarantinedBytes: Int
  /// How many tombstones are kept. Those with a duty are kept in any case.
  public var tombstones: Int
  /// Bytes of all tombstones. Tombstones without a duty are removed beyond it, oldest first. When those with a duty
  /// alone reach it, no new entry is queued and nothing is reserved: a pending finish is never lost.
  public var tombstoneBytes: Int
  /// How long a tombstone without a duty is kept.
  public var tombstoneAge: Duration
  /// How many settled entries wait for the app to see their outcome. Beyond it, or if they fill half of
  /// `tombstoneBytes`, the oldest outcomes count as seen: their tombstones stay, and the queue counts them. So an app that
  /// never confirms an outcome can still buy. An app that confirms, however slowly, is far below it.
  public var unconfirmedOutcomes: Int

  /// The most payloads of one entry, each of another kind.
  public static let payloadsOfAnEntry = 8

  /// The defaults: 64 entries, 4 MiB in all, 1 MiB for a payload, 8 KiB of text, a quarantine of 32 entries and 2 MiB,
  /// 10,000 tombstones of 4 MiB for 400 days, and 10,000 unconfirmed outcomes.
  public init(
    entries: Int = 64, totalBytes: Int = 4 << 20, payloadBytes: Int = 1 << 20, textBytes: Int = 8 << 10,
    quarantinedEntries: Int = 32, quarantinedBytes: Int = 2 << 20, tombstones: Int = 10_000,
    tombstoneBytes: Int = 4 << 20, tombstoneAge: Duration = .seconds(400 * 86_400),
    unconfirmedOutcomes: Int = 10_000
  ) {
    self.entries = entries
    self.totalBytes = totalBytes
    self.payloadBytes = payloadBytes
    self.textBytes = textBytes
    self.quarantinedEntries = quarantinedEntries
    self.quarantinedBytes = quarantinedBytes
    self.tombstones = tombstones
    self.tombstoneBytes = tombstoneBytes
    self.tombstoneAge = tombstoneAge
    self.unconfirmedOutcomes = unconfirmedOutcomes
  }
}

extension QueueLimits {
  /// The largest size of a queue's file in bytes, computed from the limits: whatever callers, backends and stores do, the
  /// file does not grow beyond it. The log next to it, the archived files after damage, and the tables of other modules
  /// come in addition.
  ///
  /// The numbers are those of SQLite's format with pages of 1,024 bytes: a row that does not fit into its page takes
  /// whole pages for the rest, and a page of a table may be filled to a third.
  public var largestFileBytes: Int {
    let page = 1_024
    let held = entries.clampedSum(quarantinedEntries)
    // The first page, the schema, one root page for each table and index, and the facts.
    let fixed = 128 << 10
    let row = Self.pages(textBytes.clampedSum(Self.longestEntryTexts))
    // The key has an index, and the lane another one.
    let index = 2.clampedProduct(Self.pages(textBytes))
    let blobs = totalBytes.clampedSum(totalBytes / page * 4).clampedSum(
      held.clampedProduct(Self.payloadsOfAnEntry * 3 * page))
    // Every entry that is queued when the limit is reached may leave one more.
    let lastTombstone = Self.pages(2.clampedProduct(textBytes).clampedSum(Self.longestTombstoneTexts))
    let buried = 4.clampedProduct(tombstoneBytes).clampedSum(
      held.clampedSum(entries).clampedProduct(lastTombstone))
    let reserved = entries.clampedProduct(Self.pages(textBytes))
    return fixed.clampedSum(held.clampedProduct(row.clampedSum(index))).clampedSum(blobs).clampedSum(buried)
      .clampedSum(reserved)
  }

  /// The most bytes of an entry's row apart from the texts that count as `textBytes`.
  private static var longestEntryTexts: Int {
    128 + Redaction.longest + History.mostBytes + payloadsOfAnEntry * (20 + 1 + 20 + 1 + 64 + 1)
  }

  /// The most bytes of a tombstone apart from the texts of its entry and its settlement.
  private static var longestTombstoneTexts: Int { 128 + History.mostBytes }

  /// What a row of so many bytes may take in the file: a third of a page filled in the table, and whole pages for the
  /// rest.
  private static func pages(_ bytes: Int) -> Int { bytes.clampedSum(bytes / 1_020 * 4).clampedSum(3 * 1_024) }
}

extension Int {
  fileprivate func clampedSum(_ other: Int) -> Int {
    let (sum, overflows) = addingReportingOverflow(other)
    return overflows ? .max : sum
  }

  fileprivate func clampedProduct(_ other: Int) -> Int {
    let (product, overflows) = multipliedReportingOverflow(by: other)
    return overflows ? .max : product
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
  /// `QueueLimits.tombstoneBytes`: too many settled entries have a duty.
  case tombstoneBytes
  /// `QueueLimits.quarantinedEntries`.
  case quarantinedEntries
  /// `QueueLimits.quarantinedBytes`.
  case quarantinedBytes
}
