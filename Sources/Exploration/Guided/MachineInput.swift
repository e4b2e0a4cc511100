/// A run of the machine's simulation in full: what its random streams begin with, its sizes, and each of its acts.
package struct MachineInput: Sendable {
  /// Their schedule is not drawn: the acts below take its place.
  package var knobs: MachineKnobs
  /// In the order of their moments. An act with a negative moment does not happen.
  package var acts: [PlannedAct]

  package init(knobs: MachineKnobs, acts: [PlannedAct]) { (self.knobs, self.acts) = (knobs, acts) }

  /// What a seed draws.
  package init(seed: UInt64, profile: SimulationProfile) {
    knobs = MachineKnobs(seed: seed, profile: profile)
    acts = Schedule(knobs).acts
  }

  package var seed: UInt64 { knobs.seed }

  /// The knobs as the simulation takes them: what they say about faults is what the acts do.
  var ownKnobs: MachineKnobs {
    var knobs = knobs
    knobs.faults = acts.compactMap { planned in
      guard case .fault(let fault, _, let milliseconds, let permille) = planned.act else { return nil }
      return (fault, 1, milliseconds, permille)
    }
    return knobs
  }

  /// The same with these acts only, which get the places that are left.
  package func keeping(_ places: [Int]) -> MachineInput {
    var input = self
    let kept = Set(places)
    for place in input.acts.indices where !kept.contains(place) { input.acts[place].at = -1 }
    input.arrange()
    return input
  }

  /// Sorts the acts by their moments, removes those without one, and lets the others name purchases by their new places.
  /// An act whose purchase is gone goes too.
  package mutating func arrange() {
    let order = acts.indices.filter { acts[$0].at >= 0 }.sorted { (acts[$0].at, $0) < (acts[$1].at, $1) }
    var isGone = false
    var placeOf = [Int](repeating: -1, count: acts.count)
    for (new, old) in order.enumerated() { placeOf[old] = new }
    var arranged = order.map { acts[$0] }
    for place in arranged.indices {
      guard let purchase = arranged[place].act.purchase else { continue }
      let target = acts.indices.contains(purchase) && acts[purchase].act.isBuying ? placeOf[purchase] : -1
      if target >= 0 {
        arranged[place].act.name(purchase: target)
      } else {
        arranged[place].at = -1
        isGone = true
      }
    }
    acts = arranged
    if isGone { arrange() }
  }
}

extension Act {
  var isBuying: Bool {
    switch self {
    case .buy, .seat: true
    default: false
    }
  }

  /// The place of the purchase that it is about; nil for other acts.
  var purchase: Int? {
    switch self {
    case .refund(let place), .reverseRefund(let place), .renew(let place, _), .resubscribe(let place, _):
      place
    default: nil
    }
  }

  mutating func name(purchase place: Int) {
    switch self {
    case .refund: self = .refund(purchase: place)
    case .reverseRefund: self = .reverseRefund(purchase: place)
    case .renew(_, let isUpgrade): self = .renew(purchase: place, isUpgrade: isUpgrade)
    case .resubscribe(_, let phone): self = .resubscribe(purchase: place, phone: phone)
    default: break
    }
  }
}
