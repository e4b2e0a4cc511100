/// One number about the engine's work: something happened so often, or took so long.
///
/// It names no account, no transaction, no order and no proof, and its words come from a small fixed set: it can go to
/// any metrics system as it is. With swift-metrics, one line forwards everything:
///
/// ```swift
/// configuration.metrics = { Recorder(label: $0.label, dimensions: $0.dimensions).record($0.number) }
/// ```
///
/// A system that has counters and timers apart switches over ``value``.
public struct SyncMeasurement: Sendable, Hashable {
  /// What is measured. An open set.
  public struct Name: RawRepresentable, Sendable, Hashable {
    /// The word in the label.
    public var rawValue: String
    /// Any word, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The number.
  public enum Value: Sendable, Hashable {
    /// It happened so often since the last measurement of this name and reason.
    case count(Int)
    /// It took so long, by the monotonic clock.
    case duration(Duration)
  }

  /// What is measured.
  public var name: Name
  /// The kind of it, such as the verdict of a settlement; nil if there is only one.
  public var reason: String?
  /// The number.
  public var value: Value

  /// A measurement, for an app's own tests.
  public init(_ name: Name, reason: String? = nil, _ value: Value) {
    self.name = name
    self.reason = reason
    self.value = value
  }

  /// The name with a prefix, such as `purchase_sync.settled`.
  public var label: String { "purchase_sync." + name.rawValue }

  /// The reason as the one dimension of the label; none without a reason.
  public var dimensions: [(String, String)] { reason.map { [("reason", $0)] } ?? [] }

  /// The count, or the duration in seconds.
  public var number: Double {
    switch value {
    case .count(let count): Double(count)
    case .duration(let duration): duration / .seconds(1)
    }
  }
}

extension SyncMeasurement.Name {
  // MARK: The books: how entries come and go

  /// An entry came in: `new`, `update` (of a settled transaction), or `restored` (from the vault).
  public static let entered = Self(rawValue: "entered")
  /// A known transaction came again: `queued` (its entry may get a newer proof), or `settled`.
  public static let redelivered = Self(rawValue: "redelivered")
  /// An entry left with a verdict: the verdict's word, or `other`, such as for a question that an update replaced.
  public static let settled = Self(rawValue: "settled")
  /// A person gave an entry up.
  public static let discarded = Self(rawValue: "discarded")
  /// A damaged entry was replaced by a new delivery.
  public static let replaced = Self(rawValue: "replaced")
  /// Entries that the salvage of a damaged file did not find again.
  public static let lost = Self(rawValue: "lost")
  /// An entry moved to quarantine.
  public static let quarantined = Self(rawValue: "quarantined")
  /// An entry moved from quarantine to its lane.
  public static let released = Self(rawValue: "released")

  // MARK: Work: each end is counted by its duration

  /// A transaction was taken from the store, until it is durable: `stored` or `refused`.
  public static let receive = Self(rawValue: "receive")
  /// An upload: `verdicts`, or the kind of its failure.
  public static let upload = Self(rawValue: "upload")
  /// A call that asks the store for its list: `answered` or `failed`.
  public static let listing = Self(rawValue: "listing")
  /// A call that finishes settled transactions at the store: `answered` or `failed`.
  public static let finish = Self(rawValue: "finish")

  // MARK: Trouble

  /// An event that needs attention; the reason is its name in the log, such as `signInNeeded`.
  public static let trouble = Self(rawValue: "trouble")
}
