import FaultInjection
import Foundation
import PurchaseSyncTesting

/// One scenario with one client: a world of its own, a phone of its own, and the app run on it until the story is
/// over.
struct ScenarioRun {
  /// More restarts than any story needs: a client that dies at each launch ends here.
  static let launchLimit = 40

  let scenario: Scenario
  let client: Client
  let seed: UInt64
  let chaos: Bool
  let device: Device
  /// What the app complains of is shown.
  var isVerbose = false
  /// What is noted for a report; nil: nothing is.
  var log: RunLog?

  func run() throws -> Score {
    let started = Date()
    let executioner = Executioner()
    let world = try StoryWorld(
      scenario, on: device, seed: seed, log: log, onRequest: { executioner.requestPassed($0) })
    defer { world.server.stop() }
    var complaints = try play(in: world, executioner)
    let seconds = Date().timeIntervalSince(started)
    var score = try Score(
      scenario, client: client, world: world.server.snapshot(), kept: device.kept(), seconds: seconds)
    // With other kills than the story's own, other answers come.
    if chaos {
      score.unexpected = []
      complaints = complaints.filter { $0.contains("crashed") || $0.contains("hung") }
    }
    score.unexpected += complaints
    return score
  }

  /// What went otherwise than the story has it, beside what is counted in the end.
  private func play(in world: StoryWorld, _ executioner: Executioner) throws -> [String] {
    var complaints: [String] = []
    var dice = Dice(seed: seed, kills: chaos)
    var launches = scenario.launches
    // Where the last launch is to die, or the app is deleted behind it, it is opened once more.
    if let last = launches.last, last.killed != nil || last.reinstalled {
      launches.append(.init(signedIn: last.signedIn))
    }
    for launch in launches {
      for step in launch.before { try world.perform(step) }
      complaints += try live(launch, in: world, executioner, &dice)
      if let least = launch.granted {
        let granted = WorldTally(try world.server.snapshot()).granted
        if granted < least { complaints.append("\(granted) granted by then, not \(least)") }
      }
      if launch.reinstalled {
        log?.note(.app, .change, "deleted and installed again")
        try device.reinstall()
      }
    }
    // A run that no kill has met yet is opened again, until it has.
    for _ in 0..<Self.launchLimit where dice.killsLeft > 0 {
      _ = try runApp(.init(), [], fate: dice.fate(), in: world, executioner)
    }
    if chaos, let complaint = try runApp(.init(), [], fate: .none, in: world, executioner).complaint {
      complaints.append(complaint)
    }
    return complaints
  }

  /// One launch of the story: once, and again after each kill for whoever has not been charged yet.
  private func live(
    _ launch: Scenario.Launch, in world: StoryWorld, _ executioner: Executioner, _ dice: inout Dice
  ) throws -> [String] {
    let before = try world.server.snapshot().charges.count
    var planned = launch.killed
    for round in 1...Self.launchLimit {
      // Somebody who has not been charged tries again; nobody pays twice.
      let charged = try world.server.snapshot().charges.count - before
      let steps = AppStep.steps(launch.does, afterPurchases: charged)
      let fate = planned.map { $0.fate(of: client, round: round, launch) } ?? dice.fate()
      let end = try runApp(launch, steps, fate: fate, in: world, executioner)
      // Whatever the app said of itself: what became of the purchases, the world's own log tells.
      try Interruption.shared.check()
      guard end == .killed else {
        let isMissed = planned != nil && planned != .againAndAgain
        return [end.complaint, isMissed ? "the kill at \(planned?.rawValue ?? "") was not met" : nil]
          .compactMap { $0 }
      }
      if planned == .againAndAgain { continue }
      if planned != nil, !chaos { return [] }
      planned = nil
    }
    return ["the app never came to its end in \(Self.launchLimit) launches"]
  }

  private func runApp(
    _ launch: Scenario.Launch, _ steps: [AppStep], fate: Fate, in world: StoryWorld,
    _ executioner: Executioner
  ) throws -> ChildProcess.End {
    try Interruption.shared.check()
    let app = AppRun(
      scenario: scenario, client: client, device: device, backend: world.server.baseURL,
      store: world.server.baseURL, isVerbose: isVerbose, clockShift: world.shift, log: log)
    let child = try app.start(launch, steps, fate: fate)
    executioner.watch(child, order: fate.order)
    // A process of its own, on the same files.
    let second = try launch.extension.isEmpty ? nil : app.start(launch, launch.extension)
    let end = child.wait()
    let other = second?.wait()
    executioner.watch(nil, order: nil)
    app.note(end, fate)
    // What is wrong with the extension is wrong with the app.
    if let other, other.complaint != nil { return other }
    return end
  }
}
