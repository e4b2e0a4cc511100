package import PurchaseQueue

/// What came of one world.
package struct Life: Sendable {
  package var seed: UInt64
  package var violation: Violation?
  package var events: Int
  /// Of everything that happened, and of how many numbers were drawn.
  package var hash: UInt64
  /// How many random numbers it took.
  package var draws: Int
  package var exercised: [Int]
  package var marks: [Int]
  package var figures: Figures
}

/// Runs worlds, and makes small stories of those that fail.
package struct Exploration {
  package var profile: ExplorationProfile
  package var plant: Plant?
  package var disks: DiskMaker
  /// A planted bug of the exploration itself, for tests only: two processes draw different numbers. See `DrawLog`.
  package var hasOwnRandomness = false

  package init(profile: ExplorationProfile, plant: Plant? = nil, disks: @escaping DiskMaker) {
    self.profile = profile
    self.plant = plant
    self.disks = disks
  }

  /// The world of a seed, or of some acts of it.
  package func live(_ seed: UInt64, keeping places: [Int]? = nil, stopAt last: Int = .max) throws(QueueError)
    -> Life
  {
    let world = try world(seed, keeping: places)
    defer { world.remove() }
    let violation = world.run(stopAt: last)
    return Life(
      seed: seed, violation: violation, events: world.eventCount, hash: world.runHash, draws: world.draws,
      exercised: world.exercised, marks: world.marks, figures: world.measured)
  }

  /// The same in words: the knobs and, event by event, what happened.
  package func story(
    of seed: UInt64, keeping places: [Int]? = nil, stopAt last: Int = .max
  ) throws(QueueError) -> (violation: Violation?, lines: [String]) {
    let world = try world(seed, keeping: places, story: Story())
    defer { world.remove() }
    let violation = world.run(stopAt: last)
    return (violation, world.toldStory)
  }

  /// Every number that it draws.
  package func draws(of seed: UInt64) throws(QueueError) -> [Draw] {
    let log = DrawLog(hasOwnRandomness: hasOwnRandomness)
    let world = try world(seed, keeping: nil, log: log)
    defer { world.remove() }
    _ = world.run()
    return log.draws
  }

  private func world(
    _ seed: UInt64, keeping places: [Int]?, story: Story? = nil, log: DrawLog? = nil
  ) throws(QueueError) -> World {
    let log = log ?? (hasOwnRandomness ? DrawLog(keepsDraws: false, hasOwnRandomness: true) : nil)
    return try World(
      Knobs(seed: seed, profile: profile, log: log), keeping: places, plant: plant, disks: disks,
      story: story, log: log)
  }

  /// The acts of a seed.
  package func acts(of seed: UInt64) -> [PlannedAct] { Schedule(Knobs(seed: seed, profile: profile)).acts }
}

/// A failing world made small: as few of its acts as still break the same invariant.
package struct Shrinking {
  package private(set) var places: [Int]
  package private(set) var violation: Violation
  package private(set) var runs = 0
  /// Events that may still be spent on it: half a minute's, at most.
  private var eventsLeft = 4_000_000
  private let exploration: Exploration
  private let seed: UInt64

  /// ddmin (Zeller and Hildebrandt, 2002) over the places of the acts.
  package init(_ exploration: Exploration, seed: UInt64, _ violation: Violation) throws(QueueError) {
    self.exploration = exploration
    self.seed = seed
    self.violation = violation
    let acts = exploration.acts(of: seed)
    // What comes after the failure had no part in it.
    places = acts.indices.filter { acts[$0].at <= violation.at }
    if try !fails(places) { places = Array(acts.indices) }
    var parts = 2
    while places.count >= 2 {
      if try reduce(&parts) { continue }
      guard parts < places.count else { break }
      parts = min(places.count, parts * 2)
    }
    if places.count == 1, try fails([]) { places = [] }
  }

  private mutating func reduce(_ parts: inout Int) throws(QueueError) -> Bool {
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

  private mutating func fails(_ places: [Int]) throws(QueueError) -> Bool {
    guard eventsLeft > 0 else { return false }
    runs += 1
    let life = try exploration.live(seed, keeping: places)
    eventsLeft -= life.events
    guard let found = life.violation, found.invariant == violation.invariant else { return false }
    violation = found
    return true
  }
}
