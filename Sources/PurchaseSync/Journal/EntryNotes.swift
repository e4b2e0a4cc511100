import PurchaseQueue

/// What the engine keeps of an entry while it is queued. It is in the entry's own row, under its checksum, and ends with it.
struct EntryNotes: Codable, Hashable {
  /// Nil if the entry has not failed.
  var watch: PoisonWatch?
  /// The wait that was stored last.
  var wait: Wait?

  /// Nothing is kept of most entries.
  init(_ text: String?) { self = text.flatMap { Self(json: $0.utf8) } ?? Self() }

  private init() {}

  private func text() throws(QueueError) -> String? {
    self == Self() ? nil : try jsonText(of: "the notes of an entry")
  }

  /// Changes them, in the open transaction if there is one. Does nothing for an entry that is not there.
  static func change(
    of key: EntryKey, in file: QueueFile, _ change: (inout EntryNotes) -> Void
  ) throws(QueueError) {
    try file.changeNotes(of: key) { (text) throws(QueueError) in
      var notes = EntryNotes(text)
      change(&notes)
      return try notes.text()
    }
  }

  static func keep(_ watch: PoisonWatch, of key: EntryKey, in file: QueueFile) throws(QueueError) {
    try change(of: key, in: file) { $0.watch = watch == PoisonWatch() ? nil : watch }
  }
}
