import Exploration

@testable import purchase_lab

extension Explorer {
  /// The machine's simulation, as most tests run it.
  convenience init(
    _ profile: SimulationProfile, _ storage: ExploredStorage, _ bug: MachineBug? = nil, jobs: Int,
    countsKnobs: Bool = false
  ) {
    let choice = SimulationChoice(profile: profile, storage: storage, bug: bug?.rawValue)
    self.init(choice, jobs: jobs, countsKnobs: countsKnobs)
  }
}

extension RunSum {
  func exercised(_ invariant: MachineInvariant) -> Int { exercised(at: invariant.place) }
  func hits(_ mark: MachineMark) -> Int { hits(at: mark.rawValue) }
}
