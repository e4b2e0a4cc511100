import Foundation

/// What came of one shell world.
package struct ShellLife: Sendable {
  package var seed: UInt64
  package var violation: ShellViolation?
  /// Of every job, timer and effect, in their order.
  package var hash: UInt64
  package var jobs: Int
  /// How often there was a choice between jobs.
  package var choices: Int
  package var exercised: [Int]
  package var marks: [Int]
}

/// Runs the real engine in worlds from seeds. In a process that does nothing else: Swift's hook for jobs is the
/// process's.
package struct ShellExploration {
  private let parent: String
  package let plant: ShellPlant?
  private let isAsked: @Sendable () -> Bool

  /// - Parameters:
  ///   - parent: Files go below this directory, best one in memory, in one of their own. A life that throws leaves
  ///     them there.
  ///   - isAsked: Whether somebody wants it to end: a life then throws `Ended` before its next step.
  package init(
    below parent: String, plant: ShellPlant? = nil, isAsked: @escaping @Sendable () -> Bool = { false }
  ) {
    self.parent = parent
    self.plant = plant
    self.isAsked = isAsked
  }

  /// Somebody wanted the life to end.
  package struct Ended: Error, CustomStringConvertible {
    package var description: String { "the life was ended" }
  }

  /// This process cannot do it: the runtime has no such hook.
  package struct NoHook: Error, CustomStringConvertible {
    package var description: String { "Swift's runtime has no hook for its jobs here" }
  }

  /// There was no room for the engine's file: the world has shown nothing.
  package struct NoFile: Error, CustomStringConvertible {
    package var description: String
  }

  package func live(_ seed: UInt64) throws -> ShellLife { try run(seed, isTelling: false).life }

  /// The same, and a line for each effect.
  package func story(of seed: UInt64) throws -> (life: ShellLife, lines: [String]) {
    let (life, world) = try run(seed, isTelling: true)
    return (life, world.knobs.lines + world.story)
  }

  private func run(_ seed: UInt64, isTelling: Bool) throws -> (life: ShellLife, world: ShellWorld) {
    let directory = parent + "/shell-\(ProcessInfo.processInfo.processIdentifier)-\(seed)"
    let world = ShellWorld(seed: seed, plant: plant, below: directory, isTelling: isTelling, isAsked)
    guard ConcurrencyHook.lead(to: world.queue) else { throw NoHook() }
    defer { _ = ConcurrencyHook.lead(to: nil) }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    // An engine that cannot open its file tries again for ever, which would be a life in which nothing is broken.
    let probe = URL(fileURLWithPath: directory + "/probe")
    try Data(count: 1 << 20).write(to: probe)
    try FileManager.default.removeItem(at: probe)
    try world.live()
    if let reason = world.neverOpened { throw NoFile(description: "no engine could be opened: \(reason)") }
    try FileManager.default.removeItem(atPath: directory)
    if world.queue.stalled > 0 { world.checker.mark(.timerRacedJob) }
    let life = ShellLife(
      seed: seed, violation: world.checker.violation, hash: world.queue.hash.value, jobs: world.queue.steps,
      choices: world.queue.choices, exercised: world.checker.exercised, marks: world.checker.marks)
    return (life, world)
  }
}
