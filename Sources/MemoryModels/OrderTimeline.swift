import PurchaseQueue

/// Orders sorted by the time at which they were made, in chunks of bounded size.
///
/// Insert, remove and find take time in proportion to log n. When a chunk splits or becomes empty, a list of
/// about n/128 chunks moves once. One long array would move half of itself on each insert, and n inserts
/// would take time in proportion to n².
struct OrderTimeline: Sendable {
  /// An order's position. Orders of one moment are sorted by number, so that the position does not depend on
  /// the sequence of inserts.
  struct Mark: Comparable, Sendable {
    var createdAt: Timestamp
    var number: String
    /// The index of the order in `OrderBook`.
    var slot: Int

    static func < (left: Mark, right: Mark) -> Bool {
      left.createdAt != right.createdAt ? left.createdAt < right.createdAt : left.number < right.number
    }
  }

  private static let chunkSize = 256
  /// The chunks in order. No chunk is empty.
  private var chunks: [[Mark]] = []

  mutating func insert(_ mark: Mark) {
    guard !chunks.isEmpty else {
      chunks = [[mark]]
      return
    }
    // The last chunk that begins at or before the mark, or the first chunk.
    let index = max(0, Self.count(in: chunks) { $0[0] <= mark } - 1)
    let position = Self.count(in: chunks[index]) { $0 < mark }
    chunks[index].insert(mark, at: position)
    guard chunks[index].count > Self.chunkSize else { return }
    let tail = Array(chunks[index][(Self.chunkSize / 2)...])
    chunks[index].removeLast(tail.count)
    chunks.insert(tail, at: index + 1)
  }

  /// Removes an equal mark, if there is one.
  mutating func remove(_ mark: Mark) {
    let index = Self.count(in: chunks) { $0[0] <= mark } - 1
    guard index >= 0 else { return }
    let position = Self.count(in: chunks[index]) { $0 < mark }
    guard position < chunks[index].count, chunks[index][position] == mark else { return }
    chunks[index].remove(at: position)
    if chunks[index].isEmpty { chunks.remove(at: index) }
  }

  /// Whether any order is between the two moments, both inclusive.
  func hasAny(from: Timestamp, through: Timestamp) -> Bool {
    var result = false
    forEach(from: from, through: through, isLatestFirst: false) { _ in
      result = true
      return false
    }
    return result
  }

  /// Calls `body` with the slots of the marks between the two moments, both inclusive, until it returns
  /// false.
  func forEach(
    from: Timestamp, through: Timestamp, isLatestFirst: Bool, _ body: (Int) -> Bool
  ) {
    if isLatestFirst {
      var index = Self.count(in: chunks) { $0[0].createdAt <= through } - 1
      while index >= 0 {
        let chunk = chunks[index]
        var position = Self.count(in: chunk) { $0.createdAt <= through } - 1
        while position >= 0 {
          guard chunk[position].createdAt >= from, body(chunk[position].slot) else { return }
          position -= 1
        }
        index -= 1
      }
    } else {
      var index = max(0, Self.count(in: chunks) { $0[0].createdAt < from } - 1)
      while index < chunks.count {
        let chunk = chunks[index]
        var position = Self.count(in: chunk) { $0.createdAt < from }
        while position < chunk.count {
          guard chunk[position].createdAt <= through, body(chunk[position].slot) else { return }
          position += 1
        }
        index += 1
      }
    }
  }

  /// The number of leading elements that fulfil a condition. The condition must hold for a prefix only. Uses
  /// bisection.
  private static func count<Element>(in elements: [Element], where holds: (Element) -> Bool) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(elements[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
