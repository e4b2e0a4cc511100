/// The record of a settled entry. It saves work when the source hands in the same entry again.
///
/// `QueueLimits.tombstones`, `tombstoneBytes` and `tombstoneAge` bound them. A tombstone with a duty is never removed.
/// While these alone reach `tombstoneBytes`, no new entry is queued.
/// Safety does not depend on tombstones but on the idempotence of the receiver.
public struct Tombstone: Hashable, Sendable {
  /// The outcome of a discarded entry.
  package static let discarded = "discarded"

  /// The entry's name.
  public var key: EntryKey
  /// The lane in which it was delivered.
  public var lane: Lane
  /// The number of the order that it fulfilled, if any.
  package var orderNumber: String?
  /// The outcome, named by the owner.
  public var outcome: String
  /// The entry's details.
  public var details: String
  /// The moment when the entry was queued.
  package var enqueuedAt: Timestamp
  /// The number of attempts.
  public var attempts: Int
  /// The moment when it was settled.
  package var settledAt: Timestamp
  /// A duty: the entry has to be finished at its source.
  package var isFinishPending: Bool
  /// A duty: the app has to see the outcome.
  package var isUnconfirmed: Bool
  /// The last events of the entry.
  public var history: History
}

/// How an entry is settled, and the duties that follow.
public struct Settlement: Hashable, Sendable {
  /// The entry.
  public var key: EntryKey
  /// The payloads that were sent. If the entry has got a newer one since, it stays queued with the newer ones, and the
  /// duties and the outcome come with its next settlement. Nil settles the entry with all that it holds by now.
  public var payloads: [PayloadReference]?
  /// The outcome, named by the owner.
  public var outcome: String
  /// Replaces the entry's order number, if not nil.
  package var orderNumber: String?
  /// The entry has to be finished at its source (`markFinished`).
  package var hasPendingFinish: Bool
  /// The app has to see the outcome (`markConfirmed`). Counts against `QueueLimits.unconfirmedOutcomes` until then.
  package var isUnconfirmed: Bool
  /// The entry has a tombstone already, and that stays as it is: nothing of the settlement is stored by the queue.
  package var keepsTombstone = false

  /// The name of a reservation that ends with it, if there is one of that name.
  public var reservation: String?

  /// Settles what was sent: the entry as it was read for sending.
  public init(_ sent: Entry, outcome: String = "delivered") {
    self.init(key: sent.key, outcome: outcome)
    payloads = sent.payloads
  }

  /// Settles an entry with all that it holds by now, also with a payload that came after the entry was read.
  public init(key: EntryKey, outcome: String = "delivered", reservation: String? = nil) {
    self.init(key: key, outcome: outcome, orderNumber: nil, reservation: reservation)
  }

  /// The settlement of a purchase, of what was sent.
  package init(
    _ sent: Entry, outcome: String = "delivered", orderNumber: String? = nil, hasPendingFinish: Bool = false,
    isUnconfirmed: Bool = false
  ) {
    self.init(
      key: sent.key, outcome: outcome, orderNumber: orderNumber, hasPendingFinish: hasPendingFinish,
      isUnconfirmed: isUnconfirmed)
    payloads = sent.payloads
  }

  /// The settlement of a purchase.
  package init(
    key: EntryKey, outcome: String = "delivered", orderNumber: String? = nil, hasPendingFinish: Bool = false,
    isUnconfirmed: Bool = false, reservation: String? = nil
  ) {
    self.key = key
    self.outcome = outcome
    self.orderNumber = orderNumber
    self.reservation = reservation
    self.hasPendingFinish = hasPendingFinish
    self.isUnconfirmed = isUnconfirmed
  }
}
