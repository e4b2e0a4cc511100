/// Metastable failures after L. Huang et al., "Metastable Failures in the Wild" (OSDI 2022): a short trigger, and an
/// amplifier that keeps the system failing when the trigger is gone. The systems are fluid models, a second at a time.
package enum MetastableStudy {
  /// What goes wrong, for a minute.
  package enum Trigger: String, Sendable, CaseIterable {
    /// Three times the load.
    case loadSpike = "load spike"
    /// A quarter of the capacity.
    case capacityLoss = "capacity loss"
  }

  /// What keeps it going.
  package enum Amplifier: String, Sendable, CaseIterable {
    /// Requests that waited for longer than two seconds are answered in vain, and sent again up to three times: more
    /// work.
    case retries
    /// A cache in front of a database becomes empty when the database is overloaded: less capacity.
    case coldCache = "cold cache"
  }

  /// The loads of a system, over its capacity.
  package struct Hysteresis: Sendable, Equatable {
    /// The lowest load at which it fails without a trigger.
    package var failsAlone: Double
    /// The lowest load at which it stays failed after the trigger.
    package var failsAfterTrigger: Double
    /// The highest load at which a failed system recovers.
    package var recoversAt: Double
  }

  static let loads = stride(from: 0.05, through: 1.5, by: 0.05).map { ($0 * 100).rounded() / 100 }

  package static func hysteresis(_ trigger: Trigger, _ amplifier: Amplifier) -> Hysteresis {
    func first(_ fails: (Double) -> Bool) -> Double { loads.first(where: fails) ?? .infinity }
    return Hysteresis(
      failsAlone: first { state(amplifier, load: $0, trigger: nil) == .failing },
      failsAfterTrigger: first { state(amplifier, load: $0, trigger: trigger) == .failing },
      recoversAt: loads.last { recovers(amplifier, load: $0) } ?? 0)
  }

  package enum State: String, Sendable, Encodable {
    /// It serves everything, and would after the trigger.
    case stable
    /// It serves everything, and fails for good after the trigger.
    case vulnerable
    /// It fails for good.
    case failing
  }

  /// The phase of a load: stable, vulnerable, or failing.
  package static func phase(_ trigger: Trigger, _ amplifier: Amplifier, load: Double) -> State {
    if state(amplifier, load: load, trigger: nil) == .failing { return .failing }
    return state(amplifier, load: load, trigger: trigger) == .failing ? .vulnerable : .stable
  }

  /// Twenty minutes of load, with the trigger in the second one.
  private static func state(_ amplifier: Amplifier, load: Double, trigger: Trigger?) -> State {
    var system = System(amplifier)
    for second in 0..<1_200 {
      let isTriggered = trigger != nil && (60..<120).contains(second)
      system.step(
        load: isTriggered && trigger == .loadSpike ? load * 3 : load,
        capacity: isTriggered && trigger == .capacityLoss ? 0.25 : 1)
    }
    return system.isServing ? .stable : .failing
  }

  /// Whether a system that was driven into failure serves everything again at this load.
  private static func recovers(_ amplifier: Amplifier, load: Double) -> Bool {
    var system = System(amplifier)
    for _ in 0..<300 { system.step(load: 3, capacity: 1) }
    for _ in 0..<1_200 { system.step(load: load, capacity: 1) }
    return system.isServing
  }

  private struct System {
    let amplifier: Amplifier
    private(set) var isServing = true
    /// Requests that wait, in seconds of work; what was refused for being late, by its number of attempts.
    private var backlog = 0.0
    private var again = [0.0, 0, 0]
    /// The part of the reads that the cache answers.
    private var hits = 0.9

    init(_ amplifier: Amplifier) { self.amplifier = amplifier }

    mutating func step(load: Double, capacity: Double) {
      switch amplifier {
      case .retries: retry(load, capacity)
      case .coldCache: read(load, capacity)
      }
    }

    private mutating func retry(_ load: Double, _ capacity: Double) {
      let offered = [load] + again
      let work = backlog + offered.reduce(0, +)
      // The queue is served in order. Beyond a minute of work requests are refused, which is as late.
      backlog = min(max(work - capacity, 0), 60 * capacity)
      let isLate = backlog > 2 * capacity
      isServing = !isLate
      again = isLate ? Array(offered.prefix(3)) : [0, 0, 0]
    }

    private mutating func read(_ load: Double, _ capacity: Double) {
      // The database alone can serve a tenth of what it can serve with its cache.
      let database = 0.1 * capacity
      let misses = load * (1 - hits)
      let served = misses > database ? database * max(0.1, database / misses) : misses
      isServing = misses <= database
      // What is served is cached; a hundredth is evicted each second.
      hits = min(0.9, max(0, hits * 0.99 + 0.1 * served / max(load, 0.01)))
    }
  }
}
