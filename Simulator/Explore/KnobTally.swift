import FaultInjection

/// How often each knob was drawn how, over many worlds.
struct KnobTally: Sendable, Equatable {
  /// Worlds that were counted.
  private(set) var worlds = 0
  /// By the knob's place in `names`, and by its value.
  private(set) var counts: [[Int: Int]] = Array(repeating: [:], count: Knob.allCases.count)
  /// By fault: how many worlds have it.
  private(set) var faults = [Int](repeating: 0, count: Fault.allCases.count)
  /// By fault and permille: how often it strikes while it lasts.
  private(set) var strengths: [Int: Int] = [:]
  /// By the name of an act.
  private(set) var acts: [String: Int] = [:]

  /// Knobs with few values.
  enum Knob: String, CaseIterable, Sendable {
    case phones, accounts
    case storeAccounts = "Apple IDs"
    case hours = "hours of faults"
    case latency = "latency up to, ms"
    case confirmation = "confirmation up to, ms"
    case entries = "cap of entries"
    case quarantined = "cap of quarantine"
    case tombstones = "cap of tombstones"
    case vault

    func label(_ value: Int) -> String {
      self == .vault ? value == 0 ? "none" : "there is one" : String(value)
    }
  }

  mutating func add(_ drawn: Knobs) {
    worlds += 1
    for knob in Knob.allCases { counts[place(knob)][Self.value(knob, of: drawn), default: 0] += 1 }
    for fault in drawn.faults {
      faults[Int(fault.fault.rawValue)] += 1
      strengths[fault.permille, default: 0] += 1
    }
    for act in drawn.acts { acts[act.name.description, default: 0] += 1 }
  }

  mutating func add(_ other: KnobTally) {
    worlds += other.worlds
    for index in counts.indices { counts[index].merge(other.counts[index], uniquingKeysWith: +) }
    for index in faults.indices { faults[index] += other.faults[index] }
    strengths.merge(other.strengths, uniquingKeysWith: +)
    acts.merge(other.acts, uniquingKeysWith: +)
  }

  func values(of knob: Knob) -> [(value: Int, worlds: Int)] {
    counts[place(knob)].sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private func place(_ knob: Knob) -> Int { Knob.allCases.firstIndex(of: knob) ?? 0 }

  private static func value(_ knob: Knob, of drawn: Knobs) -> Int {
    switch knob {
    case .phones: drawn.phones
    case .accounts: drawn.accounts
    case .storeAccounts: drawn.storeAccounts
    case .hours: Int(drawn.length / 3_600_000)
    case .latency: drawn.latency
    case .confirmation: drawn.confirmation
    case .entries: drawn.entries
    case .quarantined: drawn.quarantined
    case .tombstones: drawn.tombstones
    case .vault: drawn.hasVault ? 1 : 0
    }
  }
}
