import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// One scenario with one client: a world of its own, a device of its own, and the app run on it until the story is
/// over.
struct ScenarioRun {
  /// More restarts than any story needs: a client that dies at each launch ends here.
  static let launchLimit = 12

  let scenario: Scenario
  let client: Client
  let seed: UInt64
  let chaos: Bool
  let device: Device

  /// The files of the simulated phone.
  struct Device {
    var container: String
    var keychain: String
    var world: String

    init(below directory: String) throws {
      container = directory + "/container"
      keychain = directory + "/keychain"
      world = directory + "/world.sqlite"
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    }

    /// The app's queue.
    static func queue(in container: String) -> String { container + "/queue.sqlite" }

    /// Deletes the app and installs it again.
    func reinstall() throws {
      guard FileManager.default.fileExists(atPath: container) else { return }
      try FileManager.default.removeItem(atPath: container)
    }
  }

  func run() throws -> Score {
    let started = Date()
    let executioner = Executioner()
    let world = try WorldServer(
      databasePath: device.world, products: Scenario.products, bundleID: "com.example.gems",
      faults: scenario.faults(), seed: seed, onRequest: { executioner.requestPassed($0) },
      now: Timestamp.wallClock)
    try world.start()
    defer { world.stop() }
    world.withStore { $0.signIn(device: Scenario.phone, storeAccount: "apple-1") }
    try scenario.prepare(world)
    try play(world, executioner)
    let seconds = Date().timeIntervalSince(started)
    return try Score(
      scenario: scenario.name, client: client, world: world.snapshot(), device: device, seconds: seconds)
  }

  private func play(_ world: WorldServer, _ executioner: Executioner) throws {
    var dice = Dice(seed: seed, kills: chaos)
    let outside = try world.snapshot().charges.count
    var purchasesBefore = 0
    var launches = scenario.launches
    // Where the last launch is to die, the app is opened once more.
    if launches.last?.crash != nil { launches.append(.init(signedIn: launches.last?.signedIn ?? [])) }
    for launch in launches {
      try launch.before(world)
      var crash = launch.crash
      for _ in 0..<Self.launchLimit {
        // Somebody who has not been charged tries again; nobody pays twice.
        let charged = try world.snapshot().charges.count - outside - purchasesBefore
        let steps = AppStep.steps(launch.steps, afterPurchases: max(0, charged))
        let fate = dice.fate(planned: crash?.failpoint(of: client, reinstalls: launch.reinstalls))
        let arguments = try arguments(world, launch, steps, crash: fate.crash)
        let child = try ChildProcess(arguments: arguments)
        executioner.watch(child, order: fate.order)
        let end = child.wait()
        executioner.watch(nil, order: nil)
        if end == .killed, crash != nil, launch.reinstalls { try device.reinstall() }
        let wasPlanned = crash != nil
        crash = nil
        // Whatever the app said of itself: what became of the purchases, the world's own log tells.
        if case .exited = end { break }
        if wasPlanned, !chaos { break }
      }
      purchasesBefore += launch.steps.count(where: \.isPurchase)
    }
    guard dice.killsLeft > 0 else { return }
    // A run that no kill has met yet is opened again, until it has.
    for _ in 0..<Self.launchLimit where dice.killsLeft > 0 {
      let fate = dice.fate(planned: nil)
      let child = try ChildProcess(
        arguments: arguments(world, .init(), [], crash: fate.crash))
      executioner.watch(child, order: fate.order)
      _ = child.wait()
      executioner.watch(nil, order: nil)
    }
    _ = try ChildProcess(arguments: arguments(world, .init(), [], crash: nil)).wait()
  }

  private func arguments(
    _ world: WorldServer, _ launch: Scenario.Launch, _ steps: [AppStep], crash: Failpoints.Moment?
  ) throws -> [String] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    var arguments = [
      "--client", client.rawValue, "--server", world.baseURL.absoluteString, "--container", device.container,
      "--vault", device.keychain, "--time-scale", "\(scenario.timeScale)",
      "--steps", String(decoding: try encoder.encode(steps), as: UTF8.self),
      "--signed-in", launch.signedIn.joined(separator: ","),
    ]
    if let entries = scenario.entries { arguments += ["--entries", "\(entries)"] }
    switch crash {
    case .passage(let name, _): arguments += ["--crash-at", name]
    case .any(let hit): arguments += ["--crash-at-passage", "\(hit)"]
    case nil: break
    }
    return arguments
  }
}

/// Where the next run of the app dies: as the story has it, or, in chaos, as the seed does.
private struct Dice {
  private var random: SplitMix64
  private(set) var killsLeft: Int

  init(seed: UInt64, kills: Bool) {
    random = SplitMix64(seed: seed)
    killsLeft = kills ? Int.random(in: 1...4, using: &random) : 0
  }

  mutating func fate(planned: String?) -> (crash: Failpoints.Moment?, order: Executioner.Order?) {
    if let planned { return (.passage(of: planned, hit: 1), nil) }
    guard killsLeft > 0 else { return (nil, nil) }
    killsLeft -= 1
    if Bool.random(using: &random) { return (.any(hit: Int.random(in: 1...20, using: &random)), nil) }
    let order = Executioner.Order(
      ordinal: Int.random(in: 1...6, using: &random),
      phase: Bool.random(using: &random) ? .beforeHandling : .afterHandling)
    return (nil, order)
  }
}

extension Scenario.Crash {
  /// The failpoint of a client at which this moment of the story is.
  func failpoint(of client: Client, reinstalls: Bool) -> String {
    switch (self, client) {
    case (.afterPayment, _): "payment.after"
    case (.afterEnqueue, .engine): reinstalls ? "enqueue.mirrored" : "enqueue.committed"
    case (.afterEnqueue, .fireAndForget): "upload.sending"
    case (.afterGrant, _): "upload.received"
    }
  }
}
