/// All acts of a run by time. They are drawn before the run, so that it can be repeated with some of them.
package struct Schedule: Sendable {
  package private(set) var acts: [PlannedAct] = []
  /// How many random numbers were drawn.
  package private(set) var draws = 0

  package init(_ knobs: MachineKnobs, log: DrawLog? = nil) {
    var random = RandomStream(seed: knobs.seed, "people", log: log)
    var phone = 0
    for _ in 0..<knobs.purchases {
      phone = random.below(knobs.phones)
      add(.buy(Self.buying(phone, knobs, &random)), knobs, &random)
    }
    var fate = RandomStream(seed: knobs.seed, "fate", log: log)
    for (fault, count, milliseconds, permille) in knobs.faults {
      for _ in 0..<count {
        let phone = fate.chance(500) ? -1 : fate.below(knobs.phones)
        let length = Int64(1 + fate.below(Int(milliseconds)))
        add(.fault(fault, phone: phone, milliseconds: length, permille: permille), knobs, &fate)
      }
    }
    for (name, count) in knobs.acts {
      for _ in 0..<count { add(name.description, knobs, &fate) }
    }
    var taps = RandomStream(seed: knobs.seed, "taps", log: log)
    addImpatience(knobs, &taps)
    var owners = RandomStream(seed: knobs.seed, "owners", log: log)
    addOwnership(knobs, &owners)
    var lifts = RandomStream(seed: knobs.seed, "lifts", log: log)
    addLift(knobs, &lifts)
    var fulfilments = RandomStream(seed: knobs.seed, "fulfilments", log: log)
    addFailingApp(knobs, &fulfilments)
    var bundles = RandomStream(seed: knobs.seed, "bundles", log: log)
    addBundles(knobs, &bundles)
    var seats = RandomStream(seed: knobs.seed, "seats", log: log)
    addSeats(knobs, &seats)
    // A stable sort: acts of one moment keep their order.
    let order = acts.indices.sorted { (acts[$0].at, $0) < (acts[$1].at, $1) }
    acts = order.map { acts[$0] }
    nameTargets(knobs)
    draws =
      random.count + fate.count + taps.count + owners.count + lifts.count
      + fulfilments.count + bundles.count + seats.count
  }

  private mutating func add(_ act: Act, _ knobs: MachineKnobs, _ random: inout RandomStream) {
    acts.append(PlannedAct(at: Int64(random.below(Int(knobs.length))), act: act))
  }

  /// A person buys behind a captive portal, and asks again and again: 120 times, one every 25 s. Only the hour's
  /// budget limits the requests that follow. The draws have a stream of their own, so that they change no other act.
  private mutating func addImpatience(_ knobs: MachineKnobs, _ random: inout RandomStream) {
    guard knobs.profile == .swarm, random.chance(30) else { return }
    let (taps, pause) = (120, 25_000 as Int64)
    let duration = Int64(taps) * pause
    let phone = random.below(knobs.phones)
    let start = Int64(random.below(Int(knobs.length)))
    let outage = Act.fault(.captivePortal, phone: phone, milliseconds: duration, permille: 1_000)
    acts.append(PlannedAct(at: start, act: outage))
    acts.append(PlannedAct(at: start, act: .buy(Self.buying(phone, knobs, &random))))
    for tap in 0..<taps {
      acts.append(PlannedAct(at: start + Int64(tap) * pause, act: .wake(phone: phone, reason: 2)))
    }
  }

  /// A person buys, and has no network for ten minutes or more. Then it is back, and some tap. In some of these outages the
  /// clock jumps ahead and back. With draws of their own.
  private mutating func addLift(_ knobs: MachineKnobs, _ random: inout RandomStream) {
    guard [.swarm, .network].contains(knobs.profile), random.chance(400) else { return }
    let phone = random.below(knobs.phones)
    let length = Int64(random.pick([11, 15, 40, 300])) * 60_000
    guard length + 120_000 < knobs.length else { return }
    let start = Int64(random.below(Int(knobs.length - length - 120_000)))
    let jump = random.pick([0, 0, 1, 365]) * 86_400_000
    acts.append(
      PlannedAct(at: start, act: .fault(.offline, phone: phone, milliseconds: length, permille: 1_000)))
    acts.append(
      PlannedAct(at: start + Int64(random.below(Int(length))), act: .buy(Self.buying(phone, knobs, &random))))
    if jump > 0 {
      acts.append(PlannedAct(at: start + length / 4, act: .clock(phone: phone, by: Int64(jump))))
      acts.append(PlannedAct(at: start + length / 2, act: .clock(phone: phone, by: -Int64(jump))))
    }
    let end = start + length + 1
    if random.chance(800) { acts.append(PlannedAct(at: end, act: .wake(phone: phone, reason: 1))) }
    let pause = Int64(random.pick([50, 1_000, 5_000]))
    for tap in 0..<random.pick([0, 1, 10]) {
      acts.append(PlannedAct(at: end + Int64(tap) * pause, act: .wake(phone: phone, reason: 2)))
    }
  }

  /// What the app needs to fulfil is gone for a while, such as its own server; with draws of their own.
  private mutating func addFailingApp(_ knobs: MachineKnobs, _ random: inout RandomStream) {
    guard [.swarm, .crash, .store].contains(knobs.profile), random.chance(250) else { return }
    for _ in 0..<random.between(1, 2) {
      let length = Int64(random.pick([60_000, 3_600_000, 20 * 3_600_000]))
      add(.fulfilFails(phone: random.below(knobs.phones), milliseconds: length), knobs, &random)
    }
  }

  /// Restores, subscriptions that are bought again, and offer codes; with draws of their own.
  private mutating func addOwnership(_ knobs: MachineKnobs, _ random: inout RandomStream) {
    let isOn = [.swarm, .accounts, .subscriptions].contains(knobs.profile)
    guard isOn, random.chance(400) else { return }
    for _ in 0..<random.between(1, 3) {
      add(.resubscribe(purchase: random.below(1 << 20), phone: random.below(knobs.phones)), knobs, &random)
      add(.restore(phone: random.below(knobs.phones)), knobs, &random)
      add(.offerCode(phone: random.below(knobs.phones)), knobs, &random)
    }
  }

  /// Bundles of two subscriptions; with draws of their own.
  private mutating func addBundles(_ knobs: MachineKnobs, _ random: inout RandomStream) {
    guard [.swarm, .accounts, .subscriptions, .store].contains(knobs.profile), random.chance(300) else {
      return
    }
    for _ in 0..<random.between(1, 2) {
      add(.bundle(phone: random.below(knobs.phones)), knobs, &random)
    }
  }

  /// Seats, of which some are renewed, taken back and restored; with draws of their own.
  private mutating func addSeats(_ knobs: MachineKnobs, _ random: inout RandomStream) {
    guard [.swarm, .accounts, .subscriptions, .store].contains(knobs.profile), random.chance(300) else {
      return
    }
    for seat in 0..<random.between(1, 3) {
      add(.seat(phone: random.below(knobs.phones)), knobs, &random)
      let begin = acts[acts.count - 1].at
      func later(_ act: Act, _ permille: Int) {
        guard random.chance(permille) else { return }
        acts.append(PlannedAct(at: begin + Int64(random.below(Int(knobs.length - begin))), act: act))
      }
      later(.renew(purchase: -1 - seat, isUpgrade: false), 500)
      later(.restore(phone: random.below(knobs.phones)), 500)
      later(.refund(purchase: -1 - seat), 300)
    }
  }

  private static func buying(_ phone: Int, _ knobs: MachineKnobs, _ random: inout RandomStream) -> Buying {
    var buying = Buying(
      phone: phone, product: random.chance(knobs.subscriptions) ? 2 : random.below(2), hasOrder: true,
      forgetsToken: false, proofs: .signed, waits: 0, poison: .none)
    if knobs.profile == .calm { return buying }
    buying.hasOrder = !random.chance(knobs.withoutOrder)
    buying.forgetsToken = random.chance(knobs.forgotten)
    if random.chance(knobs.receipts) {
      buying.proofs = .receipt
    } else if random.chance(knobs.bothProofs) {
      buying.proofs = .both
    }
    if random.chance(knobs.waiting) {
      buying.waits = random.chance(200) ? -1 : Int64(random.between(60_000, 20 * 3_600_000))
    }
    if random.chance(knobs.poison) { buying.poison = random.pick([.crashes, .rejected, .unanswered]) }
    return buying
  }

  private mutating func add(_ name: String, _ knobs: MachineKnobs, _ random: inout RandomStream) {
    let phone = random.below(knobs.phones)
    let while_ = Int64(random.pick([1_000, 60_000, 3_600_000, 20 * 3_600_000]))
    switch name {
    case "kill":
      add(.kill(phone: phone, effects: random.below(24), downFor: while_), knobs, &random)
    case "powerLoss": add(.powerLoss(phone: phone, downFor: while_), knobs, &random)
    case "storageFault":
      let count = random.pick([1, 3, 30])
      let fault = random.pick(StorageFault.allCases)
      add(.storageFault(fault, phone: phone, after: random.below(12), count: count), knobs, &random)
    case "reinstall": add(.reinstall(phone: phone), knobs, &random)
    case "image":
      add(.takeImage(phone: phone), knobs, &random)
      add(.restoreImage(phone: phone), knobs, &random)
    case "clock":
      let year: Int64 = 365 * 86_400_000
      add(.clock(phone: phone, by: random.pick([year, -year, 3_600_000, -3_600_000])), knobs, &random)
    case "user":
      let account = random.below(knobs.accounts + 1) - 1
      add(.user(phone: phone, account: account, othersStay: random.chance(300)), knobs, &random)
    case "appleID":
      add(.appleID(phone: phone, storeAccount: random.below(knobs.storeAccounts)), knobs, &random)
    case "claim": add(.claim(phone: phone), knobs, &random)
    case "refund": add(.refund(purchase: random.below(1 << 20)), knobs, &random)
    case "reverseRefund":
      let purchase = random.below(1 << 20)
      add(.refund(purchase: purchase), knobs, &random)
      add(.reverseRefund(purchase: purchase), knobs, &random)
    case "renew":
      let (purchase, isUpgrade) = (random.below(1 << 20), random.chance(300))
      add(.renew(purchase: purchase, isUpgrade: isUpgrade), knobs, &random)
    case "redeliver": add(.redeliver(phone: phone), knobs, &random)
    case "wake": add(.wake(phone: phone, reason: random.below(3)), knobs, &random)
    case "dismiss":
      add(
        .dismissSheets(phone: phone, product: random.below(2), count: random.between(1, 12)), knobs, &random)
    case "cancelled":
      var buying = Self.buying(phone, knobs, &random)
      (buying.hasOrder, buying.isCancelled) = (true, true)
      buying.waits = Int64(random.pick([1_000, 600_000, 20 * 3_600_000]))
      add(.buy(buying), knobs, &random)
    case "neverConfirm": add(.neverConfirm(phone: phone), knobs, &random)
    case "suspend": add(.suspend(phone: phone, milliseconds: while_), knobs, &random)
    case "extension": add(.extensionRuns(phone: phone, milliseconds: while_), knobs, &random)
    default:
      add(.backup, knobs, &random)
      add(.restoreBackup, knobs, &random)
    }
  }

  /// Refunds and renewals name their purchase by its place in the schedule. Below zero is a seat.
  private mutating func nameTargets(_ knobs: MachineKnobs) {
    var purchases: [Int] = []
    var subscriptions: [Int] = []
    var seats: [Int] = []
    for (index, planned) in acts.enumerated() {
      if case .seat = planned.act { seats.append(index) }
      guard case .buy(let buying) = planned.act else { continue }
      purchases.append(index)
      if buying.product == 2 { subscriptions.append(index) }
    }
    for index in acts.indices {
      switch acts[index].act {
      case .refund(let seat) where seat < 0: acts[index].act = .refund(purchase: seats[-1 - seat])
      case .renew(let seat, let isUpgrade) where seat < 0:
        acts[index].act = .renew(purchase: seats[-1 - seat], isUpgrade: isUpgrade)
      case .refund(let number): acts[index].act = .refund(purchase: purchases[number % purchases.count])
      case .reverseRefund(let number):
        acts[index].act = .reverseRefund(purchase: purchases[number % purchases.count])
      case .renew(let number, let isUpgrade):
        let among = subscriptions.isEmpty ? purchases : subscriptions
        acts[index].act = .renew(purchase: among[number % among.count], isUpgrade: isUpgrade)
      case .resubscribe(let number, let phone):
        let among = subscriptions.isEmpty ? purchases : subscriptions
        acts[index].act = .resubscribe(purchase: among[number % among.count], phone: phone)
      default: break
      }
    }
  }
}
