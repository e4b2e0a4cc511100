/// Metastable failures as the paper of OSDI 2022 ("Metastable Failures in the Wild") describes them: a trigger overloads
/// a backend, and an amplifier keeps it overloaded when the trigger is gone. Two triggers and two amplifiers, in steps of
/// one second and without randomness; loads are parts of the capacity.
package struct MetastableStudy: Sendable {
  package enum Trigger: String, CaseIterable, Sendable {
    /// For two minutes there are three times as many calls.
    case spike
    /// For two minutes the backend has a tenth of its capacity, and its cache is lost.
    case capacityLoss
  }

  package enum Amplifier: String, CaseIterable, Sendable {
    /// The work grows: a caller that gets no answer in time tries three times more, and the backend works on requests
    /// that no caller waits for any more.
    case retries
    /// The capacity shrinks: each call that the cache cannot answer costs the database a read, a read that is late fills
    /// nothing, and what is in the cache grows old.
    case coldCache
  }

  /// What was measured of one pair.
  package struct Result: Sendable {
    package var trigger: Trigger
    package var amplifier: Amplifier
    /// The highest load that stays good without a trigger, in steps of 0.05.
    package var stableBelow: Double
    /// The highest load that recovers within ten minutes after the trigger.
    package var recoversBelow: Double
    /// A backend that failed at 0.05 below `stableBelow` recovers when the load is lowered to this.
    package var endsAt: Double
  }

  private static let step = 0.05
  private static let length = 120

  package static func results() -> [Result] {
    Trigger.allCases.flatMap { trigger in Amplifier.allCases.map { result(trigger, $0) } }
  }

  private static func result(_ trigger: Trigger, _ amplifier: Amplifier) -> Result {
    let loads = (1...19).map { (Double($0) * step * 100).rounded() / 100 }
    let stable = loads.last { load in
      var backend = Backend(amplifier)
      for _ in 0..<1_800 { backend.pass(load) }
      return backend.isGood
    }
    let recovers = loads.last { load in
      var backend = failed(trigger, amplifier, load)
      for _ in 0..<600 { backend.pass(load) }
      return backend.isGood
    }
    let high = (stable ?? step) - step
    var backend = failed(trigger, amplifier, high)
    var load = high
    while load > step / 2 {
      for _ in 0..<600 { backend.pass(load) }
      if backend.isGood { break }
      load -= step
    }
    return Result(
      trigger: trigger, amplifier: amplifier, stableBelow: stable ?? 0, recoversBelow: recovers ?? 0,
      endsAt: max(load, 0))
  }

  /// The backend at the end of the trigger.
  private static func failed(_ trigger: Trigger, _ amplifier: Amplifier, _ load: Double) -> Backend {
    var backend = Backend(amplifier)
    for _ in 0..<600 { backend.pass(load) }
    if trigger == .capacityLoss { backend.loseCache() }
    for _ in 0..<length {
      switch trigger {
      case .spike: backend.pass(3 * load)
      case .capacityLoss: backend.pass(load, capacity: 0.1)
      }
    }
    return backend
  }

  /// One backend, second by second.
  private struct Backend {
    private let amplifier: Amplifier
    /// Requests that wait, by the second in which they came: the oldest first, with how often they were tried.
    private var waiting: [(age: Int, tries: [Double])] = []
    /// Retries of the next second, by how often they were tried.
    private var returning = [Double](repeating: 0, count: mostTries)
    /// The part of what is asked for that the cache holds.
    private var cached = 0.9
    private(set) var isGood = true

    private static let mostTries = 4
    /// A caller waits for this many seconds.
    private static let patience = 2
    private static let warm = 0.9
    /// What is in the cache grows old: the reads of a warm one make up for it.
    private static let ageing = (1 - warm) / warm
    /// The database can read this part of what the whole backend can answer.
    private static let reads = 0.12

    init(_ amplifier: Amplifier) { self.amplifier = amplifier }

    mutating func loseCache() { if amplifier == .coldCache { cached = 0 } }

    mutating func pass(_ load: Double, capacity: Double = 1) {
      switch amplifier {
      case .retries: queue(load, capacity)
      case .coldCache: look(load, capacity)
      }
    }

    private mutating func queue(_ load: Double, _ capacity: Double) {
      var tries = returning
      tries[0] += load
      waiting.append((0, tries))
      returning = Array(repeating: 0, count: Self.mostTries)
      var left = capacity
      var good = 0.0
      while left > 0, !waiting.isEmpty {
        let sum = waiting[0].tries.reduce(0, +)
        let part = sum > left ? left / sum : 1
        // The caller of an old request has gone: the work is wasted.
        if waiting[0].age < Self.patience { good += sum * part }
        left -= sum * part
        if part < 1 {
          waiting[0].tries = waiting[0].tries.map { $0 * (1 - part) }
          break
        }
        waiting.removeFirst()
      }
      for index in waiting.indices {
        waiting[index].age += 1
        guard waiting[index].age == Self.patience else { continue }
        for tried in 0..<Self.mostTries - 1 { returning[tried + 1] += waiting[index].tries[tried] }
      }
      // A queue is bounded: what does not fit is dropped without work.
      if waiting.count > 30 { waiting.removeFirst(waiting.count - 30) }
      isGood = good >= 0.99 * load && waiting.count <= Self.patience
    }

    private mutating func look(_ load: Double, _ capacity: Double) {
      let missed = load * (1 - cached)
      let room = Self.reads * capacity
      // Reads beyond what the database can do make each other late.
      let answered = missed <= room ? missed : room * max(0.1, room / missed)
      let filled = load > 0 ? answered / load : 0
      cached = min(Self.warm, cached + (filled - cached * Self.ageing) * 0.1)
      isGood = answered >= 0.99 * missed
    }
  }
}
