/// Names one entry for ever: a second enqueue under the same key collapses into the first.
public struct EntryKey: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// Any text; the owner of the queue gives it a meaning.
  public var rawValue: String

  /// Takes any text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The text itself.
  public var description: String { rawValue }
}

/// Entries that are delivered in order. Lanes do not block each other.
public enum Lane: Hashable, Sendable {
  /// Entries that belong to nobody yet: they go up in the name of the device.
  case device
  /// The entries of one account.
  case account(String)

  /// As it stands in the file: `device` or `account:` and the account.
  public var text: String {
    switch self {
    case .device: "device"
    case .account(let account): "account:" + account
    }
  }

  /// From the text in the file; anything without the prefix is the device's.
  public init(text: String) {
    let prefix = "account:"
    self = text.hasPrefix(prefix) ? .account(String(text.dropFirst(prefix.count))) : .device
  }
}

/// Bytes that prove something, and which kind of proof they are. Never printed.
public struct Proof: Hashable, Sendable, CustomStringConvertible {
  /// What the bytes are, in the owner's words. An entry keeps the newest of each kind.
  public var kind: String
  /// The proof itself.
  public var bytes: [UInt8]

  /// A proof of the given kind.
  public init(kind: String, bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }

  /// The kind and the size, never the bytes.
  public var description: String { "\(kind), \(bytes.count) bytes" }
}

/// A proof in the file, without its bytes. Two entries that share a proof have equal references.
public struct ProofReference: Hashable, Sendable {
  /// What the bytes are.
  public var kind: String
  /// Where they are stored; meaningful within this file only.
  public var id: Int64
  /// How many bytes.
  public var size: Int
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
  /// What will be delivered.
  public var proofs: [Proof]

  /// An entry to be queued.
  public init(key: EntryKey, lane: Lane, orderNumber: String? = nil, details: String = "", proofs: [Proof]) {
    self.key = key
    self.lane = lane
    self.orderNumber = orderNumber
    self.details = details
    self.proofs = proofs
  }
}

/// One entry of the queue, without the bytes of its proofs.
public struct Entry: Hashable, Sendable {
  /// Whether an entry takes its turn.
  public enum State: String, Sendable {
    /// It waits for its turn in its lane.
    case queued
    /// It cannot be delivered now. Kept, counted, and tried again slowly.
    case quarantined
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
  /// When it was first queued on this installation.
  public var enqueuedAt: Timestamp
  /// Attempts begun; counted before each send.
  public var attempts: Int
  /// When the last attempt began.
  public var attemptedAt: Timestamp?
  /// Not to be sent before this moment.
  public var readyAt: Timestamp
  /// True while the vault does not hold a copy.
  public var isUnprotected: Bool
  /// The proofs, one of each kind.
  public var proofs: [ProofReference]
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
