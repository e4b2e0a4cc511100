#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The permanent name of an entry. A second enqueue with the same key updates the first entry while it is queued, and
/// changes nothing once it is settled.
public struct EntryKey: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// Any text; the owner of the queue gives it a meaning.
  public var rawValue: String

  /// Takes any text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Keys are compared as bytes, as the file compares them: two spellings of one text are two entries.
  public static func == (left: EntryKey, right: EntryKey) -> Bool {
    left.rawValue.hasSameBytes(as: right.rawValue)
  }

  /// Two spellings of one text have one hash, which does no harm.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  /// An order of the bytes, so that no two keys are alike in it.
  package static func isBefore(_ left: EntryKey, _ right: EntryKey) -> Bool {
    left.rawValue.hasBytes(before: right.rawValue)
  }

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

/// An entry to be queued.
public struct NewEntry: Sendable {
  /// The entry's name.
  public var key: EntryKey
  /// The lane in which it is delivered.
  public var lane: Lane
  /// The number of the order that it fulfils, if known.
  package var orderNumber: String?
  /// Small text of the owner, without secrets. It is stored unchanged.
  public var details: String
  /// The payloads to deliver, at most one of each kind.
  public var payloads: [Payload]
  /// Other entries whose content is in these payloads as well; only the caller can read a payload and know that. Only if the
  /// limit of bytes is passed, the new payloads replace the older payloads of the same kind in these entries.
  package var covers: [EntryKey] = []
  /// The name of the reservation for it, if any (`reserve`).
  public var reservation: String?
  /// True for an update of a settled entry. It is queued although the key has a tombstone. The tombstone stays until
  /// this entry is settled and hands its duties on. An update is not mirrored to the vault.
  package var isUpdate = false
  /// True for an entry that comes from the vault.
  package var isRestored = false

  /// True if a payload that is too long is queued by reference, because its source has it. Otherwise it is refused.
  package var hasSource = false

  /// An entry to be queued.
  public init(
    key: EntryKey, lane: Lane, details: String = "", payloads: [Payload], reservation: String? = nil
  ) {
    self.key = key
    self.lane = lane
    self.details = details
    self.payloads = payloads
    self.reservation = reservation
  }

  /// The entry of a purchase.
  package init(
    key: EntryKey, lane: Lane, orderNumber: String? = nil, details: String = "", payloads: [Payload],
    covers: [EntryKey] = [], reservation: String? = nil
  ) {
    self.init(key: key, lane: lane, details: details, payloads: payloads, reservation: reservation)
    self.orderNumber = orderNumber
    self.covers = covers
    hasSource = true
  }
}

/// One entry of the queue, without the bytes of its payloads.
public struct Entry: Hashable, Sendable {
  /// The state of an entry.
  public enum State: String, Hashable, Sendable, Codable {
    /// It waits in its lane to be sent.
    case queued
    /// It cannot be delivered now. It is kept and counted until it is released or discarded.
    case quarantined
    /// Its row does not match its checksum, so it is not delivered. It is kept, counted and reported. Enqueuing it again
    /// repairs it.
    case damaged
  }

  /// The position: smaller places of a lane go first. It never changes.
  public var place: Int64
  /// The entry's name.
  public var key: EntryKey
  /// The lane in which it is delivered.
  public var lane: Lane
  /// The number of the order that it fulfils, if known.
  package var orderNumber: String?
  /// The owner's text, as it was enqueued.
  public var details: String
  /// Whether it is sent.
  public var state: State
  /// Why it is not sent, if it is quarantined or damaged.
  public var reason: String?
  /// When it was first queued on this installation.
  package var enqueuedAt: Timestamp
  /// Attempts begun; counted before each send.
  public var attempts: Int
  /// When the last attempt began.
  package var attemptedAt: Timestamp?
  /// The entry is not sent before this moment. 0 ms until it is postponed.
  package var readyAt: Timestamp
  /// True while the vault does not hold a complete copy. Always false for a queue without a vault.
  public var isUnprotected: Bool
  /// The payloads, one of each kind, in the order of the kinds.
  public var payloads: [PayloadReference]
  /// The last events of the entry.
  public var history: History
  /// What the owner keeps of the entry while it is queued (`changeNotes`).
  package var notes: String?
}

extension Entry {
  /// An entry as a queue returns it, for the tests of code that sends entries.
  public init(
    key: EntryKey, lane: Lane, place: Int64 = 1, details: String = "", state: State = .queued,
    reason: String? = nil, enqueueDate: Date = Date(), attempts: Int = 0, attemptDate: Date? = nil,
    readyDate: Date? = nil, payloads: [PayloadReference] = []
  ) {
    self.init(
      place: place, key: key, lane: lane, orderNumber: nil, details: details, state: state, reason: reason,
      enqueuedAt: Timestamp(enqueueDate), attempts: attempts, attemptedAt: attemptDate.map { Timestamp($0) },
      readyAt: readyDate.map { Timestamp($0) } ?? Timestamp(milliseconds: 0), isUnprotected: false,
      payloads: payloads, history: History())
  }

  /// An entry that was just queued.
  package init(
    place: Int64, key: EntryKey, lane: Lane, orderNumber: String?, details: String,
    payloads: [PayloadReference],
    now: Timestamp
  ) {
    self.init(
      place: place, key: key, lane: lane, orderNumber: orderNumber, details: details, state: .queued,
      reason: nil, enqueuedAt: now, attempts: 0, attemptedAt: nil, readyAt: Timestamp(milliseconds: 0),
      isUnprotected: false, payloads: payloads, history: History())
  }
}

/// The result of an enqueue.
public enum Enqueued: Hashable, Sendable {
  /// A new entry, at the end of its lane.
  case inserted(Entry)
  /// The entry was queued already; its lane, details, attempts and place stay.
  case collapsed(Entry)
  /// The entry was settled before; nothing was queued.
  case settled(Tombstone)
}
