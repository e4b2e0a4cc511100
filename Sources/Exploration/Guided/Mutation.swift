/// Makes an input from a kept one, in a few steps. All draws are the search's own.
struct Mutation {
  /// A longer run costs more time than it shows.
  static let mostActs = 220

  private(set) var input: MachineInput
  private let profile: SimulationProfile
  private let other: MachineInput

  /// - Parameter other: Another kept input, to cross with.
  init(of input: MachineInput, profile: SimulationProfile, crossing other: MachineInput) {
    (self.input, self.profile, self.other) = (input, profile, other)
  }

  mutating func apply(_ random: inout RandomStream) {
    for _ in 0..<(1 << random.below(4)) { step(&random) }
    while input.acts.count > Self.mostActs { removeSome(&random) }
    settle(&random)
  }

  private mutating func step(_ random: inout RandomStream) {
    guard !input.acts.isEmpty else { return add(&random) }
    switch random.below(16) {
    case 0, 1: add(&random)
    case 2, 3: cross(&random)
    case 4, 5, 6: move(&random)
    case 7, 8: duplicate(&random)
    case 9: removeSome(&random)
    case 10, 11: gather(&random)
    case 12, 13: relocate(&random)
    default: retune(&random)
    }
  }

  // MARK: Acts

  private func moment(_ random: inout RandomStream) -> Int64 {
    Int64(random.below(Int(input.knobs.length)))
  }

  /// A moment close to another act: what is rare happens when two acts meet.
  private func near(_ random: inout RandomStream) -> Int64 {
    let other = input.acts[random.below(input.acts.count)].at
    let distance = Int64(random.below(random.pick([10, 500, 5_000, 60_000, 3_600_000])))
    return max(0, min(input.knobs.length - 1, random.chance(300) ? other - distance : other + distance))
  }

  /// Some acts of a schedule that is drawn again.
  private mutating func add(_ random: inout RandomStream) {
    take(from: MachineInput(seed: random.next() >> 1, profile: profile), &random)
  }

  private mutating func cross(_ random: inout RandomStream) { take(from: other, &random) }

  /// Copies acts that follow each other. Their purchases come with them.
  private mutating func take(from other: MachineInput, _ random: inout RandomStream) {
    guard !other.acts.isEmpty else { return }
    let first = random.below(other.acts.count)
    let count = min(1 + random.below(random.pick([4, 16, 48])), other.acts.count - first)
    let start = random.chance(500) && !input.acts.isEmpty ? near(&random) : moment(&random)
    let begin = other.acts[first].at
    let base = input.acts.count
    var placeOf: [Int: Int] = [:]
    for place in first..<first + count {
      var planned = other.acts[place]
      planned.at = min(input.knobs.length - 1, start + planned.at - begin)
      placeOf[place] = base + place - first
      input.acts.append(planned)
    }
    for place in base..<input.acts.count {
      guard let purchase = input.acts[place].act.purchase else { continue }
      input.acts[place].act.name(purchase: placeOf[purchase] ?? random.below(base + count))
    }
  }

  private mutating func move(_ random: inout RandomStream) {
    let place = random.below(input.acts.count)
    input.acts[place].at = random.chance(800) ? near(&random) : moment(&random)
  }

  private mutating func duplicate(_ random: inout RandomStream) {
    let place = random.below(input.acts.count)
    for _ in 0...random.below(4) {
      var copy = input.acts[place]
      copy.at = random.chance(700) ? near(&random) : moment(&random)
      input.acts.append(copy)
    }
  }

  private mutating func removeSome(_ random: inout RandomStream) {
    guard input.acts.count > 4 else { return }
    let count = 1 + random.below(input.acts.count / 4)
    for _ in 0..<count { input.acts[random.below(input.acts.count)].at = -1 }
    input.arrange()
  }

  /// Brings acts that follow each other close together.
  private mutating func gather(_ random: inout RandomStream) {
    let first = random.below(input.acts.count)
    let last = min(input.acts.count, first + 2 + random.below(24))
    let begin = input.acts[first].at
    let divisor = Int64(random.pick([10, 100, 1_000, 100_000]))
    for place in first..<last {
      input.acts[place].at = min(input.knobs.length - 1, begin + (input.acts[place].at - begin) / divisor)
    }
  }

  /// The same act on another phone, or another purchase for it.
  private mutating func relocate(_ random: inout RandomStream) {
    let place = random.below(input.acts.count)
    if input.acts[place].act.purchase != nil {
      input.acts[place].act.name(purchase: random.below(input.acts.count))
    }
    guard let phone = input.acts[place].act.phone, phone >= 0 else { return }
    input.acts[place].act = input.acts[place].act.on(random.below(input.knobs.phones))
  }

  // MARK: Knobs

  /// One knob is drawn again, or the numbers of the run.
  private mutating func retune(_ random: inout RandomStream) {
    let seed = random.next() >> 1
    let drawn = MachineKnobs(seed: seed, profile: profile)
    switch random.below(9) {
    case 0, 1: input.knobs.phones = drawn.phones
    case 2: input.knobs.accounts = drawn.accounts
    case 3: input.knobs.storeAccounts = drawn.storeAccounts
    case 4: (input.knobs.latency, input.knobs.confirmation) = (drawn.latency, drawn.confirmation)
    case 5: (input.knobs.entries, input.knobs.quarantined) = (drawn.entries, drawn.quarantined)
    case 6: (input.knobs.tombstones, input.knobs.hasVault) = (drawn.tombstones, drawn.hasVault)
    case 7: input.knobs.unclaimed = drawn.unclaimed
    default: input.knobs.seed = seed
    }
  }

  // MARK: Making it whole

  /// Lets each act name a phone, an account and a purchase that the run has.
  private mutating func settle(_ random: inout RandomStream) {
    let knobs = input.knobs
    let purchases = input.acts.indices.filter { input.acts[$0].act.isBuying && input.acts[$0].at >= 0 }
    for place in input.acts.indices {
      var act = input.acts[place].act
      if let phone = act.phone, phone >= knobs.phones { act = act.on(phone % knobs.phones) }
      if case .user(let phone, let account, let stay) = act, account >= knobs.accounts {
        act = .user(phone: phone, account: account % knobs.accounts, othersStay: stay)
      }
      if case .appleID(let phone, let account) = act, account >= knobs.storeAccounts {
        act = .appleID(phone: phone, storeAccount: account % knobs.storeAccounts)
      }
      if let purchase = act.purchase, !input.acts[purchase].act.isBuying || input.acts[purchase].at < 0,
        !purchases.isEmpty
      {
        act.name(purchase: purchases[random.below(purchases.count)])
      }
      input.acts[place].act = act
    }
    input.arrange()
  }
}
