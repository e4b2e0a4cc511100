import PurchaseQueue
import PurchaseSync
import VirtualTime

/// Invariants 40 and 41: what can be delivered is delivered in time.
///
/// Obstacles are looked at after each event, deadlines before the next one. A row is looked at only if something of its
/// lane can be late.
extension MachineSimulation {
  /// The policy says nothing of the time that requests take.
  var bounds: DeliveryBounds { DeliveryBounds(alone: RetryPolicy().deliveryBoundMilliseconds + 9_000) }

  // MARK: Obstacles

  /// To be called after each event.
  func observeObstacles() {
    firstDue = .max
    let bounds = self.bounds
    for phone in phones {
      let app = processes[phone.number]
      let shared = obstacles(of: phone, app)
      for lane in phone.deadlines.indices {
        let own = shared.isEmpty ? obstacles(in: lane, phone, app) : shared
        phone.deadlines[lane].observe(own, at: now)
        guard own.isEmpty, phone.shadow.queuedInLane[lane] > 0 else { continue }
        firstDue = min(firstDue, phone.deadlines[lane].earliest(bounds) ?? .max)
      }
      let isFull = phone.shadow.queued >= knobs.entries
      phone.taking.observe(isFull ? shared.union(.capacity) : shared, at: now)
      guard !store.listed[phone.storeAccount].isEmpty else { continue }
      firstDue = min(firstDue, phone.taking.earliest(bounds) ?? .max)
    }
  }

  /// What stands in the way of every purchase of a phone.
  private func obstacles(of phone: Phone, _ app: Process) -> Obstacles {
    var found: Obstacles = []
    if faultBits != 0, faults.contains(where: { $0.phone < 0 || $0.phone == phone.number }) {
      found.formUnion([.network, .backend])
    }
    if !app.isAlive || app.isSuspended || processes[phones.count + phone.number].isAlive {
      found.insert(.background)
    }
    if phone.armed != nil || app.storage.isDisturbed { found.insert(.storage) }
    return found
  }

  private func obstacles(in lane: Int, _ phone: Phone, _ app: Process) -> Obstacles {
    var found: Obstacles = []
    if lane > 0, !phone.isSignedIn(lane - 1) || app.waitingLanes & 1 << lane != 0 {
      found.insert(.credentials)
    }
    // A request that left before the network was back.
    let request = Int(app.uploads[lane])
    if request >= 0, uploads[request].fate != nil || uploads[request].failure != nil {
      found.insert(.network)
    }
    if !isCured, knobs.poison > 0 {
      let isHeldUp = phone.shadow.lanes[lane].contains {
        store.sales[Int($0)].poison != .none && phone.shadow.rows[Int($0)].state == .queued
      }
      if isHeldUp { found.insert(.refused) }
    }
    return found
  }

  /// Until when the backend asked to wait with a lane.
  private func floor(of lane: Int, _ phone: Phone) -> Int64 {
    max(phone.asked[.everything]?.until ?? .min, phone.asked[.lane(lane)]?.until ?? .min)
  }

  // MARK: Answers

  /// The backend settled purchases: what is behind them in their lane had to wait for that request. Other lanes did not,
  /// but while the backend recovers, the pace is that of all lanes.
  func noteSettled(in own: Int, on phone: Phone) {
    for lane in phone.deadlines.indices {
      let way = lane == own ? Int64(2 * knobs.latency) : 0
      phone.deadlines[lane].wentOn(for: way + policy.paceMilliseconds)
    }
  }

  /// An upload brought no verdict. With a budget that is spent, the next lane waits until one request is back.
  func noteUnanswered(in own: Int, of process: Process) {
    guard isBudgetSpent(process) else { return }
    for lane in process.phone.deadlines.indices where lane != own {
      process.phone.deadlines[lane].wentOn(for: policy.budgetIntervalMilliseconds)
    }
  }

  // MARK: Wakes

  func noteWake(of process: Process, _ reason: WakeReason) {
    guard process.role == 0, process.isAlive else { return }
    let phone = process.phone
    observeObstacles()
    for lane in phone.deadlines.indices where floor(of: lane, phone) <= now {
      if case .signedIn(let account) = reason, lane != Names.account(account) + 1 { continue }
      phone.deadlines[lane].woken(at: now)
    }
  }

  /// The store is about to be listed.
  func noteListing(by process: Process) {
    guard process.role == 0 else { return }
    observeObstacles()
    process.phone.taking.woken(at: now)
  }

  /// A phone is set back to its backup, with the waits that were open then. A machine cannot know how much of one is over.
  func restoreWaits(of phone: Phone) {
    // By a clock that went back since, those that were over are open again.
    let back = max(0, phone.clockInImage - phone.clock)
    for (what, wait) in phone.askedInImage where wait.until > phone.imageTakenAt || wait.until + back > now {
      phone.asked[what] = phone.asked[what]?.orLonger(wait) ?? wait
      phone.restarting.insert(what)
    }
  }

  /// The phone's clock is set: a wait that is open may end, or begin once more.
  func restartWaits(of phone: Phone, by distance: Int64) {
    let goesBack = distance < 0
    phone.unseenJump = max(0, phone.unseenJump - distance)
    guard phone.asked.values.contains(where: { $0.until > now }) else { return }
    for (what, wait) in phone.asked where wait.until > now && goesBack {
      // A machine begins it once more at its next event, which comes at the end of the wait at the latest, or at a launch.
      phone.asked[what]?.until = wait.until + wait.length
      phone.restarting.insert(what)
    }
    for lane in phone.deadlines.indices { phone.deadlines[lane].observe(.askedToWait, at: now) }
  }

  /// A machine starts. After the clock went back it cannot know how much of a stored wait is over.
  func restartWaitsAtLaunch(of phone: Phone) {
    // No process saw the clock go back: by its time, waits that were over are still open.
    for (what, wait) in phone.asked where wait.until <= now && wait.until + phone.unseenJump > now {
      phone.asked[what]?.until = min(wait.until + phone.unseenJump, now + wait.length)
    }
    phone.unseenJump = 0
    for what in phone.restarting {
      guard let wait = phone.asked[what] else { continue }
      phone.asked[what]?.until = max(wait.until, now + wait.length)
    }
    guard !phone.restarting.isEmpty else { return }
    phone.restarting = []
    for lane in phone.deadlines.indices { phone.deadlines[lane].observe(.askedToWait, at: now) }
  }

  /// The storage did not take what the store delivered: it comes again with the next list.
  func noteNotTaken(by process: Process) { process.phone.taking.observe(.storage, at: now) }

  // MARK: Deadlines

  /// To be called before the next event: what held until then can be late.
  func checkDeadlines(at moment: Int64) {
    for phone in phones {
      let app = processes[phone.number]
      for lane in phone.deadlines.indices where phone.shadow.queuedInLane[lane] > 0 {
        guard let first = phone.deadlines[lane].earliest(bounds), moment > first else { continue }
        check(lane, phone, app, at: moment)
      }
      checkTaking(phone, at: moment)
    }
  }

  private func check(_ lane: Int, _ phone: Phone, _ app: Process, at moment: Int64) {
    let deadline = phone.deadlines[lane]
    let asked = floor(of: lane, phone)
    for number in phone.shadow.lanes[lane] {
      let sale = Int(number)
      let row = phone.shadow.rows[sale]
      guard row.state == .queued, !row.isUpdate, !row.isAside, isDeliverable(sale, row, phone, deadline)
      else { continue }
      let own = phone.asked[.purchase(sale)]?.until ?? .min
      guard let due = deadline.due(bounds, arrival: row.queuedAt, floor: max(asked, own)) else { continue }
      checker.expect(
        due.isWoken ? .promptAfterWake : .promptAlone, moment <= due.at,
        "phone \(phone.number + 1): \(Names.id(sale)) can be delivered since \((moment - due.since) / 1_000) s"
          + why(app, Names.lanes[lane]))
    }
  }

  /// Whether the backend would settle it. What it answered without a settling verdict is its own matter.
  private func isDeliverable(
    _ sale: Int, _ row: Shadow.Row, _ phone: Phone, _ deadline: DeliveryDeadline
  ) -> Bool {
    // Its own waits have a bound of their own, also after its repair.
    if store.sales[sale].poison != .none { return false }
    if let answered = phone.leftOpen[sale], answered >= deadline.ableSince ?? .min { return false }
    // A receipt without the transaction proves nothing.
    if row.receipt >= 0, !row.isSigned { return store.holds(receipt: row.receipt, sale) }
    return row.isSigned || store.sales[sale].isListed
  }

  /// What the store lists is in the queue, or settled, soon after it came or after a wake.
  private func checkTaking(_ phone: Phone, at moment: Int64) {
    guard let first = phone.taking.earliest(bounds), moment > first else { return }
    for number in store.listed[phone.storeAccount] {
      let sale = Int(number)
      guard store.lists(sale, to: phone.number, as: phone.storeAccount),
        let due = phone.taking.due(bounds, arrival: store.sales[sale].listedAt - Self.epoch)
      else { continue }
      let row = phone.shadow.row(sale)
      checker.expect(
        due.isWoken ? .promptAfterWake : .promptAlone,
        moment <= due.at || row.state != .none || row.isBuried,
        "phone \(phone.number + 1): the store lists \(Names.id(sale)), and it is not queued")
    }
  }
}
