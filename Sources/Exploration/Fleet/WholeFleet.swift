import AppStoreReceipts
package import Fleet
package import PurchaseQueue
package import PurchaseSync

/// A fleet of whole devices: each has the production machine and its storage, against the backend of the compact model.
/// The invariants of the machine's simulation that one purchase can break are checked at each step. A test compares the
/// curves with those of `FleetSimulation`.
///
/// As there: one purchase per device, steps of a second, and a device sends at most once in each. There are no new
/// purchases, so `purchasesPerDay` is ignored, and people open the app as in the scenario.
package final class WholeFleet {
  /// What a run gives.
  package struct Outcome: Sendable {
    package var curves = FleetCurves()
    package var requestsInFault = 0
    package var requestsAfter = 0
    /// How often each invariant was checked, by its number.
    package var checks: [Int: Int] = [:]
    package var violation: Violation?
  }

  /// A phone and its only process. Its clock is that of the simulation.
  private struct Device {
    let storage: WatchedStorage
    var machine: SyncMachine<WatchedStorage>
    /// The earliest timer; nil where none is set.
    var timer: Int64?
    var hasBought = false
    /// The moment of its last event. Its clock does not go back.
    var last: Int64 = 0
    var isSending = false
    var isFailing = false
    var hasHeard = false
    /// No request before, by the backend's Retry-After.
    var floor: Int64 = 0
    /// Whether the backend's ledger has it.
    var isCredited = false
    var attempts = 0
    /// When it sent requests after a failure, in the last hour.
    var spent: [Int64] = []
  }

  private let scenario: FleetScenario
  private let backend: FleetBackend
  private let checker = MachineChecker()
  private var random: RandomStream
  private var devices: [Device] = []
  private var buckets: [[Int]]
  /// The devices whose users tap, by second.
  private var taps: [Int: [Int]] = [:]
  private var senders: [Int] = []
  private var openings = 0.0
  private var delivered = 0
  private var now: Int64 = 0
  private var outcome = Outcome()
  private let policy: RetryPolicy
  private let transaction: StoreTransaction

  package init(
    _ scenario: FleetScenario, numbers: RetryPolicy = RetryPolicy(), disks: DiskMaker
  ) throws(QueueError) {
    (self.scenario, policy) = (scenario, numbers)
    backend = FleetBackend(scenario)
    random = RandomStream(seed: scenario.seed, "fleet")
    buckets = Array(repeating: [], count: scenario.horizon)
    // Each device has its own store, so that all purchases can have one name.
    transaction = StoreTransaction(
      environment: .production, transactionID: Names.id(0), originalTransactionID: Names.id(0),
      productID: Names.products[0], quantity: 1, purchasedAt: Timestamp(milliseconds: 0),
      accountToken: Names.token(0), proof: LeanStore.receipt(0))
    checker.sales = 1
    let minutes = (scenario.horizon + FleetCurves.step - 1) / FleetCurves.step
    outcome.curves.peak = Array(repeating: 0, count: minutes)
    (outcome.curves.offered, outcome.curves.delivered) = (outcome.curves.peak, outcome.curves.peak)
    checker.moment = { [unowned self] in (0, now) }
    var seeds = RandomStream(seed: scenario.seed, "machine")
    for device in 0..<scenario.devices {
      let at = scenario.purchase(of: device)
      try addDevice(seed: seeds.next(), disks)
      devices[device].timer = Int64(at)
      buckets[at / 1_000].append(device)
    }
  }

  private func addDevice(seed: UInt64, _ disks: DiskMaker) throws(QueueError) {
    let limits = QueueLimits()
    let disk = try disks(limits, false)
    let base = try disk.open(now: Timestamp(milliseconds: 0))
    let order = OrderDocument(
      number: "1", accountToken: Names.token(0), productID: Names.products[0], quantity: 1, state: .open,
      createdAt: Timestamp(milliseconds: 0))
    try disk.add(order, account: Names.accounts[0], to: base)
    let storage = WatchedStorage(base, Shadow(checker, limits))
    var machine = SyncMachine(storage: storage, policy: policy, appVersion: "1", seed: seed)
    _ = try machine.started(now: Timestamp(milliseconds: 0))
    devices.append(Device(storage: storage, machine: machine))
  }

  /// Runs to the horizon, or to the first violation.
  package func run() throws(QueueError) -> Outcome {
    for second in 0..<scenario.horizon where checker.violation == nil { try step(second) }
    if checker.violation == nil { checkEnd() }
    for invariant in MachineInvariant.allCases where checker.exercised[invariant.place] > 0 {
      outcome.checks[invariant.rawValue] = checker.exercised[invariant.place]
    }
    outcome.violation = checker.violation
    return outcome
  }

  private func step(_ second: Int) throws(QueueError) {
    senders.removeAll(keepingCapacity: true)
    try openApps(second)
    for device in taps.removeValue(forKey: second) ?? [] { try wake(device, .userAsked, second) }
    let due = buckets[second]
    buckets[second] = []
    for device in due {
      guard let at = devices[device].timer, at / 1_000 == Int64(second), !devices[device].isSending else {
        continue
      }
      devices[device].timer = nil
      pass(to: at, of: device)
      try look(at: device)
    }
    let capacity = backend.capacity(at: second)
    let goodput = FleetBackend.goodput(offered: Double(senders.count), capacity: capacity)
    count(senders.count, second)
    // A part of a request is served in as many of the seconds.
    let part = Int(((goodput - goodput.rounded(.down)) * 1_000).rounded())
    try answer(min(senders.count, Int(goodput) + (random.chance(part) ? 1 : 0)), second)
    outcome.curves.delivered[second / FleetCurves.step] = delivered
  }

  private func count(_ sent: Int, _ second: Int) {
    let minute = second / FleetCurves.step
    outcome.curves.peak[minute] = max(outcome.curves.peak[minute], sent)
    outcome.curves.offered[minute] += sent
    if second < scenario.outage { outcome.requestsInFault += sent } else { outcome.requestsAfter += sent }
  }

  // MARK: Devices

  private func pass(to moment: Int64, of device: Int) {
    now = max(moment, devices[device].last)
    devices[device].last = now
  }

  /// The purchase comes, or the timer fires.
  private func look(at device: Int) throws(QueueError) {
    let moment = Timestamp(milliseconds: now)
    guard devices[device].hasBought else {
      devices[device].hasBought = true
      return try perform(try devices[device].machine.transactionArrived(transaction, now: moment), of: device)
    }
    try perform(devices[device].machine.timerFired(now: moment), of: device)
  }

  private func openApps(_ second: Int) throws(QueueError) {
    openings += FleetForeground.openings(scenario, second: second)
    while openings >= 1 {
      openings -= 1
      try open(random.below(devices.count), second)
    }
    for device in FleetForeground.pushed(scenario, second: second) { try open(device, second) }
  }

  private func open(_ device: Int, _ second: Int) throws(QueueError) {
    guard isPending(device) else { return }
    try wake(device, .foreground, second)
    for number in 0..<scenario.taps {
      taps[second + (number + 1) * FleetForeground.tapInterval, default: []].append(device)
    }
  }

  private func isPending(_ device: Int) -> Bool { devices[device].hasBought && !devices[device].hasHeard }

  private func wake(_ device: Int, _ reason: WakeReason, _ second: Int) throws(QueueError) {
    guard isPending(device), !devices[device].isSending else { return }
    pass(to: Int64(second) * 1_000 + Int64(random.below(1_000)), of: device)
    try perform(devices[device].machine.woken(reason, now: Timestamp(milliseconds: now)), of: device)
  }

  private func perform(_ actions: [SyncAction], of device: Int) throws(QueueError) {
    let moment = Timestamp(milliseconds: now)
    for action in actions {
      switch action {
      case .send(let lane, let entries):
        let start = try devices[device].machine.attemptBegins(lane: lane, now: moment)
        switch start {
        case .send(let more):
          checkSend(entries, of: device)
          devices[device].isSending = true
          senders.append(device)
          try perform(more, of: device)
        case .hold(let more): try perform(more, of: device)
        }
      case .finish(let tombstone):
        let row = devices[device].storage.shadow.row(0)
        checker.expect(
          .finishAfterAcknowledgement, row.isBuried && devices[device].isCredited,
          "device \(device) finishes without a durable acknowledgement")
        try perform(
          try devices[device].machine.finishEnded(tombstone.key, .finished, now: moment), of: device)
      case .emit(.delivered(let outcome)), .emit(.settled(let outcome)):
        try perform(try devices[device].machine.outcomeConfirmed(outcome.key, now: moment), of: device)
      case .wake(let at): wake(device, at.milliseconds)
      case .storageFailed(let error): throw error
      case .emit, .readProof, .listStore, .adopt: break
      }
    }
  }

  private func wake(_ device: Int, _ moment: Int64) {
    checker.expect(.timers, moment - now <= 86_400_000, "device \(device) sleeps \(moment - now) ms")
    // As in the compact model, nothing happens twice in one second.
    let at = max(moment, (now / 1_000 + 1) * 1_000)
    // A timer that came while a request was under way is over.
    if let timer = devices[device].timer, timer > now, timer <= at { return }
    devices[device].timer = at
    if at / 1_000 < Int64(buckets.count) { buckets[Int(at / 1_000)].append(device) }
  }

  // MARK: The backend

  /// So many of the senders are served, chosen at random.
  private func answer(_ served: Int, _ second: Int) throws(QueueError) {
    var (wanted, left) = (served, senders.count)
    let isHeard = backend.answers(at: second)
    for device in senders {
      let isServed = wanted > 0 && random.below(left) < wanted
      left -= 1
      if isServed { wanted -= 1 }
      // An answer takes no time.
      pass(to: devices[device].last, of: device)
      devices[device].isSending = false
      if isServed { devices[device].isCredited = true }
      if isServed, isHeard {
        try reply(to: device)
      } else {
        try fail(device, isServed ? .silence : backend.failure(at: second))
      }
    }
  }

  private func reply(to device: Int) throws(QueueError) {
    let shadow = devices[device].storage.shadow
    shadow.given = [(0, .granted)]
    let verdict = ClaimVerdict(environment: Names.environment, transactionID: Names.id(0), verdict: .granted)
    (devices[device].isFailing, devices[device].hasHeard) = (false, true)
    delivered += 1
    let lane = Names.lanes[shadow.row(0).lane]
    try perform(
      devices[device].machine.replyArrived(
        lane: lane, UploadReply(ledgerEpoch: "1", verdicts: [verdict]), now: Timestamp(milliseconds: now)),
      of: device)
  }

  private func fail(_ device: Int, _ failure: FleetFailure) throws(QueueError) {
    devices[device].isFailing = true
    let upload: UploadFailure
    switch failure {
    case .silence: upload = .retry(reason: "no answer", retryAfterMilliseconds: nil)
    case .busy(let asked):
      upload = .backendBusy(reason: "503", retryAfterMilliseconds: asked)
      if let asked { devices[device].floor = now + asked }
    }
    let lane = Names.lanes[devices[device].storage.shadow.row(0).lane]
    try perform(
      try devices[device].machine.uploadFailed(lane: lane, upload, now: Timestamp(milliseconds: now)),
      of: device)
  }

  // MARK: Invariants

  private func checkSend(_ entries: [Entry], of device: Int) {
    let row = devices[device].storage.shadow.row(0)
    checker.expect(.oneInFlight, !devices[device].isSending, "device \(device) has two requests in flight")
    checker.expect(
      .sendAfterEnqueue, entries.count == 1 && row.state == .queued,
      "device \(device) sends what is not durable")
    checker.expect(
      .attempts, row.attempts == devices[device].attempts + 1,
      "device \(device) has \(row.attempts) attempts on record")
    devices[device].attempts = row.attempts
    if devices[device].floor > 0 {
      checker.expect(.retryAfter, now >= devices[device].floor, "device \(device) ignores Retry-After")
    }
    guard devices[device].isFailing else { return }
    devices[device].spent.append(now)
    devices[device].spent.removeAll { now - $0 >= 3_600_000 }
    let count = devices[device].spent.count
    checker.expect(
      .budget, count <= policy.mostRetriesPerWindow, "device \(device) sends \(count) requests in an hour")
  }

  private func checkEnd() {
    for (number, device) in devices.enumerated() where device.hasBought {
      let row = device.storage.shadow.row(0)
      checker.expect(
        .conservation, row.state != .none || row.isBuried && device.isCredited,
        "the purchase of device \(number) is gone")
      guard device.hasHeard else { continue }
      checker.expect(
        .finished, row.isBuried && !row.hasPendingFinish && !row.isUnconfirmed,
        "device \(number) has a duty left")
    }
  }
}
