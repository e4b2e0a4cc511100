public import PurchaseQueue

/// One line for an app's own log: an event in words. No proof, no token, no credential, no order's price.
public struct SyncLogRecord: Sendable, Hashable, CustomStringConvertible {
  /// How much it matters.
  public enum Level: String, Sendable, Hashable, Comparable {
    /// Happens all the time.
    case debug
    /// A step of a purchase.
    case info
    /// Worth knowing.
    case warning
    /// Needs an action.
    case error

    /// In the order above.
    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
    private var rank: Int {
      switch self {
      case .debug: 0
      case .info: 1
      case .warning: 2
      case .error: 3
      }
    }
  }

  /// How much it matters.
  public var level: Level
  /// Which event: a word that stays the same, such as `delivered`.
  public var name: String
  /// The transactions it is about.
  public var keys: [EntryKey]
  /// More about it, in one line.
  public var text: String

  /// One line.
  public var description: String {
    let keys = keys.map(\.rawValue).joined(separator: " ")
    return [level.rawValue, name, keys, text].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The line for an event.
  public init(_ event: SyncEvent) {
    func record(_ level: Level, _ name: String, _ keys: [EntryKey], _ text: String) -> SyncLogRecord {
      SyncLogRecord(level: level, name: name, keys: keys, text: Redaction.line(text))
    }
    switch event {
    case .queued(let key, let match):
      self = record(.info, "queued", [key], "order \(match.orderNumber ?? "none"), \(match.evidenceText)")
    case .matched(let key, let number): self = record(.info, "matched", [key], "order \(number)")
    case .updateQueued(let key): self = record(.info, "updateQueued", [key], "")
    case .uploading(let keys): self = record(.debug, "uploading", keys, "")
    case .delivered(let outcome), .settled(let outcome):
      let order = outcome.orderNumber ?? "none"
      let owned = outcome.isAlreadyOwned ? ", already owned" : ""
      self = record(
        .info, outcome.isFulfilled ? "delivered" : "settled", [outcome.key],
        "\(outcome.verdict.rawValue), \(outcome.owner.rawValue), order \(order)\(owned)")
    case .waiting(let lane, let reason, let until):
      self = record(.info, "waiting", [], "\(Self.name(lane)) until \(until.utc): \(reason)")
    case .signInNeeded(let lane): self = record(.warning, "signInNeeded", [], Self.name(lane))
    case .postponed(let key, let reason, let until):
      self = record(.warning, "postponed", [key], "until \(until.utc): \(reason)")
    case .quarantined(let key, let reason): self = record(.error, "quarantined", [key], reason)
    case .queueFull(let key, let error): self = record(.error, "queueFull", [key], error.description)
    case .unprotected(let key): self = record(.warning, "unprotected", [key], "")
    case .recovered(let report): self = record(.error, "recovered", [], report.what)
    case .ledgerChanged: self = record(.warning, "ledgerChanged", [], "")
    case .backendFault(let reason): self = record(.error, "backendFault", [], reason)
    case .protocolRefused(let reason): self = record(.error, "protocolRefused", [], reason)
    case .failed(let error): self = record(.error, "failed", [], error.description)
    case .replyRejected(let reason): self = record(.error, "replyRejected", [], reason)
    }
  }

  private init(level: Level, name: String, keys: [EntryKey], text: String) {
    self.level = level
    self.name = name
    self.keys = keys
    self.text = text
  }

  /// The kind of lane, without the account's name: that is personal.
  private static func name(_ lane: Lane) -> String {
    lane.account == nil ? "the device lane" : "an account's lane"
  }
}
