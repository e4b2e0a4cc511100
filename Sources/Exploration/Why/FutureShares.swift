/// How likely a failing run was to fail, after each of its events: the share of failing futures, when everything that
/// was not decided yet is drawn again.
///
/// The search for the largest rise begins with the whole run and halves the interval with the largest rise, until that
/// is one event. Then more futures are drawn on both sides of it. The same question gives the same shares.
package struct FutureShares: Sendable {
  /// The futures that were drawn after one event.
  package struct Point: Sendable, Hashable {
    /// 0: before the first event.
    package var event: Int
    package var futures: Int
    package var failures: Int

    package var share: Double { Double(failures) / Double(max(1, futures)) }
  }

  /// The event that raised the share most.
  package struct Jump: Sendable, Hashable {
    package var event: Int
    package var before: Double
    package var after: Double

    package init(event: Int, before: Double, after: Double) {
      (self.event, self.before, self.after) = (event, before, after)
    }
  }

  /// How many futures are drawn.
  package struct Budget: Sendable {
    /// After an event of the search.
    package var coarse: Int
    /// On both sides of a jump.
    package var fine: Int
    /// In all; the search then ends with what it has.
    package var most: Int
    /// A run with no more events is sampled after each of them.
    package var every: Int

    package init(coarse: Int = 24, fine: Int = 96, most: Int = 12_000, every: Int = 64) {
      (self.coarse, self.fine, self.most, self.every) = (coarse, fine, most, every)
    }
  }

  /// In the order of the events. The last is the failure itself.
  package var points: [Point] { sampled.values.sorted { $0.event < $1.event } }
  package private(set) var futures = 0
  package private(set) var jump: Jump
  private var sampled: [Int: Point]
  private let budget: Budget

  /// - Parameters:
  ///   - last: The event of the failure.
  ///   - fails: Whether a future after an event fails; the number distinguishes futures after one event.
  package init<E: Error>(
    of last: Int, _ budget: Budget = Budget(), fails: (_ event: Int, _ future: Int) throws(E) -> Bool
  ) throws(E) {
    self.budget = budget
    sampled = [last: Point(event: last, futures: 1, failures: 1)]
    jump = Jump(event: last, before: 0, after: 1)
    guard last > 0 else { return }
    try draw(budget.coarse, after: 0, fails)
    if last <= budget.every { for event in 1..<last { try draw(budget.coarse, after: event, fails) } }
    while futures < budget.most {
      let (low, high) = steepest
      if high.event - low.event > 1 {
        try draw(budget.coarse, after: (low.event + high.event) / 2, fails)
      } else if let rough = [low, high].first(where: { $0.futures < budget.fine && $0.event < last }) {
        try draw(budget.fine - rough.futures, after: rough.event, fails)
      } else {
        break
      }
    }
    let (low, high) = steepest
    jump = Jump(event: high.event, before: low.share, after: high.share)
  }

  private mutating func draw<E: Error>(
    _ count: Int, after event: Int, _ fails: (Int, Int) throws(E) -> Bool
  ) throws(E) {
    let count = min(count, budget.most - futures)
    var point = sampled[event] ?? Point(event: event, futures: 0, failures: 0)
    for _ in 0..<count {
      if try fails(event, point.futures) { point.failures += 1 }
      point.futures += 1
    }
    futures += count
    sampled[event] = point
  }

  /// The neighbours with the largest rise; of several the last ones: until then the failure could be avoided.
  private var steepest: (low: Point, high: Point) {
    let points = points
    var best = (low: points[0], high: points[points.count - 1])
    var rise = -1.0
    for (low, high) in zip(points, points.dropFirst()) where high.share - low.share >= rise {
      (best, rise) = ((low, high), high.share - low.share)
    }
    return best
  }
}
