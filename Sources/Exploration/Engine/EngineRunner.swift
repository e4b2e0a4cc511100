import Foundation

/// Runs the real engine by seeds, in a process that does nothing else: Swift's hook for jobs belongs to the process.
package struct EngineRunner: SimulationRunner {
  private let parent: String
  private let profile: SimulationProfile
  private let bug: EngineBug?
  /// Whether each step is judged by the specification of the protocol.
  package var checksProtocol = false
  private let isInterrupted: @Sendable () -> Bool

  package static let catalogue = SimulationCatalogue(
    EngineInvariant.self, EngineMark.self, EngineBug.self, bug: { _ in nil })

  /// - Parameters:
  ///   - parent: Each run has its files in a directory below this one, best one in memory. A run that throws leaves them
  ///     there.
  ///   - isInterrupted: Whether the run has to end: it then throws `Ended` before its next step.
  package init(
    below parent: String, profile: SimulationProfile = .swarm, bug: EngineBug? = nil,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.parent, self.profile, self.bug, self.isInterrupted) = (parent, profile, bug, isInterrupted)
  }

  /// The caller wanted the run to end.
  package struct Ended: Error, CustomStringConvertible {
    package var description: String { "the run was ended" }
  }

  /// This process cannot run the simulation: the runtime has no such hook.
  package struct NoHook: Error, CustomStringConvertible {
    package var description: String { "Swift's runtime has no hook for its jobs here" }
  }

  /// There was no space for the engine's file: the run shows nothing.
  package struct NoFile: Error, CustomStringConvertible {
    package var description: String
  }

  package var catalogue: SimulationCatalogue { Self.catalogue }

  package func run(_ seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws -> RunResult {
    try simulate(seed, keeping: places, stopAt: last).result
  }

  package func trace(of seed: UInt64, keeping places: [Int]?, stopAt last: Int) throws -> TracedRun {
    let simulation = try simulate(seed, keeping: places, stopAt: last, isTracing: true)
    return TracedRun(result: simulation.result, lines: simulation.trace)
  }

  package func draws(of seed: UInt64) throws -> [Draw] {
    let log = DrawLog()
    _ = try simulate(seed, keeping: nil, stopAt: .max, log: log)
    return log.draws
  }

  package func acts(of seed: UInt64) -> [PlannedAct] { Self.acts(of: seed, profile) }
  package func knobs(of seed: UInt64) -> KnobDescription { Self.knobs(of: seed, profile) }

  /// For a process that has others run the engine.
  package static func acts(of seed: UInt64, _ profile: SimulationProfile) -> [PlannedAct] {
    var people = RandomStream(seed: seed, "shell people")
    return EngineSchedule(EngineKnobs(seed: seed, profile: profile), &people).entries.map {
      PlannedAct(at: $0.at, act: $0.act?.act ?? .purchase)
    }
  }

  package static func knobs(of seed: UInt64, _ profile: SimulationProfile) -> KnobDescription {
    EngineKnobs(seed: seed, profile: profile).description
  }

  private func simulate(
    _ seed: UInt64, keeping places: [Int]?, stopAt last: Int, isTracing: Bool = false, log: DrawLog? = nil
  ) throws -> EngineSimulation {
    let directory = parent + "/engine-\(ProcessInfo.processInfo.processIdentifier)-\(seed)"
    let simulation = EngineSimulation(
      EngineKnobs(seed: seed, profile: profile, log: log), bug: bug, below: directory, isTracing: isTracing,
      keeping: places, stopAt: last, log: log, checksProtocol: checksProtocol, isInterrupted)
    guard ConcurrencyHook.lead(to: simulation.queue) else { throw NoHook() }
    defer { _ = ConcurrencyHook.lead(to: nil) }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    // An engine that cannot open its file tries again for ever. Such a run would break nothing and show nothing.
    let probe = URL(fileURLWithPath: directory + "/probe")
    try Data(count: 1 << 20).write(to: probe)
    try FileManager.default.removeItem(at: probe)
    try simulation.run()
    if let reason = simulation.neverOpened {
      throw NoFile(description: "no engine could be opened: \(reason)")
    }
    try FileManager.default.removeItem(atPath: directory)
    if simulation.queue.stalled > 0 { simulation.checker.mark(.timerRacedJob) }
    return simulation
  }
}
