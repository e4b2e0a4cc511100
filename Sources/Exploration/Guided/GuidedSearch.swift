/// The feedback-guided search: which input to run next, by what the runs before have shown.
///
/// It draws from one stream and takes results in the order of its plans: one seed and one corpus give one search.
package struct GuidedSearch: Sendable {
  /// One run to make.
  package struct Plan: Sendable {
    package var seed: UInt64
    /// Nil for what the seed draws.
    package var input: MachineInput?
  }

  /// A behaviour, in how many runs it was seen, and the first of them.
  package struct Shown: Sendable {
    package var behaviour: Behaviour
    package var runs: Int
    package var plan: Plan
  }

  /// An input that showed something new.
  private struct Kept: Sendable {
    var plan: Plan
    /// Its acts were dropped to save memory.
    var isForgotten = false
  }

  /// So many runs are those of the random search: easy bugs are found as early.
  package static let first = 48
  /// How many of a thousand later runs are random as well.
  private static let fresh = 100
  /// The rarest of so many behaviours decides which input is changed.
  private static let tries = 12
  /// So many changed inputs are kept.
  private static let most = 4_096

  package let profile: SimulationProfile
  private let from: UInt64
  private let first: Int
  private var isGuided: Bool
  private var random: RandomStream
  private var drawn: UInt64 = 0
  /// The inputs of the corpus that were not run yet, the last one first.
  private var waiting: [MachineInput]
  private var kept: [Kept] = []
  /// The kept inputs that were changed ones, in order, and how many of them are forgotten.
  private var changed: (places: [Int], forgotten: Int) = ([], 0)
  /// Where a behaviour is in the three lists below.
  private var placeOf: [UInt64: Int32] = [:]
  private var words: [UInt64] = []
  private var counts: [UInt32] = []
  /// The kept input that showed it first.
  private var owners: [Int32] = []
  package private(set) var runs = 0

  package var behaviours: Int { words.count }
  package var keptInputs: Int { kept.count - changed.forgotten }

  /// - Parameters:
  ///   - corpus: Inputs that earlier searches kept.
  ///   - first: How many runs are random before any other.
  ///   - isGuided: Otherwise it is the random search, which only counts behaviours.
  package init(
    profile: SimulationProfile, from: UInt64, corpus: [MachineInput] = [], first: Int = GuidedSearch.first,
    isGuided: Bool = true
  ) {
    (self.profile, self.from, self.first, self.isGuided) = (profile, from, first, isGuided)
    waiting = corpus.reversed()
    random = RandomStream(seed: from, "guided")
  }

  /// The random search from here on.
  package var unguided: GuidedSearch {
    var search = self
    search.isGuided = false
    return search
  }

  /// The next run.
  package mutating func next() -> Plan {
    guard isGuided, drawn >= first else { return draw() }
    if let input = waiting.popLast() { return Plan(seed: input.seed, input: input) }
    guard !random.chance(Self.fresh), let parent = pickRare(), let other = pickRare() else { return draw() }
    var mutation = Mutation(of: input(of: parent), profile: profile, crossing: input(of: other))
    mutation.apply(&random)
    return Plan(seed: mutation.input.seed, input: mutation.input)
  }

  private mutating func draw() -> Plan {
    defer { drawn += 1 }
    return Plan(seed: from + drawn)
  }

  /// Of several behaviours the rarest: the input that showed it.
  private mutating func pickRare() -> Int? {
    guard !owners.isEmpty else { return nil }
    var best: Int?
    for _ in 0..<Self.tries {
      let place = random.below(owners.count)
      guard !kept[Int(owners[place])].isForgotten else { continue }
      if let rarest = best, counts[place] >= counts[rarest] { continue }
      best = place
    }
    return best.map { Int(owners[$0]) }
  }

  private func input(of number: Int) -> MachineInput {
    let plan = kept[number].plan
    return plan.input ?? MachineInput(seed: plan.seed, profile: profile)
  }

  /// What a run has shown; returns how many of it no run had shown before.
  @discardableResult
  package mutating func take(_ plan: Plan, _ seen: [UInt64]) -> Int {
    runs += 1
    let before = words.count
    for word in seen {
      if let place = placeOf[word] {
        counts[Int(place)] += 1
        continue
      }
      placeOf[word] = Int32(words.count)
      words.append(word)
      counts.append(1)
      owners.append(Int32(kept.count))
    }
    if words.count > before { keep(plan) }
    return words.count - before
  }

  private mutating func keep(_ plan: Plan) {
    kept.append(Kept(plan: plan))
    guard plan.input != nil else { return }
    changed.places.append(kept.count - 1)
    guard changed.places.count - changed.forgotten > Self.most else { return }
    let oldest = changed.places[changed.forgotten]
    changed.forgotten += 1
    kept[oldest].isForgotten = true
    kept[oldest].plan.input = nil
  }

  // MARK: What it has found

  /// The rarest behaviours, the latest first; only those whose input is still kept.
  package func rarest(_ count: Int) -> [Shown] {
    let present = owners.indices.filter { !kept[Int(owners[$0])].isForgotten }
    return present.sorted { (counts[$0], -$0) < (counts[$1], -$1) }.prefix(count).map {
      Shown(
        behaviour: Behaviour(word: words[$0]), runs: Int(counts[$0]), plan: kept[Int(owners[$0])].plan)
    }
  }

  /// The inputs worth keeping for the next search: those that were first to show the most that is rare.
  package func worthKeeping(_ count: Int) -> [MachineInput] {
    var worth = [Int](repeating: 0, count: kept.count)
    for (place, owner) in owners.enumerated() where counts[place] <= 3 { worth[Int(owner)] += 1 }
    let numbers = kept.indices.filter { !kept[$0].isForgotten }
    return numbers.sorted { (-worth[$0], $0) < (-worth[$1], $1) }.prefix(count).map(input)
  }
}
