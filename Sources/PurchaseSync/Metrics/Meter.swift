public import PurchaseQueue

/// Takes the engine's measurements. Without hooks it reads no clock and makes nothing.
package struct Meter: Sendable {
  private let report: (@Sendable (SyncMeasurement) -> Void)?
  private let intervals: SyncIntervals?
  private let uptime: @Sendable () -> ContinuousClock.Instant

  package init(_ configuration: SyncConfiguration) {
    report = configuration.metrics
    intervals = configuration.intervals
    uptime = configuration.system.uptime
  }

  // MARK: Counters

  func count(_ name: SyncMeasurement.Name, reason: String? = nil, _ count: Int = 1) {
    guard let report, count > 0 else { return }
    report(SyncMeasurement(name, reason: reason, .count(count)))
  }

  /// Counts an event that is trouble.
  func count(_ event: SyncEvent) {
    guard let report, let measurement = SyncMeasurement(event) else { return }
    report(measurement)
  }

  /// What the queue's file gets as its hook.
  package var changes: (@Sendable (QueueChange) -> Void)? {
    guard let report else { return nil }
    return { report(SyncMeasurement($0)) }
  }

  // MARK: Durations

  /// Work that has begun.
  package struct Interval {
    fileprivate var name: SyncMeasurement.Name
    fileprivate var began: ContinuousClock.Instant
    fileprivate var end: (@Sendable () -> Void)?
  }

  package func begin(_ name: SyncMeasurement.Name) -> Interval? {
    guard report != nil || intervals != nil else { return nil }
    return Interval(name: name, began: uptime(), end: intervals?(name))
  }

  package func end(_ interval: Interval?, reason: String? = nil) {
    guard let interval else { return }
    interval.end?()
    report?(SyncMeasurement(interval.name, reason: reason, .duration(uptime() - interval.began)))
  }
}

extension SyncMeasurement {
  init(_ change: QueueChange) {
    switch change {
    case .entered(let entrance): self.init(.entered, reason: entrance.rawValue, .count(1))
    case .collapsed: self.init(.redelivered, reason: "queued", .count(1))
    case .known: self.init(.redelivered, reason: "settled", .count(1))
    case .settled(let outcome): self.init(.settled, reason: Self.word(of: outcome), .count(1))
    case .discarded: self.init(.discarded, .count(1))
    case .replaced: self.init(.replaced, .count(1))
    case .quarantined: self.init(.quarantined, .count(1))
    case .released: self.init(.released, .count(1))
    }
  }

  /// An outcome may name an account behind its verdict, and a verdict may be a word of a newer backend.
  private static func word(of outcome: String) -> String {
    let word = String(outcome.prefix { $0 != "/" })
    return Verdict(rawValue: word).isSettled ? word : "other"
  }

  /// Nil for an event that is no trouble. The text of an event may name an account or an order: only its name is taken.
  init?(_ event: SyncEvent) {
    switch event {
    case .signInNeeded, .postponed, .queueFull, .unprotected, .recovered, .ledgerChanged, .backendFault,
      .protocolRefused, .replyRejected, .failed:
      self.init(.trouble, reason: SyncLogRecord(event).name, .count(1))
    default: return nil
    }
  }
}

extension UploadClassification {
  /// The reason of a measured upload.
  var word: String {
    switch self {
    case .verdicts: "verdicts"
    case .failure(let failure):
      switch failure {
      case .retry: "retry"
      case .requestFailed: "requestFailed"
      case .backendBusy: "backendBusy"
      case .backendFault: "backendFault"
      case .signInNeeded: "signInNeeded"
      case .tokenRefused: "tokenRefused"
      case .accountRefused: "accountRefused"
      case .otherProtocol: "otherProtocol"
      case .proofMissing: "proofMissing"
      case .unreadable: "unreadable"
      case .laneTaken: "laneTaken"
      case .unprepared: "unprepared"
      case .interrupted: "interrupted"
      }
    }
  }
}

/// Called when an interval of work begins, with its name. Returns a function that is called when the interval ends.
public typealias SyncIntervals = @Sendable (SyncMeasurement.Name) -> (@Sendable () -> Void)

extension SyncEngine {
  /// What came into the queue, what is there, and what left. The numbers belong to one moment, and to the file: they
  /// outlive the process, and count what other processes of this installation did.
  public func books() throws(SyncError) -> QueueBooks {
    try withFile { (file) throws(QueueError) in try file.queue.books() }
  }
}
