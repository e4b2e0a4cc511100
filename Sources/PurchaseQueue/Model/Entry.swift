/// Names one entry for ever: a second enqueue under the same key collapses into the first.
public struct EntryKey: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// Any text; the owner of the queue gives it a meaning.
  public var rawValue: String

  /// Takes any text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// From a bare string.
  public init(from decoder: any Decoder) throws {
    rawValue = try decoder.singleValueContainer().decode(String.self)
  }

  /// As a bare string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }

  /// The text itself.
  public var description: String { rawValue }
}

/// What is to be queued.
public struct NewEntry: Sendable {
  /// The entry's name.
  public var key: EntryKey
  /// Whose it is.
  public var lane: Lane
  /// The order it fulfils, if that is known.
  public var orderNumber: String?
  /// What the owner needs to know beside the proofs: small, text, without secrets; kept as it is.
  public var details: String
  /// What will be delivered; one of each kind.
  public var proofs: [Proof]
  /// Entries whose claims these proofs cover as well. Said by the caller, who can read them; at the cap, and only
  /// there, the new proofs stand in for the older ones of the same kind that these entries hold.
  public var covers: [EntryKey]
  /// The room that was reserved for it, if any (`reserve`).
  public var reservation: String?
  /// True for news about something that was settled before: it is queued although there is a tombstone, which stays
  /// until this entry is settled, and hands its duties on. Such an entry is not mirrored to the vault.
  public var isUpdate = false

  /// An entry to be queued.
  public init(
    key: EntryKey, lane: Lane, orderNumber: String? = nil, details: String = "", proofs: [Proof],
    covers: [EntryKey] = [], reservation: String? = nil
  ) {
    self.key = key
    self.lane = lane
    self.orderNumber = orderNumber
    self.details = details
    self.proofs = proofs
    self.covers = covers
    self.reservation = reservation
  }
}

/// One entry of the queue, without the bytes of its proofs.
public struct Entry: Hashable, Sendable {
  /// Whether an entry takes its turn.
  public enum State: String, Hashable, Sendable, Codable {
    /// It waits for its turn in its lane.
    case queued
    /// It cannot be delivered now. Kept, counted, and tried again slowly.
    case quarantined
    /// Its row does not match its checksum: nothing in it can be trusted, so it is not delivered. Kept, counted and
    /// reported; enqueuing it again makes it whole.
    case damaged
  }

  /// The position: smaller places of a lane go first. It never changes.
  public var place: Int64
  /// The entry's name.
  public var key: EntryKey
  /// Whose it is.
  public var lane: Lane
  /// The order it fulfils, if that is known.
  public var orderNumber: String?
  /// The owner's text.
  public var details: String
  /// Whether it takes its turn.
  public var state: State
  /// Why it does not, if it does not.
  public var reason: String?
  /// When it was first queued on this installation.
  public var enqueuedAt: Timestamp
  /// Attempts begun; counted before each send.
  public var attempts: Int
  /// When the last attempt began.
  public var attemptedAt: Timestamp?
  /// Not to be sent before this moment. 0 ms until it is postponed.
  public var readyAt: Timestamp
  /// True while the vault does not hold a whole copy. False too for a queue without a vault.
  public var isUnprotected: Bool
  /// The proofs, one of each kind, in the order of the kinds.
  public var proofs: [ProofReference]
  /// What happened to it.
  public var history: History
}

extension Entry {
  /// As it is when it has just been queued.
  package init(
    place: Int64, key: EntryKey, lane: Lane, orderNumber: String?, details: String,
    proofs: [ProofReference],
    now: Timestamp
  ) {
    self.init(
      place: place, key: key, lane: lane, orderNumber: orderNumber, details: details, state: .queued,
      reason: nil, enqueuedAt: now, attempts: 0, attemptedAt: nil, readyAt: Timestamp(milliseconds: 0),
      isUnprotected: false, proofs: proofs, history: History())
  }
}

/// What an enqueue did.
public enum Enqueued: Hashable, Sendable {
  /// A new entry, at the end of its lane.
  case inserted(Entry)
  /// It was there already; its account, order, attempts and place stay.
  case collapsed(Entry)
  /// It was settled before: nothing was queued.
  case settled(Tombstone)
}
