/// What is left of a settled entry: it spares work when the same thing is handed in again.
public struct Tombstone: Hashable, Sendable {
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
  /// When it was settled.
  public var settledAt: Timestamp
  /// The source of the entry still has to be told that it is done.
  public var isFinishOwed: Bool
  /// The outcome still has to reach whoever waits for it.
  public var isUnseen: Bool
}

/// The end of an entry: how it was settled, and what has to follow.
public struct Settlement: Hashable, Sendable {
  /// The entry.
  public var key: EntryKey
  /// How it was settled, in the owner's words.
  public var outcome: String
  /// Replaces the entry's order number, if given.
  public var orderNumber: String?
  /// Marks the tombstone so that the source is told.
  public var owesFinish: Bool

  /// An end of the given kind.
  public init(key: EntryKey, outcome: String, orderNumber: String? = nil, owesFinish: Bool) {
    self.key = key
    self.outcome = outcome
    self.orderNumber = orderNumber
    self.owesFinish = owesFinish
  }
}
