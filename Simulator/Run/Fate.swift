import FaultInjection
import PurchaseSyncTesting

/// Where one run of the app dies: at a failpoint of its own, or when the world sees a request; or nowhere.
struct Fate {
  var crash: Failpoints.Moment?
  var order: Executioner.Order?

  static let none = Fate()

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
    case (.any(let hit), _): "at the failpoint that was passed as number \(hit)"
    case (nil, let order?): "at request \(order.ordinal) to \(order.path), \(order.phase.rawValue)"
    case (nil, nil): ""
    }
  }
}

extension Crash {
  /// Where that is in a client; `round` counts the launches of one that is killed again and again.
  func fate(of client: Client, round: Int, _ launch: Scenario.Launch) -> Fate {
    switch self {
    case .duringUpload:
      return Fate(order: .init(ordinal: 1, phase: .afterHandling, path: Scenario.uploads))
    case .againAndAgain: return Fate(crash: .any(hit: round))
    default: return Fate(crash: .passage(of: failpoint(launch), hit: 1))
    }
  }

  private func failpoint(_ launch: Scenario.Launch) -> String {
    switch self {
    case .beforePayment: "payment.before"
    case .afterPayment: "payment.after"
    case .beforeEnqueue: "enqueue.begin"
    // What a fresh install is to find has to be in the keychain.
    case .afterEnqueue: launch.reinstalled ? "enqueue.mirrored" : "enqueue.committed"
    case .afterGrant: "upload.received"
    case .beforeFinish: "finish.calling"
    case .duringUpload, .againAndAgain: ""
    }
  }
}

/// Chaos: where the next run of the app dies, as the seed has it.
struct Dice {
  private var random: SplitMix64
  private(set) var killsLeft: Int

  init(seed: UInt64, kills: Bool) {
    random = SplitMix64(seed: seed)
    killsLeft = kills ? Int.random(in: 1...4, using: &random) : 0
  }

  mutating func fate() -> Fate {
    guard killsLeft > 0 else { return .none }
    killsLeft -= 1
    if Bool.random(using: &random) { return Fate(crash: .any(hit: Int.random(in: 1...20, using: &random))) }
    return Fate(
      order: .init(
        ordinal: Int.random(in: 1...6, using: &random),
        phase: Bool.random(using: &random) ? .beforeHandling : .afterHandling))
  }
}
