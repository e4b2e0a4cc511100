package import PurchaseQueue

/// A run of the machine's simulation that fails, and can be made again as often as necessary.
package struct FailingRun {
  /// Makes the run again, with the acts at these places only; nil for all.
  package typealias Maker = (_ places: [Int]?, _ trace: Trace?) throws(QueueError) -> MachineSimulation

  /// Which code runs in the futures.
  package enum Code: String, Sendable, CaseIterable, Codable {
    /// The code that failed: the share says how likely the failure was.
    case same
    /// The right code, for a planted bug: the share says whether the damage is done.
    case mended
  }

  package let places: [Int]?
  package let violation: Violation
  private let make: Maker
  private let seed: UInt64

  /// Nil if the run does not fail.
  /// - Parameter seed: Of the futures.
  package init?(keeping places: [Int]?, seed: UInt64, make: @escaping Maker) throws(QueueError) {
    let simulation = try make(places, nil)
    defer { simulation.remove() }
    simulation.run()
    guard let violation = simulation.result.violation else { return nil }
    (self.places, self.violation, self.make, self.seed) = (places, violation, make, seed)
  }

  /// Whether the failure is the same: the same invariant, or the same rule of the protocol.
  private func isSame(_ other: Violation?) -> Bool {
    other?.invariant == violation.invariant && other?.sentence == violation.sentence
  }

  /// How likely the failure was after each event.
  package func shares(
    _ code: Code, _ budget: FutureShares.Budget = .init()
  ) throws(QueueError) -> FutureShares {
    try FutureShares(of: violation.event, budget) { (event, future) throws(QueueError) in
      try fails(after: event, future: future, code)
    }
  }

  /// Whether one future after an event fails in the same way.
  private func fails(after event: Int, future number: Int, _ code: Code) throws(QueueError) -> Bool {
    let simulation = try make(places, nil)
    defer { simulation.remove() }
    simulation.run(stopAt: event)
    // The same future after each event: then two shares differ by what the events did, and less by chance.
    var scatter = RandomStream(seed: seed, "future", number)
    simulation.redraw(scatter.next())
    if code == .mended { simulation.mend() }
    simulation.run()
    return isSame(simulation.result.violation)
  }

  /// The whole schedule.
  func plannedActs() throws(QueueError) -> [PlannedAct] {
    let simulation = try make(nil, nil)
    defer { simulation.remove() }
    return simulation.acts
  }

  /// The run with these acts only.
  func result(keeping places: [Int]) throws(QueueError) -> RunResult {
    let simulation = try make(places, nil)
    defer { simulation.remove() }
    simulation.run()
    return simulation.result
  }

  /// The last event in which the planted bug did something without which the run does not fail so, with the same draws.
  /// If it did too much for any single deed to count, its last deed; nil if it did nothing.
  package func guiltyEvent() throws(QueueError) -> Int? {
    let events = try deeds().map(\.event)
    for event in Set(events).sorted(by: >) where try !fails(sparing: event) { return event }
    return events.last
  }

  private func deeds() throws(QueueError) -> [PlantedDeeds.Deed] {
    let simulation = try make(places, nil)
    defer { simulation.remove() }
    simulation.run()
    return simulation.deeds.all
  }

  /// Whether the run fails in the same way, and as soon, if the right code runs in one event.
  private func fails(sparing event: Int) throws(QueueError) -> Bool {
    let simulation = try make(places, nil)
    defer { simulation.remove() }
    simulation.sparedEvent = event
    simulation.run(stopAt: violation.event)
    return isSame(simulation.result.violation)
  }
}
