package import PurchaseQueue

/// Thousands of devices with the production machine each, and one backend whose capacity they share. All invariants of the
/// machine's simulation are checked.
///
/// A simulation has names for three people, so three devices live in each, with a ledger of their own. All of them have one
/// clock: the requests of a second, of all devices, are answered or refused together at its end.
package final class WholeFleet {
  /// What a person does with a device.
  package struct DeviceAct: Sendable {
    package enum Kind: Sendable { case buys, opensApp }
    package var device: Int
    /// In milliseconds.
    package var at: Int64
    package var kind: Kind

    package init(device: Int, at: Int64, kind: Kind) {
      (self.device, self.at, self.kind) = (device, at, kind)
    }
  }

  /// A point for each minute.
  package struct Curves: Sendable {
    /// Requests in each minute.
    package var offered: [Int] = []
    /// Purchases that the ledgers hold at the end of each minute.
    package var delivered: [Int] = []
  }

  private let simulations: [MachineSimulation]
  private let horizon: Int
  private var chooser: RandomStream
  /// The requests of this second.
  private var requests: [(simulation: Int, number: Int)] = []
  package private(set) var curves = Curves()

  private static let household = 3
  private static let minute = 60

  /// - Parameter horizon: In seconds.
  package init(devices: Int, acts: [DeviceAct], horizon: Int, seed: UInt64, disks: DiskMaker)
    throws(QueueError)
  {
    self.horizon = horizon
    chooser = RandomStream(seed: seed, "chooser")
    let count = (devices + Self.household - 1) / Self.household
    var shares = [[PlannedAct]](repeating: [], count: count)
    for act in acts.sorted(by: { $0.at < $1.at }) {
      shares[act.device / Self.household].append(Self.planned(act))
    }
    var simulations: [MachineSimulation] = []
    for (number, share) in shares.enumerated() {
      var knobs = MachineKnobs(seed: seed &+ UInt64(number), profile: .calm)
      knobs.phones = min(Self.household, devices - number * Self.household)
      (knobs.accounts, knobs.storeAccounts) = (Self.household, Self.household)
      (knobs.length, knobs.latency) = (Int64(horizon) * 1_000, 20)
      simulations.append(try MachineSimulation(knobs, acts: share, disks: disks))
    }
    self.simulations = simulations
    for (number, simulation) in simulations.enumerated() {
      simulation.gate = { [unowned self] in requests.append((number, $0)) }
    }
  }

  private static func planned(_ act: DeviceAct) -> PlannedAct {
    let phone = act.device % household
    switch act.kind {
    case .buys:
      let buying = Buying(
        phone: phone, product: 0, hasOrder: true, forgetsToken: false, proofs: .signed, waits: 0,
        poison: .none)
      return PlannedAct(at: act.at, act: .buy(buying))
    case .opensApp: return PlannedAct(at: act.at, act: .wake(phone: phone, reason: 0))
    }
  }

  /// Runs to the horizon.
  ///
  /// - Parameters:
  ///   - served: How many of the requests of a second the backend answers.
  ///   - goesOn: Asked once for each simulated minute.
  package func run(
    served: (_ second: Int, _ offered: Int) -> Int, goesOn: (_ second: Int) -> Bool = { _ in true }
  ) {
    for second in 0..<horizon {
      if second.isMultiple(of: Self.minute) {
        guard goesOn(second) else { return }
        curves.offered.append(0)
      }
      let end = Int64(second + 1) * 1_000
      for simulation in simulations { simulation.run(before: end) }
      curves.offered[second / Self.minute] += requests.count
      answer(served(second, requests.count), at: end)
      if (second + 1).isMultiple(of: Self.minute) {
        curves.delivered.append(simulations.reduce(0) { $0 + $1.backend.credits.count })
      }
    }
  }

  /// So many of the requests, chosen at random, are answered; the others are refused.
  private func answer(_ served: Int, at moment: Int64) {
    var (left, wanted) = (requests.count, min(served, requests.count))
    for (simulation, number) in requests {
      let isServed = chooser.below(left) < wanted
      left -= 1
      if isServed { wanted -= 1 }
      simulations[simulation].answer(number, isServed: isServed, at: moment)
    }
    requests.removeAll(keepingCapacity: true)
  }

  /// Runs each simulation to its end, with a backend that answers everything: then all work has to be completed.
  package func complete() {
    for simulation in simulations {
      simulation.gate = nil
      simulation.run()
    }
  }

  /// Removes the files of the disks.
  package func remove() { for simulation in simulations { simulation.remove() } }

  /// The first invariant that a device's life broke.
  package var violation: Violation? { simulations.lazy.compactMap(\.checker.violation).first }

  /// How often an invariant was checked.
  package var checks: Int { simulations.reduce(0) { $0 + $1.checker.exercised.reduce(0, +) } }
}
