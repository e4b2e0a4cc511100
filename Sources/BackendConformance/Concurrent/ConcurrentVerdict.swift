import PurchaseSyncTesting

/// What a history shows.
package struct ConcurrentVerdict: Sendable {
  /// The calls that cannot be together: one text for each object that is wrong, the shortest first.
  package let contradictions: [String]

  package init(_ history: ConcurrentRun.History) {
    var found: [(size: Int, text: String)] = []
    for (key, calls) in history.orders.sorted(by: { $0.key < $1.key }) {
      if let part = ShortestPart(of: calls) {
        found.append((part.calls.count, "idempotency key \(key)\n\(part)"))
      }
    }
    for (id, calls) in history.grants.sorted(by: { $0.key < $1.key }) {
      if let part = ShortestPart(of: calls) {
        found.append((part.calls.count, "transaction \(id)\n\(part)"))
      }
    }
    // Stable, so that the same history gives the same report.
    contradictions = found.enumerated().sorted { ($0.element.size, $0.offset) < ($1.element.size, $1.offset) }
      .map(\.element.text)
  }
}
