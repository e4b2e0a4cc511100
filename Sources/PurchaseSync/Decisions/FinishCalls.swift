import PurchaseQueue

/// Puts pending finishes into few calls of the store, in their order.
///
/// ```
///            add               next: a call has space             ended
///   (not there) ──▶ waiting ──────────────────────────▶ in a call ──────▶ (not there)
/// ```
///
/// A finish that failed in company may be what made the others wait: it goes alone the next time.
struct FinishCalls: Hashable {
  /// The most calls at one time.
  static var mostCalls: Int { 4 }
  /// The most finishes of one call.
  static var mostPerCall: Int { 100 }

  private var waiting: [Tombstone] = []
  private var calls = 0
  private var goAlone: Set<EntryKey> = []

  init() {}

  mutating func add(_ tombstone: Tombstone) { waiting.append(tombstone) }

  /// The finishes of the next call; nil if there are none, or if enough calls are under way.
  mutating func next() -> [Tombstone]? {
    guard calls < Self.mostCalls, let first = waiting.first else { return nil }
    calls += 1
    guard !goAlone.contains(first.key) else { return [waiting.removeFirst()] }
    let call = waiting.prefix(Self.mostPerCall).prefix { !goAlone.contains($0.key) }
    waiting.removeFirst(call.count)
    return Array(call)
  }

  /// A call ended; `failed` are those of its finishes that have no result.
  mutating func ended(_ call: [Tombstone], failed: Set<EntryKey>) {
    calls -= 1
    for tombstone in call {
      if failed.contains(tombstone.key) {
        goAlone.insert(tombstone.key)
      } else {
        goAlone.remove(tombstone.key)
      }
    }
  }
}
