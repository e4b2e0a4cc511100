/// The redacted history of one entry, queued or settled: the answer to "I paid and got nothing".
///
/// Holds kinds and sizes of proofs, never their bytes, and not the owner's `details`; free text is redacted.
public struct CaseFile: Hashable, Sendable, Codable {
  /// The entry's name.
  public var key: EntryKey
  /// Whose it is.
  public var lane: String
  /// The order it fulfils, if that is known.
  public var orderNumber: String?
  /// `queued`, `quarantined`, `damaged` or `settled`.
  public var state: String
  /// How it was settled.
  public var outcome: String?
  /// Why it does not take its turn.
  public var reason: String?
  /// When it was queued on this installation.
  public var enqueuedAt: Timestamp
  /// Attempts begun.
  public var attempts: Int
  /// When the last one began.
  public var attemptedAt: Timestamp?
  /// Not to be sent before this moment.
  public var readyAt: Timestamp?
  /// When it was settled.
  public var settledAt: Timestamp?
  /// The source still has to be told.
  public var isFinishOwed: Bool
  /// The outcome has not reached anyone.
  public var isUnseen: Bool
  /// The vault does not hold a whole copy.
  public var isUnprotected: Bool
  /// Kind, size, and whether the bytes are here.
  public var proofs: [String]
  /// What happened, oldest first; the last 32 events.
  public var history: [HistoryEvent]
  /// What it means and what to do, in one sentence.
  public var advice: String

  init(_ entry: Entry) {
    key = entry.key
    lane = entry.lane.text
    orderNumber = entry.orderNumber
    state = entry.state.rawValue
    outcome = nil
    reason = entry.reason
    enqueuedAt = entry.enqueuedAt
    attempts = entry.attempts
    attemptedAt = entry.attemptedAt
    readyAt = entry.readyAt.milliseconds == 0 ? nil : entry.readyAt
    settledAt = nil
    isFinishOwed = false
    isUnseen = false
    isUnprotected = entry.isUnprotected
    proofs = entry.proofs.map { proof in
      "\(proof.kind), \(proof.size) bytes" + (proof.isByReference ? ", to be read from its source" : "")
    }
    history = entry.history.events
    advice = Self.advice(entry)
  }

  init(_ tombstone: Tombstone) {
    key = tombstone.key
    lane = tombstone.lane.text
    orderNumber = tombstone.orderNumber
    state = "settled"
    outcome = Redaction.line(tombstone.outcome)
    reason = nil
    enqueuedAt = tombstone.enqueuedAt
    attempts = tombstone.attempts
    attemptedAt = nil
    readyAt = nil
    settledAt = tombstone.settledAt
    isFinishOwed = tombstone.isFinishOwed
    isUnseen = tombstone.isUnseen
    isUnprotected = false
    proofs = []
    history = tombstone.history.events
    advice = Self.advice(tombstone)
  }

  private static func advice(_ entry: Entry) -> String {
    switch entry.state {
    case .queued where entry.attempts == 0:
      "It waits to be sent. Open the app with a network connection."
    case .queued:
      "It was sent \(entry.attempts) times and not acknowledged; it is tried again. Look at the receiver's log."
    case .quarantined:
      "It cannot be delivered as it is, and is kept. Mend the cause with the receiver, then release it."
    case .damaged:
      "Its row was damaged on this device. Open the app: what the source delivers again makes it whole."
    }
  }

  private static func advice(_ tombstone: Tombstone) -> String {
    if tombstone.outcome == Tombstone.discarded {
      return "It was given up undelivered; the history says by whom and why."
    }
    if tombstone.isUnseen { return "It is settled, and the app has not shown the outcome yet. Open the app." }
    if tombstone.isFinishOwed {
      return "It is settled; its source is told as soon as it can be reached. Nothing to do."
    }
    return "It is settled. Nothing to do."
  }
}

extension CaseFile: CustomStringConvertible {
  /// A readable account, a fact a line. Times are UTC.
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
    add("proofs", proofs.isEmpty ? nil : proofs.joined(separator: "; "))
    add("vault", isUnprotected ? "no whole copy" : nil)
    add("advice", advice)
    for event in history { lines.append("  \(event.at.utc)  \(event.what)") }
    return lines.joined(separator: "\n")
  }
}
