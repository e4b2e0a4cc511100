/// One thing that happened to an entry.
public struct HistoryEvent: Hashable, Sendable, Codable {
  /// When, by the device's clock.
  public var at: Timestamp
  /// What, in one line.
  public var what: String

  /// An event.
  public init(at: Timestamp, what: String) {
    self.at = at
    self.what = what
  }
}

/// The last things that happened to an entry, oldest first: at most 32, each at most 200 characters of one line.
///
/// Enqueuing and acknowledging are not among them: the entry and its tombstone have fields for these.
public struct History: Hashable, Sendable {
  /// How many events are kept.
  public static let capacity = 32

  /// As it stands in the row: milliseconds and text, a line each.
  var text: String

  init(text: String = "") { self.text = text }

  /// The events, oldest first.
  public var events: [HistoryEvent] {
    text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let at = Int64(parts[0]) else { return nil }
      return HistoryEvent(at: Timestamp(milliseconds: at), what: String(parts[1]))
    }
  }

  /// Adds an event; the oldest goes when there are too many. What looks like a secret is blanked.
  mutating func append(_ what: String, at: Timestamp) {
    if !text.isEmpty { text += "\n" }
    text += "\(at.milliseconds) \(Redaction.line(what))"
    let newline = UInt8(ascii: "\n")
    var tooMany = text.utf8.count { $0 == newline } + 1 - Self.capacity
    guard tooMany > 0 else { return }
    var kept = text.utf8[...]
    while tooMany > 0, let end = kept.firstIndex(of: newline) {
      kept = kept[kept.index(after: end)...]
      tooMany -= 1
    }
    text = String(Substring(kept))
  }
}
