/// What is left of a settled entry: it spares work when the same thing is handed in again.
///
/// Bounded by `QueueLimits.tombstones` and `tombstoneMilliseconds`; one with a duty is never dropped. It is not the
/// safety device: that is the receiver's idempotence.
public struct Tombstone: Hashable, Sendable {
  /// The outcome of what somebody gave up.
  package static let discarded = "discarded"

  /// The entry's name.
  public var key: EntryKey
  /// Whose it was.
  public var lane: Lane
  /// The order it fulfilled, if any.
  public var orderNumber: String?
  /// How it was settled, in the owner's words.
  public var outcome: String
  /// The entry's details, kept.
  public var details: String
  /// When the entry was queued.
  public var enqueuedAt: Timestamp
  /// Attempts that it took.
  public var attempts: Int
  /// When it was settled.
  public var settledAt: Timestamp
  /// The source of the entry still has to be told that it is done.
  public var isFinishOwed: Bool
  /// The outcome still has to reach whoever waits for it.
  public var isUnseen: Bool
  /// What happened to the entry.
  public var history: History
}

/// The end of an entry: how it was settled, and what has to follow.
public struct Settlement: Hashable, Sendable {
  /// The entry.
  public var key: EntryKey
  /// How it was settled, in the owner's words.
  public var outcome: String
  /// Replaces the entry's order number, if given.
  public var orderNumber: String?
  /// Marks the tombstone: the source of the entry has to be told (`markFinished`).
  public var owesFinish: Bool
  /// Marks the tombstone: somebody waits for the outcome (`markSeen`). Counts against `QueueLimits.entries`.
  public var isUnseen: Bool

  /// An end of the given kind; without duties unless said otherwise.
  public init(
    key: EntryKey, outcome: String = "delivered", orderNumber: String? = nil, owesFinish: Bool = false,
    isUnseen: Bool = false
  ) {
    self.key = key
    self.outcome = outcome
    self.orderNumber = orderNumber
    self.owesFinish = owesFinish
    self.isUnseen = isUnseen
  }
}
