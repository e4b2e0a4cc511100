package import PurchaseQueue
package import PurchaseSync

/// Everything about a run that is drawn before it begins. A failure prints it.
package struct MachineKnobs: Sendable {
  package var seed: UInt64
  package let profile: SimulationProfile
  package var phones = 1
  package var accounts = 1
  package var storeAccounts = 1
  package var purchases = 50
  /// How long the faults last, in milliseconds.
  package var length: Int64 = 86_400_000
  /// Half of a request's way, in milliseconds: 1 to this number.
  package var latency = 200
  /// How long the app takes to confirm an outcome, in milliseconds: 1 to this number.
  package var confirmation = 1_000
  package var entries = 64
  package var quarantined = 32
  package var tombstones = 10_000
  package var hasVault = false
  /// The properties of a purchase, in permille.
  package var receipts = 0
  package var bothProofs = 0
  package var forgotten = 0
  package var withoutOrder = 0
  package var subscriptions = 0
  package var waiting = 0
  package var poison = 0
  /// How many faults of each kind, how long each lasts, and how often it strikes.
  package var faults: [(fault: Fault, count: Int, milliseconds: Int64, permille: Int)] = []
  /// How many of each act.
  package var acts: [(name: StaticString, count: Int)] = []
  /// For whom purchases without an owner are.
  package var unclaimed = UnclaimedPolicy.device
  /// How many random numbers were drawn.
  package private(set) var draws = 0
  /// Whether the backend has one token for each account, and not for each order. It follows from the seed's number.
  var hasAccountTokens: Bool { [.swarm, .accounts].contains(profile) && seed % 7 == 0 }

  package init(seed: UInt64, profile: SimulationProfile, log: DrawLog? = nil) {
    self.seed = seed
    self.profile = profile
    var random = RandomStream(seed: seed, "knobs", log: log)
    drawSizes(&random)
    drawPurchases(&random)
    drawFaults(&random)
    drawActs(&random)
    // A stream of its own, so that it changes no other knob.
    var owners = RandomStream(seed: seed, "unclaimed", log: log)
    if profile != .calm { unclaimed = owners.pick(UnclaimedPolicy.allCases) }
    draws = random.count + owners.count
  }

  package var limits: QueueLimits {
    QueueLimits(entries: entries, quarantinedEntries: quarantined, tombstones: tombstones)
  }

  private mutating func drawSizes(_ random: inout RandomStream) {
    let isSwarm = profile == .swarm
    purchases = random.between(30, 70)
    length = Int64(random.pick([1, 6, 24, 72, 240])) * 3_600_000
    latency = random.pick([20, 200, 2_000])
    confirmation = random.pick([100, 5_000, 600_000])
    if profile == .calm { return }
    if isSwarm || profile == .accounts {
      phones = random.between(1, 3)
      accounts = random.between(1, 3)
      storeAccounts = random.between(1, 3)
    } else if random.chance(500) {
      accounts = random.between(1, 2)
    }
    if random.chance(isSwarm ? 400 : 200) {
      entries = random.between(2, 12)
      quarantined = random.between(1, 4)
    }
    if random.chance(250) { tombstones = random.between(4, 40) }
    hasVault = random.chance(isSwarm || profile == .crash ? 250 : 0)
  }

  private mutating func drawPurchases(_ random: inout RandomStream) {
    if profile == .calm { return }
    let isSwarm = profile == .swarm
    func some(_ usual: Bool, _ most: Int) -> Int {
      (isSwarm ? random.chance(500) : usual) ? random.between(most / 8, most) : 0
    }
    receipts = some(profile == .store, 600)
    bothProofs = some(profile == .store, 300)
    forgotten = some(profile == .store || profile == .accounts, 500)
    withoutOrder = some(profile == .accounts || profile == .store, 400)
    subscriptions = some(profile == .subscriptions, profile == .subscriptions ? 900 : 400)
    waiting = some(profile == .store, 300)
    poison = some(profile == .network, 60)
  }

  private mutating func drawFaults(_ random: inout RandomStream) {
    for fault in Fault.allCases {
      let isOn =
        switch profile {
        case .calm: false
        case .network: (fault.ofNetwork || fault.ofAnswer || fault == .twoServers) && random.chance(600)
        case .crash:
          (fault == .loseReply || fault == .vaultFails || fault == .dropRequest) && random.chance(500)
        case .accounts:
          (fault == .unauthorized || fault == .signsInAgain || fault == .delay || fault == .dropRequest)
            && random.chance(500)
        case .subscriptions: (fault == .loseReply || fault == .storeUnavailable) && random.chance(500)
        case .store: (fault.ofStore || fault == .freshReceipts) && random.chance(600)
        case .swarm: random.chance(300)
        }
      guard isOn else { continue }
      // Long faults hide what short ones show, and the reverse.
      let share = random.pick([40, 200, 1_000, 3_000])
      faults.append(
        (
          fault, random.between(1, 4),
          fault.isTempting ? 300_000 : max(1_000, length / 10_000 * Int64(share)),
          random.pick([1_000, 500, 200])
        ))
    }
  }

  private mutating func drawActs(_ random: inout RandomStream) {
    for (name, profiles) in Self.known {
      guard profile == .swarm ? random.chance(350) : profiles.contains(profile) && random.chance(800) else {
        continue
      }
      acts.append((name, random.between(1, 5)))
    }
  }

  /// The acts, each with the profiles that have it next to the swarm.
  private static let known: [(StaticString, [SimulationProfile])] = [
    ("kill", [.crash, .store]), ("powerLoss", [.crash]), ("storageFault", [.crash]),
    ("reinstall", [.crash, .accounts]), ("image", [.crash]), ("clock", [.network, .crash]),
    ("user", [.accounts]), ("appleID", [.accounts, .store]), ("claim", [.accounts]),
    ("refund", [.subscriptions, .store]), ("reverseRefund", [.subscriptions]), ("renew", [.subscriptions]),
    ("redeliver", [.store, .crash]), ("wake", [.network, .accounts]), ("suspend", [.network, .crash]),
    ("extension", [.crash, .accounts]), ("backup", [.subscriptions]), ("dismiss", [.store, .accounts]),
    ("cancelled", [.store, .accounts]), ("neverConfirm", [.store, .crash]),
  ]

  /// For a person and for counting; the same in every process.
  package var description: KnobDescription {
    KnobDescription(
      lines: lines, values: values, accounts: accounts, storeAccounts: storeAccounts, entries: entries)
  }

  private var lines: [String] {
    var lines = [
      "seed \(seed), profile \(profile.rawValue)",
      "\(phones) phones, \(accounts) accounts, \(storeAccounts) Apple IDs, \(purchases) purchases in "
        + "\(length / 3_600_000) h",
      "one token for each \(hasAccountTokens ? "account" : "order")",
      "latency up to \(latency) ms, confirmation up to \(confirmation) ms, vault \(hasVault)",
      "limits: \(entries) entries, \(quarantined) quarantined, \(tombstones) tombstones",
      "permille: receipts \(receipts), both proofs \(bothProofs), token forgotten \(forgotten), "
        + "without order \(withoutOrder), subscriptions \(subscriptions), waiting \(waiting), poison \(poison)",
    ]
    for (fault, count, milliseconds, permille) in faults {
      lines.append("\(fault): \(count) times for \(milliseconds) ms, \(permille) permille")
    }
    if !acts.isEmpty { lines.append(acts.map { "\($0.name) \($0.count)" }.joined(separator: ", ")) }
    return lines
  }

  private var values: [KnobValue] {
    var values = [
      KnobValue("phones", phones), KnobValue("accounts", accounts), KnobValue("Apple IDs", storeAccounts),
      KnobValue("hours of faults", Int(length / 3_600_000)), KnobValue("latency up to, ms", latency),
      KnobValue("confirmation up to, ms", confirmation), KnobValue("limit of entries", entries),
      KnobValue("limit of quarantine", quarantined), KnobValue("limit of tombstones", tombstones),
      KnobValue("vault", hasVault ? 1 : 0, hasVault ? "present" : "none"),
      KnobValue(
        "unclaimed purchases", UnclaimedPolicy.allCases.firstIndex(of: unclaimed) ?? 0, unclaimed.rawValue),
    ]
    for fault in Fault.allCases {
      values.append(
        KnobValue(
          "kinds of fault that a run has", Int(fault.rawValue), "\(fault)",
          count: faults.contains { $0.fault == fault } ? 1 : 0))
    }
    for fault in faults {
      values.append(
        KnobValue(
          "how often a fault strikes while it lasts", fault.permille, "\(fault.permille) of 1000 times",
          isOfRuns: false))
    }
    let drawn = Set(acts.map(\.name.description))
    for (order, known) in Self.known.enumerated() where drawn.contains(known.0.description) {
      values.append(KnobValue("what happens in a run", order, known.0.description))
    }
    return values
  }
}
