import FaultInjection
import PurchaseQueue

/// `replay`: one world, told.
struct ReplayCommand {
  let options: ReplayOptions

  func execute() -> Int32 {
    let exploration = Exploration(
      profile: options.profile, plant: options.plant, disks: ExploredDisks.maker(options.storage))
    do throws(QueueError) {
      try ExploredDisks.prepare(options.storage)
      for line in Knobs(seed: options.seed, profile: options.profile).lines { Terminal.line(line) }
      let (violation, lines) = try exploration.story(
        of: options.seed, keeping: options.keep, stopAt: options.stopAt ?? .max)
      for line in lines { Terminal.line(line) }
      guard let violation else {
        if let last = try lastEvent(exploration) { Terminal.line("the life ends with event \(last)") }
        Terminal.line("nothing was broken")
        return ExitCode.ok
      }
      Terminal.line(FailureStory.sentence(violation))
      return ExitCode.promiseBroken
    } catch {
      Terminal.error("purchase-simulator: the replay failed: \(error)")
      return ExitCode.internal
    }
  }

  /// Where it ends, if that is before the event that it was to be told up to.
  private func lastEvent(_ exploration: Exploration) throws(QueueError) -> Int? {
    guard let stopAt = options.stopAt else { return nil }
    let life = try exploration.live(options.seed, keeping: options.keep, stopAt: stopAt)
    return life.events < stopAt ? life.events : nil
  }
}
