package import PurchaseQueue

/// A run of the machine's simulation that fails, and can be made again as often as necessary.
package struct FailingRun {
  /// Makes the run anew, with the acts at these places only; nil for all.
  package typealias Maker = (_ places: [Int]?, _ trace: Trace?) throws(QueueError) -> MachineSimulation

  /// Which code runs in the futures.
  package enum Code: String, Sendable, CaseIterable {
    /// The code that failed.
    case same
    /// The right code: only for a planted bug. Then the share says how much of the damage is done.
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

  /// Whether one future after an event breaks the same invariant.
  package func fails(after event: Int, future number: Int, _ code: Code) throws(QueueError) -> Bool {
    let simulation = try make(places, nil)
    defer { simulation.remove() }
    simulation.run(stopAt: event)
    // The same future after each event: then two shares differ by what the events did, and less by chance.
    var scatter = RandomStream(seed: seed, "future", number)
    simulation.redraw(scatter.next())
    if code == .mended { simulation.mend() }
    simulation.run()
    return simulation.result.violation?.invariant == violation.invariant
  }

  /// The acts whose removal, one at a time, changes nothing.
  package func idleActs(among places: [Int]) throws(QueueError) -> [Int] {
    var idle: [Int] = []
    for place in places {
      let simulation = try make(places.filter { $0 != place }, nil)
      defer { simulation.remove() }
      simulation.run()
      if simulation.result.violation?.invariant == violation.invariant { idle.append(place) }
    }
    return idle
  }

  /// What the planted bug did up to the failure.
  package func deeds() throws(QueueError) -> [PlantedDeeds.Deed] {
    let simulation = try make(places, nil)
    defer { simulation.remove() }
    simulation.run()
    return simulation.deeds.all
  }
}
