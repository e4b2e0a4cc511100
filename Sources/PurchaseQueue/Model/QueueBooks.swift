/// The books of a queue's file: every entry that came in, and where it is now or how it left.
///
/// At any moment `entered == settled + discarded + replaced + lost + queued + quarantined`, also after a kill and after
/// a salvage. An entry that comes in again, such as an update of a settled one, counts again.
///
/// What came in, what is there, and each rare end are counted by the file. `settled` is the rest. So an entry that left
/// by another way would show there, and a test compares it with the settlements that were made.
public struct QueueBooks: Hashable, Sendable {
  /// Entries that came in, those that a vault brought back included.
  public var entered: Int
  /// Entries in their lanes.
  public var queued: Int
  /// Entries in quarantine, and damaged ones.
  public var quarantined: Int
  /// Entries that a person gave up.
  public var discarded: Int
  /// Damaged rows that a new delivery of the same entry replaced.
  public var replaced: Int
  /// Entries that a salvage did not find again. Their source, or the vault, may still have them.
  public var lost: Int
  /// How often the books began at zero, because damage took them: entries that had left by then are not in them.
  public var restarts: Int

  /// Entries that were settled.
  public var settled: Int { entered &- queued &- quarantined &- discarded &- replaced &- lost }

  /// Books with these numbers.
  public init(
    entered: Int = 0, queued: Int = 0, quarantined: Int = 0, discarded: Int = 0, replaced: Int = 0,
    lost: Int = 0, restarts: Int = 0
  ) {
    self.entered = entered
    self.queued = queued
    self.quarantined = quarantined
    self.discarded = discarded
    self.replaced = replaced
    self.lost = lost
    self.restarts = restarts
  }
}

/// A change of the books, reported once it is committed. It names no entry.
package enum QueueChange: Sendable, Hashable {
  /// How an entry came in.
  package enum Entrance: String, Sendable {
    case new, update, restored
  }

  case entered(Entrance)
  /// The entry was queued already.
  case collapsed
  /// The entry was settled already.
  case known
  /// With the outcome of the settlement.
  case settled(String)
  case discarded
  case replaced
  case quarantined
  case released
}
