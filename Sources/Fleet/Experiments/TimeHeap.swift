/// Orders events by time, then by the order of planning.
struct TimeHeap<Event> {
  private var all: [(at: Double, number: Int, event: Event)] = []
  private var planned = 0

  mutating func plan(_ event: Event, at moment: Double) {
    planned += 1
    all.append((moment, planned, event))
    var child = all.count - 1
    while child > 0, isBefore(child, (child - 1) / 2) {
      all.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func next() -> (at: Double, event: Event)? {
    guard let first = all.first else { return nil }
    all.swapAt(0, all.count - 1)
    all.removeLast()
    var parent = 0
    while true {
      var child = 2 * parent + 1
      guard child < all.count else { break }
      if child + 1 < all.count, isBefore(child + 1, child) { child += 1 }
      guard isBefore(child, parent) else { break }
      all.swapAt(child, parent)
      parent = child
    }
    return (first.at, first.event)
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (all[left].at, all[left].number) < (all[right].at, all[right].number)
  }
}
