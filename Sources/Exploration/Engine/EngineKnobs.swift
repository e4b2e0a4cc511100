/// Everything about a run of the engine that is drawn before it begins.
struct EngineKnobs {
  let seed: UInt64
  let profile: SimulationProfile
  var purchases: Int
  /// How many products: two consumables, or others as well, which a restore finds.
  var products = 2
  var accounts: Int
  /// The time in which things happen, in milliseconds.
  var length: Int64
  /// Half of a call's way, in milliseconds: 0 to this number.
  var latency: Int
  var stalls: Int
  /// How often a call of that kind fails, in permille.
  var network: Int
  var store: Int
  var credentials: Int
  /// How often a call that hangs ignores its cancellation as well, in permille.
  var deaf: Int
  var entries: Int
  /// Whether proofs are too long for the queue: the engine reads them from the store when it sends them.
  var isByReference: Bool
  var withoutOrder: Int
  /// Whether the device makes an order if the backend does not.
  var makesOrders = false
  /// When the certificates of all proofs so far expire; nil for never.
  var chainEnd: Int64?
  /// How many of each act.
  var acts: [(act: EngineAct, count: Int)] = []

  /// The swarm's knobs are drawn for every profile. Another profile then takes away what is not its own.
  init(seed: UInt64, profile: SimulationProfile = .swarm, log: DrawLog? = nil) {
    self.seed = seed
    self.profile = profile
    var random = RandomStream(seed: seed, "shell knobs", log: log)
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
    for act in EngineAct.allCases where act != .seat && random.chance(act.permille) {
      acts.append((act, random.between(1, act.most)))
    }
    makesOrders = random.chance(300)
    // A lift takes its time.
    if acts.contains(where: { $0.act == .lift }) { length = 6 * 3_600_000 }
    if acts.contains(where: { $0.act == .restore }) { products = 4 }
    // Entries in a copy may wait for ever for an account that is not on that phone. They fill a small queue.
    if acts.contains(where: { $0.act == .clone }) { entries = 64 }
    // When another phone has finished a transaction, the store does not list its proof again.
    if acts.contains(where: { [.restore, .clone].contains($0.act) }) { isByReference = false }
    // Another process cannot close a file that was replaced.
    if acts.contains(where: { $0.act == .secondEngine }) { acts.removeAll { $0.act == .replaceFile } }
    // Drawn from a stream of its own, so that it does not change what else happens.
    var chains = RandomStream(seed: seed, "chain", log: log)
    if chains.chance(200) { chainEnd = Int64(chains.below(Int(length))) }
    var seats = RandomStream(seed: seed, "seats", log: log)
    if seats.chance(EngineAct.seat.permille) { acts.append((.seat, seats.between(1, EngineAct.seat.most))) }
    if profile != .swarm { restrict() }
  }

  private mutating func restrict() {
    if profile == .calm { (stalls, entries, isByReference, withoutOrder) = (0, 64, false, 0) }
    if profile != .network { network = 0 }
    if profile != .store { (store, chainEnd) = (0, nil) }
    if profile != .accounts { credentials = 0 }
    acts.removeAll { !$0.act.profiles.contains(profile) }
  }

  var description: KnobDescription {
    var values = [
      KnobValue("purchases", purchases), KnobValue("accounts", accounts), KnobValue("products", products),
      KnobValue("length, ms", Int(length)), KnobValue("latency up to, ms", latency),
      KnobValue("stalls, permille", stalls), KnobValue("network faults, permille", network),
      KnobValue("store faults, permille", store), KnobValue("credential faults, permille", credentials),
      KnobValue("limit of entries", entries),
      KnobValue("the device makes orders", makesOrders ? 1 : 0, makesOrders ? "yes" : "no"),
      KnobValue("proofs by reference", isByReference ? 1 : 0, isByReference ? "yes" : "no"),
      KnobValue("certificates expire", chainEnd == nil ? 0 : 1, chainEnd == nil ? "no" : "yes"),
    ]
    for (order, act) in EngineAct.allCases.enumerated() where acts.contains(where: { $0.act == act }) {
      values.append(KnobValue("what happens in a run", order, "\(act)"))
    }
    return KnobDescription(
      lines: lines, values: values, accounts: accounts, storeAccounts: 1, entries: entries)
  }

  private var lines: [String] {
    [
      "seed \(seed), profile \(profile.rawValue)",
      "\(purchases) purchases of \(accounts) accounts in \(length) ms, latency up to \(latency) ms",
      "permille: network \(network), store \(store), credentials \(credentials), deaf \(deaf), stalls \(stalls), "
        + "without order \(withoutOrder)",
      "limit: \(entries) entries" + (isByReference ? ", proofs by reference" : "")
        + (makesOrders ? ", orders of the device" : ""),
      chainEnd.map { "the certificates expire after \($0) ms" } ?? "",
      acts.map { "\($0.act) \($0.count)" }.joined(separator: ", "),
    ].filter { !$0.isEmpty }
  }
}

/// What people and chance do to the engines of a run.
enum EngineAct: CaseIterable, Sendable {
  case killAtBoundary, killBetweenJobs, shutdown, shutdownTwice, suspend, suspendTwice, secondEngine
  case signOut, claim, discard, wake, redeliver, refund, replaceFile, stream, confirmTwice, fetchOrders,
    snapshot
  case beginTwice, refresh
  case dismissSheets, chargeCancelled, buyOwned, pendingSignOut, neverConfirm
  case heardElsewhere, resubscribe, offerCode
  case restore, clone
  case lift, twoServers, callsBack, bundle, seat

  var permille: Int {
    switch self {
    case .suspend, .secondEngine, .shutdown: 350
    default: 200
    }
  }

  var most: Int {
    switch self {
    case .secondEngine, .clone, .lift, .twoServers, .callsBack: 1
    case .killAtBoundary, .killBetweenJobs, .shutdown, .shutdownTwice: 2
    default: 3
    }
  }

  /// The profiles that have it, next to the swarm.
  var profiles: Set<SimulationProfile> {
    switch self {
    case .killAtBoundary, .killBetweenJobs, .shutdown, .shutdownTwice, .replaceFile: [.crash]
    case .secondEngine: [.crash, .accounts]
    case .suspend, .suspendTwice, .wake: [.network, .crash]
    case .lift, .twoServers: [.network]
    case .callsBack: [.accounts]
    case .bundle, .seat: [.accounts, .subscriptions]
    case .signOut, .claim, .fetchOrders, .beginTwice, .pendingSignOut, .heardElsewhere, .offerCode, .clone:
      [.accounts]
    case .restore: [.accounts, .subscriptions]
    case .dismissSheets, .chargeCancelled, .buyOwned, .neverConfirm: [.store]
    case .redeliver, .refresh, .discard, .confirmTwice, .stream, .snapshot: [.store]
    case .refund, .resubscribe: [.subscriptions, .store]
    }
  }

  /// The act of the machine's simulation that is most like it: what a scenario file can say.
  var act: Act {
    switch self {
    case .killAtBoundary, .killBetweenJobs: .kill(phone: 0, effects: 0, downFor: 1_000)
    case .suspend, .suspendTwice: .suspend(phone: 0, milliseconds: 1_000)
    case .secondEngine: .extensionRuns(phone: 0, milliseconds: 1_000)
    case .signOut: .user(phone: 0, account: -1, othersStay: false)
    case .claim: .claim(phone: 0)
    case .wake: .wake(phone: 0, reason: 0)
    case .redeliver: .redeliver(phone: 0)
    case .dismissSheets: .dismissSheets(phone: 0, product: 0, count: 3)
    case .neverConfirm: .neverConfirm(phone: 0)
    case .restore: .restore(phone: 0)
    case .bundle: .bundle(phone: 0)
    case .seat: .seat(phone: 0)
    default: .other("\(self)")
    }
  }
}

/// What happens in a run of the engine, and when.
struct EngineSchedule {
  /// A purchase where the act is nil.
  private(set) var entries: [(at: Int64, act: EngineAct?, waits: Bool)] = []

  init(_ knobs: EngineKnobs, _ people: inout RandomStream) {
    for _ in 0..<knobs.purchases { entries.append((Self.moment(knobs, &people), nil, false)) }
    for (act, count) in knobs.acts {
      for _ in 0..<count {
        // Some acts wait until an engine makes a call, and happen during it.
        let waits = people.chance(400)
        entries.append((Self.moment(knobs, &people), act, waits))
      }
    }
  }

  private static func moment(_ knobs: EngineKnobs, _ people: inout RandomStream) -> Int64 {
    Int64(people.below(Int(knobs.length)))
  }
}
