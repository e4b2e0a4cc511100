/// The part of the books that does not follow from the totals. It changes only with rare ends, so an ordinary enqueue
/// or settlement writes nothing of it.
///
/// The number of entries that came in follows from the last place, because each entry gets the next one.
struct StoredBooks: Hashable {
  static let fact = "books"

  /// Places that belong to no entry of these books.
  var unused: Int64 = 0
  var discarded = 0
  var replaced = 0
  var lost = 0
  var restarts = 0

  init() {}

  /// The text of the fact. Nil if it is another text, or if a number is none that entries can have been counted to.
  init?(_ text: String) {
    let numbers = text.split(separator: " ").compactMap { Int64($0) }
    guard numbers.count == 5, numbers.allSatisfy({ $0.magnitude < 1 << 48 }),
      numbers.dropFirst().allSatisfy({ $0 >= 0 })
    else { return nil }
    unused = numbers[0]
    (discarded, replaced) = (Int(clamping: numbers[1]), Int(clamping: numbers[2]))
    (lost, restarts) = (Int(clamping: numbers[3]), Int(clamping: numbers[4]))
  }

  var text: String { "\(unused) \(discarded) \(replaced) \(lost) \(restarts)" }

  /// Books that begin with what is there now.
  static func restarted(at totals: Totals, after restarts: Int = 0) -> StoredBooks {
    var books = StoredBooks()
    books.unused = totals.lastPlace &- Int64(totals.present)
    books.restarts = restarts + 1
    return books
  }

  /// The rows were counted again, with the totals from before and after it. A place that was given without an entry is
  /// not one that came in.
  mutating func recounted(from before: Totals, to after: Totals, isReplacing: Bool = false) {
    // Wraps: a place can lie, and no number of a file may end the process.
    unused &+= after.lastPlace &- before.lastPlace
    var missing = before.present &- after.present
    if isReplacing, missing > 0 {
      replaced += 1
      missing -= 1
    }
    if missing >= 0 {
      lost &+= missing
    } else {
      // A row that was gone is back: an older copy of it was found.
      unused &+= Int64(missing)
    }
  }

  func books(with totals: Totals) -> QueueBooks {
    QueueBooks(
      entered: Int(clamping: totals.lastPlace &- unused), queued: totals.queued,
      quarantined: totals.quarantined,
      discarded: discarded, replaced: replaced, lost: lost, restarts: restarts)
  }
}

extension Totals {
  /// Entries of every state.
  var present: Int { queued &+ quarantined }
}
