/// Everything about a shell world that is not drawn on the way.
struct ShellKnobs {
  let seed: UInt64
  var purchases: Int
  var accounts: Int
  /// The time in which things happen, in milliseconds.
  var length: Int64
  /// Half of a call's way, in milliseconds: 0 to so many.
  var latency: Int
  var stalls: Int
  /// How often a call of that kind goes wrong, in permille.
  var network: Int
  var store: Int
  var credentials: Int
  /// How often a call that hangs ignores its cancellation as well, in permille.
  var deaf: Int
  var entries: Int
  /// Whether proofs are too long for the queue: they are read from the store when they are sent.
  var isByReference: Bool
  var withoutOrder: Int
  /// How many of each act.
  var acts: [(act: ShellAct, count: Int)] = []

  init(seed: UInt64) {
    self.seed = seed
    var random = RandomStream(seed: seed, "shell knobs")
    purchases = random.between(1, 5)
    accounts = random.between(1, 2)
    length = Int64(random.pick([2_000, 20_000, 120_000, 1_200_000]))
    latency = random.pick([0, 3, 200, 2_000])
    stalls = random.pick([0, 0, 5, 50])
    network = random.pick([0, 100, 300, 600])
    store = random.pick([0, 0, 100, 400])
    credentials = random.pick([0, 0, 150])
    deaf = random.pick([0, 300, 1_000])
    entries = random.chance(250) ? random.between(1, 3) : 64
    isByReference = random.chance(150)
    withoutOrder = random.pick([0, 0, 300])
    for act in ShellAct.allCases where random.chance(act.permille) {
      acts.append((act, random.between(1, act.most)))
    }
    // A replaced file is no other process's to close.
    if acts.contains(where: { $0.act == .secondEngine }) { acts.removeAll { $0.act == .replaceFile } }
  }

  /// For people; the same in every run.
  var lines: [String] {
    [
      "seed \(seed): \(purchases) purchases of \(accounts) accounts in \(length) ms, latency up to \(latency) ms",
      "permille: network \(network), store \(store), credentials \(credentials), deaf \(deaf), stalls \(stalls), "
        + "without order \(withoutOrder)",
      "room for \(entries)" + (isByReference ? ", proofs by reference" : ""),
      acts.map { "\($0.act) \($0.count)" }.joined(separator: ", "),
    ].filter { !$0.isEmpty }
  }
}

/// What people and fate do to the engines of a shell world.
enum ShellAct: CaseIterable, Sendable {
  case killAtBoundary, killBetweenJobs, shutdown, shutdownTwice, park, parkTwice, secondEngine
  case signOut, claim, discard, wake, redeliver, refund, replaceFile, stream, confirmTwice, fetchOrders,
    snapshot
  case beginTwice, refresh

  var permille: Int {
    switch self {
    case .park, .secondEngine, .shutdown: 350
    default: 200
    }
  }

  var most: Int {
    switch self {
    case .secondEngine: 1
    case .killAtBoundary, .killBetweenJobs, .shutdown, .shutdownTwice: 2
    default: 3
    }
  }
}
