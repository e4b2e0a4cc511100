/// One event of an entry.
public struct HistoryEvent: Hashable, Sendable, Codable {
  /// The moment, by the device's clock.
  package var at: Timestamp
  /// The event in one line.
  public var what: String

  /// An event.
  package init(at: Timestamp, what: String) {
    self.at = at
    self.what = what
  }
}

/// The last events of an entry, oldest first: at most 32, each one line of at most 200 bytes of UTF-8.
///
/// Enqueuing and acknowledging are not recorded here: entry and tombstone have fields for them.
public struct History: Hashable, Sendable {
  /// How many events are kept.
  package static let capacity = 32
  /// The stored form has at most so many bytes: of each event the moment, a space, the text and a line break.
  static let mostBytes = capacity * (20 + 1 + Redaction.longest + 1)

  /// The stored form: a line for each event, with milliseconds and text.
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

  /// Adds an event and removes the oldest if there are too many. Text that looks like a secret is blanked.
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
