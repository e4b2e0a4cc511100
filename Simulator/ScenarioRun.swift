import FaultInjection
import Foundation
import PurchaseQueue
import PurchaseSync
import PurchaseSyncTesting

/// One scenario with one client: a world of its own, a device of its own, and the app run on it until the story is
/// over.
struct ScenarioRun {
  static let product = "gems.100"
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
      databasePath: device.world, products: [StoreProduct(id: Self.product, kind: .consumable)],
      bundleID: "com.example.gems", faults: scenario.faults(), seed: seed,
      onRequest: { executioner.requestPassed($0) }, now: Timestamp.wallClock)
    try world.start()
    defer { world.stop() }
    try play(world, executioner)
    let seconds = Date().timeIntervalSince(started)
    return try Score(
      scenario: scenario.name, client: client, world: world.snapshot(), device: device, seconds: seconds)
  }

  private func play(_ world: WorldServer, _ executioner: Executioner) throws {
    var random = SplitMix64(seed: seed)
    var chaosKills = chaos ? Int.random(in: 1...4, using: &random) : 0
    var plannedCrash = scenario.crash
    for _ in 0..<Self.launchLimit {
      var crash: Failpoints.Moment?
      var order: Executioner.Order?
      let isPlanned = plannedCrash != nil
      if let moment = plannedCrash {
        crash = .passage(of: moment.failpoint(of: client, reinstalls: scenario.reinstalls), hit: 1)
      } else if chaosKills > 0 {
        chaosKills -= 1
        if Bool.random(using: &random) {
          crash = .any(hit: Int.random(in: 1...20, using: &random))
        } else {
          order = Executioner.Order(
            ordinal: Int.random(in: 1...6, using: &random),
            phase: Bool.random(using: &random) ? .beforeHandling : .afterHandling)
        }
      }
      // Somebody who has not been charged tries again; nobody pays twice.
      let buys = try world.snapshot().charges.isEmpty
      let child = try ChildProcess(arguments: arguments(world, buys: buys, crash: crash))
      executioner.watch(child, order: order)
      let end = child.wait()
      executioner.watch(nil, order: nil)
      plannedCrash = nil
      if end == .killed, isPlanned, scenario.reinstalls { try device.reinstall() }
      if case .exited = end, chaosKills == 0 {
        // Whatever the app said of itself: what became of the purchase, the world's own log tells.
        return
      }
    }
  }

  private func arguments(_ world: WorldServer, buys: Bool, crash: Failpoints.Moment?) -> [String] {
    var arguments = [
      "--client", client.rawValue, "--server", world.baseURL.absoluteString, "--container", device.container,
      "--vault", device.keychain,
    ]
    if buys { arguments += ["--buy", Self.product] }
    switch crash {
    case .passage(let name, _): arguments += ["--crash-at", name]
    case .any(let hit): arguments += ["--crash-at-passage", "\(hit)"]
    case nil: break
    }
    return arguments
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
