import PurchaseQueue

/// The place of a transaction in a history: when it changed last, then its id. The text of it is the `revision` that a
/// page ends with.
struct HistoryPlace: Hashable, Comparable {
  var changedAt: Timestamp
  var transactionID: String

  /// `1700000000000_2000000000000001`; with filters or in another order, their fingerprint follows.
  func revision(_ fingerprint: String? = nil) -> String {
    "\(changedAt.milliseconds)_\(transactionID)" + (fingerprint.map { "_" + $0 } ?? "")
  }

  /// Eight digits for a list of texts.
  static func fingerprint(of parts: [String]) -> String {
    // A separator that no query has.
    let bytes = SHA256.digest(Array(parts.joined(separator: "\u{0}").utf8))
    return bytes.prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  /// The revision of a history without transactions.
  static let empty = "0"

  init(changedAt: Timestamp, transactionID: String) {
    (self.changedAt, self.transactionID) = (changedAt, transactionID)
  }

  /// Nil for the beginning. Throws for a revision of another list.
  init?(revision: String?, fingerprint: String? = nil) throws(ServerAPIError) {
    guard let revision, revision != Self.empty else { return nil }
    let parts = revision.split(separator: "_", omittingEmptySubsequences: false)
    guard parts.dropFirst(2).map(String.init) == (fingerprint.map { [$0] } ?? []), parts.count >= 2,
      let moment = Int64(parts[0]), StoreModel.isTransactionID(parts[1])
    else {
      throw .invalidRevision
    }
    self.init(changedAt: Timestamp(milliseconds: moment), transactionID: String(parts[1]))
  }

  /// Ids are numbers, so a longer one is later.
  static func < (left: HistoryPlace, right: HistoryPlace) -> Bool {
    (left.changedAt, left.transactionID.count, left.transactionID)
      < (right.changedAt, right.transactionID.count, right.transactionID)
  }
}

/// A page of transactions: at most 20, and where the next one begins.
struct HistoryPage: Hashable {
  static let length = 20

  var records: [StoreTransactionRecord]
  /// Always there: on the last page, a later request with it has what is new.
  var revision: String
  var hasMore: Bool

  /// The page after a revision.
  init(
    of entries: [(place: HistoryPlace, record: StoreTransactionRecord)], after revision: String?,
    isDescending: Bool = false, fingerprint: String? = nil
  ) throws(ServerAPIError) {
    let start = try HistoryPlace(revision: revision, fingerprint: fingerprint)
    let ordered = entries.sorted { isDescending ? $1.place < $0.place : $0.place < $1.place }
    let rest = ordered.filter { entry in
      start.map { isDescending ? entry.place < $0 : $0 < entry.place } ?? true
    }
    let page = rest.prefix(Self.length)
    records = page.map(\.record)
    self.revision = page.last?.place.revision(fingerprint) ?? revision ?? HistoryPlace.empty
    hasMore = rest.count > page.count
  }
}
