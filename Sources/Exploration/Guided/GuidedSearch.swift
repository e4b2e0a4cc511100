/// The feedback-guided search: which input to run next, by what the runs before have shown.
///
/// It draws from one stream and takes results in the order of its plans, so that one seed gives one search.
package struct GuidedSearch: Sendable {
  /// One run to make.
  package struct Plan: Sendable {
    package var seed: UInt64
    /// Nil for what the seed draws.
    package var input: MachineInput?
  }

  /// An input that showed something new.
  private struct Kept: Sendable {
    var plan: Plan
  }

  /// So many runs are those of the random search: easy bugs are found as early.
  package static let first = 48

  package let profile: SimulationProfile
  private let from: UInt64
  private let isGuided: Bool
  private var random: RandomStream
  private var drawn: UInt64 = 0
  private var kept: [Kept] = []
  /// Where a behaviour is in the two lists below.
  private var placeOf: [UInt64: Int32] = [:]
  /// In how many runs it was seen.
  package private(set) var counts: [UInt32] = []
  /// The kept input that showed it first.
  private var owner: [Int32] = []
  package private(set) var words: [UInt64] = []
  package private(set) var runs = 0
  package var behaviours: Int { words.count }
  package var keptInputs: Int { kept.count }

  /// - Parameter isGuided: Otherwise it is the random search, which counts behaviours only.
  package init(profile: SimulationProfile, from: UInt64, isGuided: Bool = true) {
    (self.profile, self.from, self.isGuided) = (profile, from, isGuided)
    random = RandomStream(seed: from, "guided")
  }

  /// The next run.
  package mutating func next() -> Plan {
    guard isGuided, drawn >= Self.first, !kept.isEmpty, !random.chance(100) else {
      defer { drawn += 1 }
      return Plan(seed: from + drawn)
    }
    let parent = input(of: pickRare())
    let other = input(of: pickRare())
    var mutation = Mutation(of: parent, profile: profile) { other }
    mutation.apply(&random)
    return Plan(seed: mutation.input.seed, input: mutation.input)
  }

  /// Of several behaviours the rarest: the input that showed it.
  private mutating func pickRare() -> Int {
    var best = -1
    for _ in 0..<12 {
      let place = random.below(owner.count)
      if best < 0 || counts[place] < counts[best] { best = place }
    }
    return Int(owner[best])
  }

  private func input(of number: Int) -> MachineInput {
    let plan = kept[number].plan
    return plan.input ?? MachineInput(seed: plan.seed, profile: profile)
  }

  /// What a run has shown; returns how many of it no run had shown before.
  @discardableResult
  package mutating func take(_ plan: Plan, _ seen: [UInt64]) -> Int {
    runs += 1
    var new = 0
    for word in seen {
      if let place = placeOf[word] {
        counts[Int(place)] += 1
        continue
      }
      placeOf[word] = Int32(words.count)
      words.append(word)
      counts.append(1)
      owner.append(Int32(kept.count))
      new += 1
    }
    if new > 0 { kept.append(Kept(plan: plan)) }
    return new
  }
}
