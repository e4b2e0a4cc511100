package import PurchaseQueue

/// The details of an entry or a tombstone, decoded where the row leaves the file. This is the only place that reads
/// their JSON. A damaged row is a case: each caller decides what to do without the details.
package enum EntryDetails: Hashable, Sendable {
  case readable(TransactionDetails)
  /// The text is not the JSON of details.
  case unreadable(EntryKey)

  package init(of entry: borrowing Entry) { self.init(text: entry.details, key: entry.key) }

  package init(of tombstone: borrowing Tombstone) { self.init(text: tombstone.details, key: tombstone.key) }

  init(text: String, key: EntryKey) {
    if let details = TransactionDetails(text: text) {
      self = .readable(details)
    } else {
      self = .unreadable(key)
    }
  }

  /// The details, or nil if they cannot be read.
  package var known: TransactionDetails? {
    if case .readable(let details) = self { details } else { nil }
  }

  /// The details, for a caller that cannot continue without them.
  package func required() throws(QueueError) -> TransactionDetails {
    switch self {
    case .readable(let details): return details
    case .unreadable(let key): throw .damaged(path: "entry \(key)", what: "its details cannot be decoded")
    }
  }
}
