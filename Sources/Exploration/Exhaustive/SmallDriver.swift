import PurchaseQueue
import PurchaseSync

/// Something outside the small world happened: the search would be wrong about it.
package struct OutsideTheSmallWorld: Error, CustomStringConvertible {
  package let description: String
}

/// How an event ends for a device.
struct SmallEnd {
  var device: SmallDevice
  /// The requests that went out.
  var sent: [SmallRequest] = []
  /// What is on the disk, as text.
  var diskText: String
  /// Of an end with a crash: what the crash breaks.
  var fault: SmallFault?
}

/// The driver of the small world's devices: gives one event to the production machine and performs its actions.
final class SmallDriver {
  let storage: SmallStorage
  private let make: BranchingStorageMaker
  private let bug: ExhaustiveBug?
  let world: SmallWorld
  private let seed: UInt64
  private let limits: QueueLimits
  private let mail: SmallMail

  // Of the present event.
  private var device: SmallDevice
  private var sent: [SmallRequest] = []
  private var ends: [SmallEnd] = []
  var before: any BranchingStorage
  private var textBefore = ""
  var heard: UploadReply?
  var fault: SmallFault?
  var outside: String?
  /// Outcomes that the app has confirmed, in this step or at any time before it, as bits.
  var confirmed = 0
  private var isLaunching = false
  /// How often a machine was called.
  private(set) var calls = 0

  init(
    _ world: SmallWorld, bug: ExhaustiveBug?, seed: UInt64, _ mail: SmallMail,
    _ make: @escaping BranchingStorageMaker
  ) {
    (self.world, self.bug, self.seed, self.mail, self.make) = (world, bug, seed, mail, make)
    var limits = SmallWorld.limits
    if bug == .limitIgnored { limits.entries = SmallWorld.most }
    self.limits = limits
    let empty = make(limits)
    storage = SmallStorage(empty, bug: bug)
    before = empty
    device = SmallDevice(
      machine: SyncMachine(storage: storage, policy: SmallWorld.policy, appVersion: "1", seed: seed),
      disk: empty)
  }

  /// A device on which the app was never started.
  var newDevice: SmallDevice {
    SmallDevice(
      machine: SyncMachine(storage: storage, policy: SmallWorld.policy, appVersion: "1", seed: seed),
      disk: make(limits))
  }

  /// What follows from an event.
  struct Result {
    var end: SmallEnd
    /// The ends with a crash: after each commit and each action, the earliest first.
    var crashes: [SmallEnd]
    var fault: SmallFault?
  }

  func take(_ event: SmallEvent, _ device: SmallDevice) throws(OutsideTheSmallWorld) -> Result {
    self.device = device
    (sent, ends, heard, fault, outside) = ([], [], nil, nil, nil)
    before = device.disk
    textBefore = device.diskText
    confirmed = Self.seen(on: device.disk)
    storage.content = (device.unwritten ?? device.disk).branch()
    storage.durable = device.unwritten == nil ? nil : device.disk
    storage.committed = { [unowned self] in committed() }
    isLaunching = event == .launch
    calls += 1
    // The store has finished it, and the process does not learn of it.
    if case .finished(_, isThere: true) = event { mayCrash() }
    happen(event)
    if let outside { throw OutsideTheSmallWorld(description: outside) }
    var end = SmallEnd(device: self.device, sent: sent, diskText: textBefore)
    end.device.disk = storage.onDisk
    if isQuiet(end.device) { end.device.timerAt = nil }
    end.device.unwritten = storage.durable == nil ? nil : storage.content
    if fault == nil, event != .reinstall { fault = silence }
    return Result(end: end, crashes: ends, fault: fault)
  }

  /// Nothing waits for the timer. When it fires, nothing happens but that time passes.
  private func isQuiet(_ device: SmallDevice) -> Bool {
    storage.content.allEntries.isEmpty && device.finishing == 0
      && !(device.isAlive && device.machine.isStoreHoldingMore)
  }

  // MARK: Events

  private func happen(_ event: SmallEvent) {
    switch event {
    case .launch:
      device.isAlive = true
      device.machine = SyncMachine(
        storage: storage, policy: SmallWorld.policy, appVersion: "1", seed: seed)
      feed { (machine, now) throws(QueueError) in try machine.started(now: now) }
      list()
      device.wasLeft = bug == .dropsUnlisted && !device.disk.allEntries.isEmpty
    case .timer:
      device.now = max(device.now, device.timerAt ?? 0)
      device.timerAt = nil
      textBefore = device.diskText
      feed { (machine, now) throws(QueueError) in machine.timerFired(now: now) }
    case .listed(let listed): self.listed(listed)
    case .arrives(let sale):
      device.arriving &= ~(1 << sale)
      arrives(sale, in: nil)
    case .finished(let sale, let isThere):
      device.finishing &= ~(1 << sale)
      feed { (machine, now) throws(QueueError) in
        try machine.finishEnded(Names.key(sale), isThere ? .finished : .notListed, now: now)
      }
    case .reply(let lane, let answer): replied(lane, mail.answers[answer])
    case .noReply(let lane): failed(lane)
    case .buys(let account, let sale): buys(account, sale)
    case .charged(let sale): device.arriving |= 1 << sale
    case .forgets(let sale): device.arriving &= ~(1 << sale)
    case .confirms(let sale): confirms(sale)
    case .leaves(let account): leaves(account)
    case .reinstall:
      device.die(leaving: make(limits))
      storage.content = device.disk
      storage.durable = nil
      if bug == .keyedByInstallation { device.installation += 1 }
      textBefore = device.diskText
    case .crash:
      device.die(leaving: storage.onDisk)
      storage.content = storage.onDisk
      storage.durable = nil
    }
  }

  private func list() {
    if device.isListing { device.listsAgain = true } else { device.isListing = true }
  }

  private func listed(_ listed: Int) {
    device.isListing = false
    var keys: Set<EntryKey> = []
    for sale in 0..<SmallWorld.most where listed & 1 << sale != 0 {
      keys.insert(Names.key(sale))
      device.arriving &= ~(1 << sale)
      arrives(sale, in: Names.storeAccounts[0])
    }
    if device.wasLeft { dropUnlisted(keys) }
    device.wasLeft = false
    feed { (machine, now) throws(QueueError) in
      try machine.storeListed(keys, account: Names.storeAccounts[0], now: now)
    }
    guard device.listsAgain else { return }
    device.listsAgain = false
    list()
  }

  private func arrives(_ sale: Int, in account: String?) {
    if bug == .finishesOnArrival { finish(sale) }
    let user = AppUser(account: device.user < 0 ? nil : Names.accounts[device.user])
    var transaction = StoreAndBackend.transaction(sale, in: world)
    if bug == .seatsPaid { transaction.ownership = nil }
    let error = step { (machine, now) throws(QueueError) in
      try machine.transactionArrived(transaction, storeAccount: account, user: user, now: now)
    }
    guard let error else { return }
    guard case .queueFull = error else { return outside = outside ?? "a delivery failed: \(error)" }
    if bug == .finishesFailedEnqueue { finish(sale) }
  }

  /// The planted bug: what an earlier process left, after a failure, and the store does not list any more.
  private func dropUnlisted(_ keys: Set<EntryKey>) {
    for entry in storage.content.allEntries where !keys.contains(entry.key) && device.wasUnanswered {
      do throws(QueueError) {
        try storage.remove(entry.key, now: Timestamp(milliseconds: device.now))
      } catch {
        outside = outside ?? "\(error)"
      }
      committed()
    }
  }

  private func replied(_ lane: Int, _ reply: UploadReply) {
    device.waits[lane] = -1
    heard = reply
    let user = lane == 0 && device.user >= 0 ? Names.accounts[device.user] : nil
    feed { (machine, now) throws(QueueError) in
      machine.replyArrived(lane: Names.lanes[lane], reply, presented: user, now: now)
    }
  }

  private func failed(_ lane: Int) {
    let request = device.waits[lane]
    device.waits[lane] = -1
    if bug == .noReplyIsGranted, request >= 0 {
      let verdicts = mail.requests[request].claims.map {
        ClaimVerdict(environment: Names.environment, transactionID: Names.id($0.sale), verdict: .granted)
      }
      return feed { (machine, now) throws(QueueError) in
        machine.replyArrived(
          lane: Names.lanes[lane], UploadReply(ledgerEpoch: "epoch-0", verdicts: verdicts), now: now)
      }
    }
    if bug == .dropsUnlisted { device.wasUnanswered = true }
    feed { (machine, now) throws(QueueError) in
      try machine.uploadFailed(
        lane: Names.lanes[lane], .retry(reason: "no answer", retryAfterMilliseconds: nil), now: now)
    }
    if bug == .timerLost { device.timerAt = nil }
  }

  private func buys(_ account: Int, _ sale: Int) {
    device.user = account
    storage.content.add(StoreAndBackend.order(sale), account: Names.accounts[account])
    storage.durable = nil
    committed()
  }

  /// The order stays open: its number is that of no purchase.
  private func leaves(_ account: Int) {
    buys(account, SmallWorld.most)
    device.die(leaving: storage.onDisk)
  }

  // MARK: Machine and actions

  private typealias MachineEvent = (inout SyncMachine<SmallStorage>, Timestamp) throws(QueueError) ->
    [SyncAction]

  private func step(_ event: MachineEvent) -> QueueError? {
    do throws(QueueError) {
      perform(
        try call { (machine) throws(QueueError) in
          try event(&machine, Timestamp(milliseconds: device.now))
        })
      return nil
    } catch {
      return error
    }
  }

  /// Calls the machine. Each commit looks at the device in the meantime.
  private func call<R>(_ body: (inout SyncMachine<SmallStorage>) throws(QueueError) -> R) throws(QueueError)
    -> R
  {
    var machine = device.machine
    defer { device.machine = machine }
    return try body(&machine)
  }

  private func feed(_ event: MachineEvent) {
    if let error = step(event) { outside = outside ?? "a step failed: \(error)" }
  }

  private func perform(_ actions: [SyncAction]) {
    for action in actions {
      switch action {
      case .send(let lane, let entries): send(entries, in: Names.lane(lane))
      case .finish(let tombstone): finish(Names.transaction(tombstone.key))
      case .listStore: if bug != .overflowForgotten { list() }
      case .wake(let moment): wake(at: moment.milliseconds)
      case .emit(let event): if let outcome = event.outcome { tell(outcome) }
      case .readProof, .adopt, .storageFailed: outside = outside ?? "\(action)"
      }
    }
  }

  private func wake(at moment: Int64) {
    if moment - device.now > 86_400_000 { broken(.timers, "a timer lies more than a day ahead") }
    device.timerAt = min(device.timerAt ?? .max, max(moment, device.now))
  }

  private func tell(_ outcome: Outcome) {
    let sale = Names.transaction(outcome.key)
    mayCrash()
    if bug == .toldOnce, isLaunching { return }
    device.telling |= 1 << sale
    if bug == .seenWhenTold { markConfirmed(sale) }
  }

  private func confirms(_ sale: Int) {
    device.telling &= ~(1 << sale)
    confirmed |= 1 << sale
    markConfirmed(sale)
  }

  private func markConfirmed(_ sale: Int) {
    feed { (machine, now) throws(QueueError) in
      try machine.outcomeConfirmed(Names.key(sale), now: now)
    }
  }

  private func finish(_ sale: Int) {
    mayCrash()
    if tombstone(sale) == nil {
      broken(.finishAfterAcknowledgement, "\(Names.id(sale)) is finished, and was not acknowledged")
    }
    device.finishing |= 1 << sale
  }

  private func send(_ entries: [Entry], in lane: Int) {
    do throws(QueueError) {
      let now = Timestamp(milliseconds: device.now)
      let start = try call { (machine) throws(QueueError) in
        try machine.attemptBegins(lane: Names.lanes[lane], now: now)
      }
      switch start {
      case .send(let told): perform(told)
      case .hold(let next): return perform(next)
      }
    } catch {
      return outside = outside ?? "an attempt failed: \(error)"
    }
    mayCrash()
    for entry in entries { checkSend(entry, lane) }
    if device.waits[lane] >= 0 {
      broken(.oneInFlight, "a second request of lane \(Names.lanes[lane].rawValue)")
    }
    let sender = bug == .wrongAccount && lane > 0 && device.user >= 0 ? device.user + 1 : lane
    if sender != lane {
      broken(.ownName, "lane \(Names.lanes[lane].rawValue) is sent in the name of another account")
    }
    let request = SmallRequest(
      lane: lane, sender: sender, signedIn: lane == 0 ? device.user : -1,
      claims: entries.map {
        .init(
          sale: Names.transaction($0.key), order: $0.orderNumber.map(Names.order) ?? -1,
          isProven: !$0.payloads.isEmpty)
      },
      installation: device.installation)
    device.waits[lane] = mail.number(of: request)
    sent.append(request)
    if bug == .sendsTwice {
      sent.append(request)
      broken(.oneInFlight, "a second request of lane \(Names.lanes[lane].rawValue)")
    }
  }

  // MARK: Crashes

  /// A commit returned.
  private func committed() {
    checkCommit()
    before = storage.onDisk.branch()
    var text = ValueText(now: device.now)
    text.add(value: before)
    textBefore = text.text
    mayCrash()
  }

  /// The process may die here: what is on the disk stays, and so does what went out.
  private func mayCrash() {
    var dead = device
    dead.die(leaving: before)
    ends.append(SmallEnd(device: dead, sent: sent, diskText: textBefore, fault: silence))
  }
}
