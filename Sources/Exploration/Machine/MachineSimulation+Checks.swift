import PurchaseQueue
import PurchaseSync

/// Checks the invariants at the moments when they can break.
extension MachineSimulation {
  private static let day: Int64 = 86_400_000

  // MARK: Sending

  func checkSend(_ entries: [Entry], in lane: Int, _ process: Process) {
    let phone = process.phone
    let shadow = phone.shadow
    let now = deviceNow(phone).milliseconds
    var isOut = false
    for other in processes where other.phone === phone && other.isAlive {
      let number = Int(other.uploads[lane])
      if number >= 0, uploads[number].failure != .laneTaken { isOut = true }
    }
    checker.expect(.oneInFlight, !isOut, "a second request of lane \(Names.lanes[lane].rawValue)")
    checkOrder(entries, lane, shadow)
    for entry in entries {
      let sale = Names.transaction(entry.key)
      let row = shadow.row(sale)
      let stored = stored(entry.key, process)
      checker.expect(
        .sendAfterEnqueue, stored?.state == .queued, "\(entry.key) was sent, and is not in the queue")
      checker.expect(
        .ownName, Names.lane(entry.lane) == lane,
        "\(entry.key) of \(entry.lane.rawValue) was sent in another lane")
      checker.expect(
        .attempts, stored?.attempts == row.attempts && row.attempts > entry.attempts,
        "attempt \(entry.attempts + 1) of \(entry.key) is not durable")
      checkFloor(of: sale, phone, now)
    }
    let floor = max(process.floorOfAll, process.floorOfLane[lane])
    if floor > 0 {
      checker.expect(
        .retryAfter, now >= floor, "lane \(Names.lanes[lane].rawValue) is sent \(floor - now) ms too early")
    }
    let isForPerson = process.personLanes & 1 << lane != 0
    process.personLanes &= ~(1 << lane)
    defer {
      followRecovery(process)
      shareBackend(of: process)
    }
    guard !isForPerson, process.isFailing || process.failingLanes & 1 << lane != 0 else { return }
    if !process.isFailing, process.recoveringSends > 0 {
      process.recoveringSends -= 1
    } else {
      spend(process, now)
    }
  }

  private func stored(_ key: EntryKey, _ process: Process) -> Entry? {
    do throws(QueueError) {
      return try process.storage.base.entry(key)
    } catch {
      return nil
    }
  }

  /// The first entry has no entry before it that was never tried, and those that go with it keep their order.
  private func checkOrder(_ entries: [Entry], _ lane: Int, _ shadow: Shadow) {
    guard let head = entries.first, head.attempts == 0 else { return }
    let sale = Names.transaction(head.key)
    var isFirst = true
    for other in shadow.lanes[lane] {
      if Int(other) == sale { break }
      let row = shadow.rows[Int(other)]
      if row.state == .queued, row.attempts == 0, row.readyAt == 0 { isFirst = false }
    }
    let places = entries.filter { $0.attempts == 0 && $0.readyAt.milliseconds == 0 }.map(\.place)
    if zip(places, places.dropFirst()).contains(where: { $0 > $1 }) { isFirst = false }
    checker.expect(.firstInFirstOut, isFirst, "\(head.key) goes before one that was queued earlier")
  }

  private func checkFloor(of sale: Int, _ phone: Phone, _ now: Int64) {
    guard !phone.floors.isEmpty, let floor = phone.floors.first(where: { $0.sale == sale }) else { return }
    checker.expect(
      .retryAfter, now >= floor.until, "\(Names.id(sale)) is sent \(floor.until - now) ms too early")
  }

  private func spend(_ process: Process, _ now: Int64) {
    let phone = process.phone
    phone.spent.append(now)
    phone.spent.removeAll { now - $0 >= 3_600_000 || $0 > now }
    let count = phone.spent.count
    if count >= 55 { checker.mark(.budgetSpent) }
    checker.expect(
      .budget, count <= policy.mostRetriesPerWindow, "\(count) requests after a failure within an hour")
  }

  func checkAdoption(_ account: Int, _ process: Process) {
    let now = deviceNow(process.phone).milliseconds
    checker.expect(.oneInFlight, process.adopting & 1 << account == 0, "a second adoption of one account")
    checker.expect(
      .sendAfterEnqueue, isDurable(adoptionOf: account, process) || process.storage.hasStruck,
      "an adoption that is not durable")
    if process.floorOfAll > 0 {
      checker.expect(.retryAfter, now >= process.floorOfAll, "an adoption before the backend's Retry-After")
    }
    let isForPerson = process.personAdoptions & 1 << account != 0
    process.personAdoptions &= ~(1 << account)
    defer { followRecovery(process) }
    if process.isFailing, !isForPerson { spend(process, now) }
  }

  /// Whether the adoption is stored, or another process has completed it.
  private func isDurable(adoptionOf account: Int, _ process: Process) -> Bool {
    let shadow = process.phone.shadow
    if shadow.adoptions & 1 << account == 0 { return shadow.adoptionsEver & 1 << account != 0 }
    do throws(QueueError) {
      return try process.storage.base.deviceAdoptions().contains { $0.account == Names.accounts[account] }
    } catch {
      return false
    }
  }

  // MARK: Answers

  func noteReply(_ reply: UploadReply, _ upload: Upload, _ process: Process) {
    noteAnswer(process)
    process.failingLanes &= ~(1 << upload.lane)
    process.floorOfLane[upload.lane] = 0
    let shadow = process.phone.shadow
    if !process.phone.floors.isEmpty {
      process.phone.floors.removeAll { floor in upload.claims.contains { $0.sale == floor.sale } }
    }
    shadow.given.removeAll(keepingCapacity: true)
    for verdict in upload.truth ?? reply.verdicts {
      let sale = Names.order(verdict.transactionID)
      guard upload.claims.contains(where: { $0.sale == sale }) else { continue }
      if shadow.given.contains(where: { $0.sale == sale }) { continue }
      shadow.given.append((sale, verdict.verdict))
      if !verdict.verdict.isSettled { process.phone.leftOpen[sale] = now }
      guard !verdict.verdict.isSettled, let seconds = verdict.retryAfter, seconds > 0 else { continue }
      pendingFloors.append(
        (sale, deviceNow(process.phone).milliseconds + min(Int64(min(seconds, 1e9)) * 1_000, Self.day)))
    }
    if shadow.given.contains(where: { $0.verdict.isSettled }) {
      noteSettled(in: upload.lane, on: process.phone)
    }
  }

  /// The backend did what a request asked for.
  func noteAnswer(_ process: Process) {
    let isRecovering = process.isFailing || process.recoveringSends == 0 && isBudgetSpent(process)
    process.recoveringSends = isRecovering ? policy.pacedSends : max(0, process.recoveringSends - 1)
    process.isFailing = false
  }

  /// Whether the next request after a failure would have to wait for the budget.
  func isBudgetSpent(_ process: Process) -> Bool {
    let now = deviceNow(process.phone)
    return process.phone.shadow.retry.budget.nextAllowed(.retry, now: now, policy: policy) > now
  }

  func checkReply(_ upload: Upload, _ process: Process) {
    let phone = process.phone
    let shadow = phone.shadow
    let wasKept = process.isAlive && !process.storage.hasStruck
    for (sale, verdict) in shadow.given where wasKept {
      let row = shadow.row(sale)
      if verdict == .refunded {
        checker.expect(
          .refunds, row.state == .none || !upload.places.contains(row.place),
          "\(Names.id(sale)) is refunded, and still in its lane")
      }
      if verdict.isSettled, row.state == .none {
        let paid = store.sales[sale].paidAt
        if verdict == .granted { figures.delivered(after: storeNow - paid, attempts: row.attempts) }
      }
    }
    for floor in pendingFloors {
      phone.asked[.purchase(floor.sale)] = AskedWait(floor.until - deviceNow(phone).milliseconds, at: now)
      if wasKept, shadow.row(floor.sale).state != .none { phone.floors.append((floor.sale, floor.until)) }
      // If the entry could not store it, the lane may obey it in memory.
      guard !wasKept else { continue }
      process.floorAsSaid = max(process.floorAsSaid, floor.until)
      phone.askedOfLane(upload.lane, floor.until - deviceNow(phone).milliseconds, at: now)
    }
    pendingFloors.removeAll(keepingCapacity: true)
  }

  func noteFailure(_ failure: UploadFailure, _ upload: Upload, _ process: Process) {
    let lane = upload.lane
    process.waitingLanes &= ~(1 << lane)
    let now = deviceNow(process.phone).milliseconds
    switch failure.inLane(Names.lanes[lane]) {
    case .retry(_, let asked), .requestFailed(_, let asked):
      noteUnwell(process, failure)
      process.failingLanes |= 1 << lane
      process.floorOfLane[lane] = asked.map { now + min(max($0, 0), Self.day) } ?? 0
      process.phone.askedOfLane(lane, asked, at: self.now)
      // Without one, an earlier one still holds: it was over only by a clock that is ahead.
      if let asked {
        for claim in upload.claims {
          process.phone.asked[.purchase(claim.sale)] = AskedWait(asked, at: self.now)
        }
      }
    case .backendBusy(_, let asked):
      process.isFailing = true
      process.failingLanes |= 1 << lane
      if let asked { process.raiseFloor(to: now + min(max(asked, 0), Self.day)) }
      if let asked { process.phone.askedOfAll(asked, at: self.now) }
    case .backendFault, .otherProtocol:
      process.failingLanes |= 1 << lane
      process.floorOfLane[lane] = 0
    case .signInNeeded, .tokenRefused, .interrupted: process.waitingLanes |= 1 << lane
    case .proofMissing, .laneTaken, .unprepared, .accountRefused, .unreadable: break
    }
  }

  func keepFloors(_ failure: UploadFailure, _ upload: Upload, _ process: Process) {
    let asked: Int64
    switch failure {
    case .retry(_, let wait?), .requestFailed(_, let wait?): asked = wait
    default: return
    }
    guard asked > 0 else { return }
    let until = deviceNow(process.phone).milliseconds + min(asked, Self.day)
    for claim in upload.claims where process.phone.shadow.row(claim.sale).state != .none {
      process.phone.floors.removeAll { $0.sale == claim.sale }
      process.phone.floors.append((claim.sale, until))
    }
  }

  func noteAdoptionFailure(_ failure: UploadFailure, _ process: Process) {
    switch failure {
    case .retry, .requestFailed: noteUnwell(process, failure)
    case .backendBusy(_, let asked):
      process.isFailing = true
      let now = deviceNow(process.phone).milliseconds
      if let asked { process.raiseFloor(to: now + min(max(asked, 0), Self.day)) }
      if let asked { process.phone.askedOfAll(asked, at: self.now) }
    default: break
    }
  }

  // MARK: The backend

  func checkCredit(_ claim: LeanBackend.LeanClaim, before: Int, _ upload: Upload) {
    let count = backend.count(of: claim.sale)
    let isOld = phones[upload.phone].shadow.ofImage
    checker.expect(
      isOld ? .oldImage : .oneCredit, count <= 1, "\(Names.id(claim.sale)) is credited \(count) times")
    guard count > before, let credit = backend.credits.last else { return }
    if let order = credit.order {
      let isPaidTwice = backend.credits.contains { $0.order == order && $0.sale != claim.sale }
      checker.expect(.oneCredit, !isPaidTwice, "order \(order + 1) is fulfilled twice")
      checker.expect(
        .ownName, credit.owner == backend.orders[order].account,
        "\(Names.id(claim.sale)) is credited to another account than its order's")
    }
    checkUnclaimed(claim, credit, upload)
    // The token names the account. Without a token the backend chooses among the orders of the account.
    let sale = store.sales[claim.sale]
    let purpose = purposes[claim.sale]
    if purpose >= 0, credit.owner >= 0, !sale.forgetsToken, sale.proofs == .signed {
      checker.expect(
        .ownName, credit.owner == purpose,
        "\(Names.id(claim.sale)) was bought for \(Names.accounts[purpose]), and credited to \(credit.owner)")
    }
  }

  // MARK: The store

  func checkFinish(_ sale: Int, _ process: Process) {
    let row = process.phone.shadow.row(sale)
    var isDurable = false
    do throws(QueueError) {
      isDurable = try process.storage.base.tombstone(Names.key(sale)) != nil
    } catch {
      isDurable = false
    }
    if row.hasFailed {
      checker.expect(.failedEnqueue, isDurable, "\(Names.id(sale)) could not be queued, and is finished")
    }
    checker.expect(
      .finishAfterAcknowledgement, isDurable && row.isBuried,
      "\(Names.id(sale)) is finished, and was not acknowledged")
  }

  /// A paid transaction has left one of the places that kept it.
  func checkGone(_ sale: Int, _ how: String) {
    checker.expect(
      .conservation, isKept(sale), "\(Names.id(sale)) \(how), and is lost: paid, and not settled on record")
  }

  private func isKept(_ sale: Int) -> Bool {
    if store.sales[sale].isListed || isOnRecord[sale] { return true }
    return phones.contains { $0.shadow.row(sale).state != .none }
  }

  /// The disk of queued entries is wiped: another place must still have each of them.
  func checkWipe(_ phone: Phone) {
    for sale in phone.shadow.rows.indices where phone.shadow.rows[sale].state != .none {
      let isElsewhere =
        store.sales[sale].isListed || isOnRecord[sale]
        || phones.contains { $0 !== phone && $0.shadow.row(sale).state != .none }
      checker.expect(.conservation, isElsewhere, "\(Names.id(sale)) is lost with its disk")
    }
  }

  // MARK: Opening

  /// Compares all storages with their shadows, at intervals.
  func checkAll() {
    for phone in phones {
      guard let process = processes.first(where: { $0.phone === phone && $0.isAlive }) else { continue }
      checkOpened(process.storage.base, of: phone, missing: .leavesSettled)
    }
  }

  /// The storage holds exactly what was committed.
  func checkOpened(_ base: any SyncStorage, of phone: Phone, missing: MachineInvariant = .prefix) {
    let shadow = phone.shadow
    do throws(QueueError) {
      let entries = try phone.disk.entries(base)
      for entry in entries { check(entry, shadow) }
      checker.expect(
        missing, entries.count == shadow.queued + shadow.quarantined,
        "\(shadow.queued + shadow.quarantined) entries were committed, \(entries.count) are there")
      for sale in shadow.rows.indices where shadow.rows[sale].isBuried {
        let row = shadow.rows[sale]
        guard let tombstone = try base.tombstone(Names.key(sale)) else {
          // The storage may drop tombstones without duties to keep within its limit.
          checker.expect(
            .prefix,
            !row.hasPendingFinish && !row.isUnconfirmed
              && shadow.buried >= shadow.limits.tombstones * 15 / 16,
            "the tombstone of \(Names.id(sale)) is gone")
          continue
        }
        checker.expect(
          .finished,
          tombstone.isFinishPending == row.hasPendingFinish && tombstone.isUnconfirmed == row.isUnconfirmed,
          "the duties of \(Names.id(sale)) are not what was committed")
      }
      checker.expect(.budget, try base.retryState() == shadow.retry, "the budget is not what was committed")
    } catch {
      checker.broken(.prefix, "what was committed cannot be read: \(error)")
    }
  }

  private func check(_ entry: Entry, _ shadow: Shadow) {
    let sale = Names.transaction(entry.key)
    let row = shadow.row(sale)
    guard sale >= 0, sale < store.sales.count else {
      return checker.broken(.noGhosts, "\(entry.key) was never bought")
    }
    checker.expect(.noGhosts, row.state != .none, "\(entry.key) was not committed")
    checker.expect(
      .attempts, entry.attempts >= row.attempts,
      "\(entry.key) has \(entry.attempts) attempts, not \(row.attempts)")
    checker.expect(.collapse, entry.place == row.place, "\(entry.key) has another place than before")
    checker.expect(
      .binding, entry.orderNumber.map(Names.order) ?? -1 == row.order,
      "\(entry.key) has another order than before")
    checker.expect(
      .prefix,
      (entry.state == .quarantined) == (row.state == .quarantined)
        && entry.readyAt.milliseconds == row.readyAt && Names.lane(entry.lane) == row.lane,
      "\(entry.key) is not what was committed")
  }

  // MARK: Waiting

  /// An app with waiting entries has a timer. An extension need not: it does not know whether the app runs.
  func checkTimer(_ process: Process, hasThrown: Bool) {
    guard process.timerAt == nil, !hasThrown, process.role == 0 else { return }
    let shadow = process.phone.shadow
    guard shadow.queued + shadow.quarantined > 0 else { return }
    guard !processes.contains(where: { $0 !== process && $0.phone === process.phone && $0.isAlive }) else {
      return
    }
    var waits = shadow.quarantined > 0
    for lane in process.uploads.indices
    where shadow.queuedInLane[lane] > 0 && process.uploads[lane] < 0
      && process.waitingLanes & 1 << lane == 0
    {
      waits = true
    }
    checker.expect(.delivered, !waits, "an entry waits, and no timer is set")
  }

  // MARK: Secrets

  func checkSecrets(_ event: SyncEvent, _ process: Process) {
    var text = "\(event)"
    if bug == .logsProof {
      deeds.note()
      text += " \(LeanStore.receipt(1).bytes)"
    }
    let leak = "\(LeanStore.secret), \(LeanStore.secret), \(LeanStore.secret)"
    checker.expect(.secrets, !text.contains(leak) && !text.contains("###"), "an event holds a proof")
  }
}
