package import PurchaseQueue

/// Runs the machine's simulation by seeds.
package struct MachineRunner: SimulationRunner {
  package var profile: SimulationProfile
  package var bug: MachineBug?
  package var disks: DiskMaker
  /// A planted bug of the simulation itself, for tests only: two processes draw different numbers. See `DrawLog`.
  package var hasOwnRandomness = false
  /// Whether each step is judged by the specification of the protocol.
  package var checksProtocol = false
  /// The run of this input takes the place of every seed's; nil for the runs of the seeds.
  package var input: MachineInput?

  package static let catalogue = SimulationCatalogue(
    MachineInvariant.self, MachineMark.self, MachineBug.self, elsewhere: MachineInvariant.elsewhere,
    bugsElsewhere: MachineBug.elsewhere
  ) { $0.bug }

  package init(profile: SimulationProfile, bug: MachineBug? = nil, disks: @escaping DiskMaker) {
    (self.profile, self.bug, self.disks) = (profile, bug, disks)
  }

  package var catalogue: SimulationCatalogue { Self.catalogue }

  package func run(_ seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws(QueueError) -> RunResult {
    let simulation = try simulation(seed, keeping: places)
    defer { simulation.remove() }
    simulation.run(stopAt: last)
    return simulation.result
  }

  package func trace(
    of seed: UInt64, keeping places: [Int]?, stopAt last: Int
  ) throws(QueueError) -> TracedRun {
    let simulation = try simulation(seed, keeping: places, trace: Trace())
    defer { simulation.remove() }
    simulation.run(stopAt: last)
    return TracedRun(result: simulation.result, lines: simulation.trace?.lines ?? [])
  }

  package func draws(of seed: UInt64) throws(QueueError) -> [Draw] {
    let log = DrawLog(hasOwnRandomness: hasOwnRandomness)
    let simulation = try simulation(seed, keeping: nil, log: log)
    defer { simulation.remove() }
    simulation.run()
    return log.draws
  }

  /// A run, and the behaviours that it shows.
  package func watchedRun(_ seed: UInt64) throws(QueueError) -> (run: RunResult, seen: [UInt64]) {
    let behaviours = BehaviourLog()
    let simulation = try simulation(seed, keeping: nil, behaviours: behaviours)
    defer { simulation.remove() }
    simulation.run()
    return (simulation.result, behaviours.seen)
  }

  package func simulation(
    _ seed: UInt64, keeping places: [Int]?, trace: Trace? = nil, log: DrawLog? = nil,
    behaviours: BehaviourLog? = nil
  ) throws(QueueError) -> MachineSimulation {
    if let input {
      return try MachineSimulation(
        input.ownKnobs, acts: input.acts, keeping: places, bug: bug, disks: disks, trace: trace, log: log,
        checksProtocol: checksProtocol, behaviours: behaviours)
    }
    let log = log ?? (hasOwnRandomness ? DrawLog(keepsDraws: false, hasOwnRandomness: true) : nil)
    return try MachineSimulation(
      MachineKnobs(seed: seed, profile: profile, log: log), keeping: places, bug: bug, disks: disks,
      trace: trace, log: log, checksProtocol: checksProtocol, behaviours: behaviours)
  }

  package func acts(of seed: UInt64) -> [PlannedAct] {
    input?.acts ?? Schedule(MachineKnobs(seed: seed, profile: profile)).acts
  }

  package func knobs(of seed: UInt64) -> KnobDescription {
    (input?.ownKnobs ?? MachineKnobs(seed: seed, profile: profile)).description
  }
}
