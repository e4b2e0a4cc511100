import ProcessFaults
import PurchaseQueue
import PurchaseSyncTesting
import ScenarioFormat

/// Where one launch of the app is killed: at a checkpoint of its own, when the mock server sees a request, or nowhere.
struct KillPlan {
  var crash: Checkpoints.Moment?
  var order: RequestKiller.Order?

  static let none = KillPlan()

  /// For the child's command line.
  var arguments: [String] {
    switch crash {
    case .passage(let name, let hit): ["--crash-at", "\(name):\(hit)"]
    case .any(let hit): ["--crash-at-passage", "\(hit)"]
    case nil: []
    }
  }

  /// For a report.
  var words: String {
    switch (crash, order) {
    case (.passage(let name, let hit), _): "at \(name), passage \(hit)"
    case (.any(let hit), _): "at the checkpoint that was passed as number \(hit)"
    case (nil, let order?): "at request \(order.ordinal) to \(order.path), \(order.phase.rawValue)"
    case (nil, nil): ""
    }
  }
}

extension Crash {
  /// Where that is in an app; `round` counts the launches of an app that is killed again and again.
  func plan(round: Int, _ launch: Scenario.Launch) -> KillPlan {
    switch self {
    case .duringUpload:
      return KillPlan(order: .init(ordinal: 1, phase: .afterHandling, path: Scenario.uploads))
    case .againAndAgain: return KillPlan(crash: .any(hit: round))
    default: return KillPlan(crash: .passage(of: checkpoint(launch), hit: 1))
    }
  }

  private func checkpoint(_ launch: Scenario.Launch) -> String {
    switch self {
    case .beforePayment: AppCheckpoint.paymentBefore.rawValue
    case .afterPayment: AppCheckpoint.paymentAfter.rawValue
    case .beforeEnqueue: Checkpoint.enqueueBegin.rawValue
    // The keychain has to hold the purchase before the app is deleted.
    case .afterEnqueue: (launch.reinstalled ? Checkpoint.enqueueMirrored : .enqueueCommitted).rawValue
    case .afterGrant: Checkpoint.uploadReceived.rawValue
    case .beforeFinish: Checkpoint.finishCalling.rawValue
    case .duringUpload, .againAndAgain: ""
    }
  }
}

/// `--chaos`: where the next launches of the app are killed, drawn from the seed.
struct RandomKills {
  private var random: SplitMix64
  private(set) var left: Int

  init(seed: UInt64, areOn: Bool) {
    random = SplitMix64(seed: seed)
    left = areOn ? Int.random(in: 1...4, using: &random) : 0
  }

  mutating func next() -> KillPlan {
    guard left > 0 else { return .none }
    left -= 1
    if Bool.random(using: &random) {
      return KillPlan(crash: .any(hit: Int.random(in: 1...20, using: &random)))
    }
    return KillPlan(
      order: .init(
        ordinal: Int.random(in: 1...6, using: &random),
        phase: Bool.random(using: &random) ? .beforeHandling : .afterHandling))
  }
}
