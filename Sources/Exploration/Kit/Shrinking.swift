/// A failing run made small: the fewest acts that still break the same invariant.
package struct Shrinking {
  package private(set) var places: [Int]
  package private(set) var violation: Violation
  package private(set) var runs = 0
  /// How many more events the shrinking may take: half a minute at most.
  private var eventsLeft = 4_000_000
  /// So few acts are enough.
  private let enough: Int
  private let run: ([Int]) throws -> RunResult

  /// - Parameter enough: How few acts end the search; 0 for the fewest that it finds.
  package init(
    _ runner: any SimulationRunner, seed: UInt64, _ violation: Violation, enough: Int = 0
  ) throws {
    try self.init(runner.acts(of: seed), violation, enough: enough) { try runner.run(seed, keeping: $0) }
  }

  /// ddmin (Zeller and Hildebrandt, 2002) over the places of the acts.
  ///
  /// - Parameters:
  ///   - known: The acts that happen in the run; nil for all.
  ///   - run: The run with the acts at these places only.
  init(
    _ acts: [PlannedAct], among known: [Int]? = nil, _ violation: Violation, enough: Int = 0,
    run: @escaping ([Int]) throws -> RunResult
  ) throws {
    self.run = run
    self.enough = enough
    self.violation = violation
    let all = known ?? Array(acts.indices)
    // Later acts did not cause the failure.
    places = all.filter { acts[$0].at <= violation.at }
    if try !fails(places) { places = all }
    var parts = 2
    while places.count > max(1, enough) {
      if try reduce(&parts) { continue }
      guard parts < places.count else { break }
      parts = min(places.count, parts * 2)
    }
    if enough == 0, places.count == 1, try fails([]) { places = [] }
  }

  private mutating func reduce(_ parts: inout Int) throws -> Bool {
    let size = (places.count + parts - 1) / parts
    var start = 0
    while start < places.count {
      var rest = places
      rest.removeSubrange(start..<min(start + size, places.count))
      if try fails(rest) {
        places = rest
        parts = max(2, parts - 1)
        return true
      }
      start += size
    }
    return false
  }

  private mutating func fails(_ places: [Int]) throws -> Bool {
    guard eventsLeft > 0 else { return false }
    runs += 1
    let result = try run(places)
    eventsLeft -= result.events
    guard let found = result.violation, found.invariant == violation.invariant else { return false }
    violation = found
    return true
  }
}
