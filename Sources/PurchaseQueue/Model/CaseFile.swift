/// The redacted history of one entry, queued or settled. It answers "I paid and got nothing".
///
/// It holds kinds and sizes of payloads, but neither their bytes nor the owner's `details`. Free text is redacted.
public struct CaseFile: Hashable, Sendable, Codable {
  /// The entry's name.
  public var key: EntryKey
  /// The name of the lane.
  public var lane: String
  /// The number of the order that it fulfils, if known.
  package var orderNumber: String?
  /// `queued`, `quarantined`, `damaged` or `settled`.
  public var state: String
  /// The outcome of a settled entry.
  public var outcome: String?
  /// Why it is not sent, if it is quarantined or damaged.
  public var reason: String?
  /// The moment when it was queued on this installation.
  package var enqueuedAt: Timestamp
  /// The number of attempts that were begun.
  public var attempts: Int
  /// The moment when the last attempt began.
  package var attemptedAt: Timestamp?
  /// The entry is not sent before this moment; nil if it is not postponed.
  package var readyAt: Timestamp?
  /// The moment when it was settled.
  package var settledAt: Timestamp?
  /// The entry has to be finished at its source.
  package var isFinishPending: Bool
  /// The app has not seen the outcome.
  package var isUnconfirmed: Bool
  /// The vault does not hold a complete copy.
  public var isUnprotected: Bool
  /// Kind and size of each payload, and whether its bytes are in the file.
  public var payloads: [String]
  /// The last 32 events, oldest first.
  public var history: [HistoryEvent]
  /// The state and the next step, in one or two sentences.
  public var advice: String

  init(_ entry: Entry) {
    key = entry.key
    lane = entry.lane.rawValue
    orderNumber = entry.orderNumber
    state = entry.state.rawValue
    outcome = nil
    reason = entry.reason
    enqueuedAt = entry.enqueuedAt
    attempts = entry.attempts
    attemptedAt = entry.attemptedAt
    readyAt = entry.readyAt.milliseconds == 0 ? nil : entry.readyAt
    settledAt = nil
    isFinishPending = false
    isUnconfirmed = false
    isUnprotected = entry.isUnprotected
    payloads = entry.payloads.map { payload in
      "\(payload.kind), \(payload.size) bytes" + (payload.isByReference ? ", to be read from its source" : "")
    }
    history = entry.history.events
    advice = Self.advice(entry)
  }

  init(_ tombstone: Tombstone) {
    key = tombstone.key
    lane = tombstone.lane.rawValue
    orderNumber = tombstone.orderNumber
    state = "settled"
    outcome = Redaction.line(tombstone.outcome)
    reason = nil
    enqueuedAt = tombstone.enqueuedAt
    attempts = tombstone.attempts
    attemptedAt = nil
    readyAt = nil
    settledAt = tombstone.settledAt
    isFinishPending = tombstone.isFinishPending
    isUnconfirmed = tombstone.isUnconfirmed
    isUnprotected = false
    payloads = []
    history = tombstone.history.events
    advice = Self.advice(tombstone)
  }

  private static func advice(_ entry: Entry) -> String {
    switch entry.state {
    case .queued where entry.attempts == 0:
      "The entry waits to be sent. Open the app with a network connection."
    case .queued:
      "The entry was sent \(entry.attempts) times and not acknowledged. It is sent again. Look at the receiver's log."
    case .quarantined:
      "The entry cannot be delivered now and is kept. Fix the cause with the receiver, then release the entry."
    case .damaged:
      "The row of the entry was damaged on this device. Open the app: a redelivery by the source repairs it."
    }
  }

  private static func advice(_ tombstone: Tombstone) -> String {
    if tombstone.outcome == Tombstone.discarded {
      return "The entry was discarded without delivery. The history says by whom and why."
    }
    if tombstone.isUnconfirmed {
      return "The entry is settled, and the app has not shown the outcome yet. Open the app."
    }
    if tombstone.isFinishPending {
      return
        "The entry is settled. Its source is told when it can be reached and its account is signed in. Nothing to do."
    }
    return "The entry is settled. Nothing to do."
  }
}

extension CaseFile: CustomStringConvertible {
  /// A readable text with one fact in each line. Times are UTC.
  public var description: String {
    var lines = ["\(key): \(state)" + (outcome.map { " (\($0))" } ?? "")]
    func add(_ name: String, _ value: String?) {
      if let value { lines.append("  \(name): \(value)") }
    }
    add("lane", lane)
    add("order", orderNumber)
    add("queued", enqueuedAt.utc)
    add("attempts", "\(attempts)" + (attemptedAt.map { ", the last at \($0.utc)" } ?? ""))
    add("not before", readyAt?.utc)
    add("settled", settledAt?.utc)
    add("reason", reason)
    add("payloads", payloads.isEmpty ? nil : payloads.joined(separator: "; "))
    add("vault", isUnprotected ? "no whole copy" : nil)
    add("advice", advice)
    for event in history { lines.append("  \(event.at.utc)  \(event.what)") }
    return lines.joined(separator: "\n")
  }
}
