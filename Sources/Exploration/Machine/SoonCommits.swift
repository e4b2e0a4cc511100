/// What a power cut may leave: the content before each commit since the last durable one. Such a commit is promised soon,
/// and a cut loses some of them from the end.
package struct SoonCommits<Content> {
  /// The oldest first.
  private var before: [Content] = []

  package init() {}

  /// How many commits a cut may lose.
  package var count: Int { before.count }

  /// A commit that is promised soon follows.
  package mutating func begin(from content: Content) { before.append(content) }

  /// It did not happen.
  package mutating func dropLast() { before.removeLast() }

  /// A durable commit makes all durable that came before it.
  package mutating func allAreDurable() { before.removeAll() }

  /// The power is cut, and the first `kept` of them are still there: what the storage holds now; nil if all are.
  package mutating func cut(keeping kept: Int) -> Content? {
    defer { before.removeAll() }
    return kept < before.count ? before[kept] : nil
  }
}
