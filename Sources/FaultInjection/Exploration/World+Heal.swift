import PurchaseQueue
import PurchaseSync

/// The second half: no faults any more, and everything has to come to its end.
extension World {
  private static let hour: Int64 = 3_600_000

  /// Everything that goes wrong is over; whoever was away is back.
  func heal() {
    isCalm = true
    tell("no faults any more")
    faults = []
    faultBits = 0
    if knobs.seed % 2 == 0 {
      for phone in phones { killAll(phone) }
    }
    for process in processes {
      process.storage.disarm()
      if process.role == 1 { die(process) }
    }
    for phone in phones {
      phone.armed = nil
      phone.disk.setVault(fails: false)
      let app = processes[phone.number]
      if !app.isAlive { launch(app) }
      for account in 0..<knobs.accounts { signIn(phone, account) }
      wake(app, .foreground)
      list(app)
    }
    expectDelivery()
    plan(.cure, at: now + 3 * 24 * Self.hour)
    plan(.turnEnds, at: now + 71 * Self.hour)
    for turn in 1...knobs.storeAccounts {
      plan(.turn, at: now + Int64(3 * turn + 1) * 24 * Self.hour, turn)
      for day in 1...2 {
        plan(.turnEnds, at: now + Int64(3 * turn + 1 + day) * 24 * Self.hour + 20 * Self.hour)
      }
    }
    plan(.turnEnds, at: now + Int64(5 + 3 * knobs.storeAccounts) * 24 * Self.hour - 30_000)
    plan(.end, at: now + Int64(5 + 3 * knobs.storeAccounts) * 24 * Self.hour)
  }

  /// Invariant 24: the cap, or what is outstanding of the backend's own waits, or a day for what is in quarantine or is
  /// set aside; and the time that the requests themselves take.
  private func expectDelivery() {
    var wait = policy.capMilliseconds
    var count = 0
    for phone in phones {
      let now = deviceNow(phone).milliseconds
      let shadow = phone.shadow
      count += shadow.queued
      // A request that is out and never answered may be the last that its entry needs to be parked.
      let isOut = processes[phone.number].uploads.contains { $0 >= 0 }
      if shadow.quarantined > 0 || isOut { wait = 24 * Self.hour }
      for row in shadow.rows where row.state == .queued { wait = max(wait, row.readyAt - now) }
      wait = max(wait, processes[phone.number].floorAsSaid - now, storedFloor(phone) - now)
      for floor in processes[phone.number].floorOfLane { wait = max(wait, floor - now) }
      for sale in shadow.rows.indices where shadow.rows[sale].state != .none {
        expected.append((phone.number, sale))
      }
    }
    wait = min(wait, 24 * Self.hour) + 24 * Self.hour / 100 * 20
    let isPoisoned = store.sales.contains { $0.poison != .none }
    // Poison may block its lane for ten minutes and a cap before it is set aside, once for each of them.
    let blocked = isPoisoned ? Int64(store.sales.count { $0.poison != .none }) * 2 * Self.hour : 0
    let perEntry = Int64(2 * knobs.latency + 1_000)
    plan(.deadline, at: now + wait + blocked + Int64(count) * perEntry + policy.capMilliseconds)
  }

  func checkDeadline() {
    for (number, sale) in expected {
      guard store.sales[sale].poison == .none else { continue }
      let row = phones[number].shadow.row(sale)
      // Several that never work take turns at the head of their lane, and for how long is a matter of chance.
      let poisonous = expected.count { other in
        other.phone == number && store.sales[other.sale].poison != .none
          && phones[number].shadow.row(other.sale).lane == row.lane
      }
      if poisonous > 1 { continue }
      // What is set aside under a full cap leaves no room to come back to.
      if row.state == .quarantined, isFull(phones[number]) { continue }
      // A receipt that lacks it proves nothing, and another comes only with its Apple ID.
      if row.receipt >= 0, !row.isSigned, !store.holds(receipt: row.receipt, sale) { continue }
      checker.expect(
        .delivered, row.state == .none || row.isUpdate,
        "\(Names.id(sale)) is not delivered: \(pending()?.description ?? "and nothing says why")")
    }
  }

  /// What keeps a lane from sending, as the machine sees it.
  private func why(_ process: Process, _ lane: Lane) -> String {
    let deviceNow = deviceNow(process.phone)
    let timer = process.timerAt.map { "in \(($0 - now) / 1_000) s" } ?? "never"
    do throws(QueueError) {
      switch try process.machine.status(of: lane, reason: nil, now: deviceNow) {
      case .waiting(let until, let reason):
        let seconds = until.milliseconds(since: deviceNow) / 1_000
        return "; the lane waits for \(seconds) s (\(reason)), the timer fires \(timer)"
      case let state: return "; the lane is \(state), the timer fires \(timer)"
      }
    } catch {
      return "; \(error)"
    }
  }

  private func isFull(_ phone: Phone) -> Bool {
    phone.shadow.queued + phone.shadow.unseen >= knobs.entries
  }

  /// Invariant 25: whatever never works is out of the way by now. Then somebody repairs it.
  func cure() {
    for (number, sale) in expected where store.sales[sale].poison != .none {
      let row = phones[number].shadow.row(sale)
      guard row.state != .none else { continue }
      checker.expect(
        .poison, row.state == .quarantined || row.wasSetAside,
        "\(Names.id(sale)) is poison, and neither set aside nor parked after \(row.attempts) attempts")
    }
    isCured = true
    tell("what was poison is repaired")
    // An outcome that another process was told of comes again at the next start.
    for phone in phones {
      killAll(phone)
      launch(processes[phone.number])
    }
  }

  /// The Apple IDs come back in turn.
  func turn(_ number: Int) {
    for phone in phones {
      switchAppleID(phone, to: (phone.number + number) % knobs.storeAccounts)
      wake(processes[phone.number], .foreground)
    }
  }

  /// Everything has come to its end.
  func end() {
    if let reason = pending() { checker.broken(reason.invariant, reason.description) }
    for phone in phones { checkOpened(processes[phone.number].storage.base, of: phone) }
    for sale in store.sales.indices {
      checker.expect(
        .conservation, isOnRecord[sale] || store.sales[sale].isListed,
        "\(Names.id(sale)) was paid, and never settled")
      checkPresentLedger(sale)
    }
    checker.expect(.finished, true, "")
    isOver = true
    guard checker.violation == nil else { return }
    for process in processes where process.isAlive && process.phone.shadow.quarantined == 0 {
      let before = uploads.count
      feed(process) { (machine, now) throws(QueueError) in machine.timerFired(now: now) }
      checker.expect(
        .quiet,
        uploads.count == before && process.finishing.isEmpty
          && process.timerAt.map { $0 < now + 25 * Self.hour } ?? true,
        "nothing is left, and still something is sent")
      // An earlier one may be left; it finds nothing, and sets none.
      if process.timerAt != nil { fire(process, process.timerNumber) }
      checker.expect(.quiet, process.timerAt == nil, "nothing is left, and still a timer is set")
    }
  }

  /// What was settled before the backend was restored from a backup is credited in its present ledger, if a phone knows
  /// of both.
  private func checkPresentLedger(_ sale: Int) {
    guard backend.epoch > 0, backend.count(of: sale) == 0, store.sales[sale].revokedAt == nil else { return }
    if let end = store.sales[sale].expiresAt, end < storeNow { return }
    // That a refund was undone, the backend's own notifications tell: a phone may have finished it before it was
    // handed the news, or have lost the news, which are in no vault, with a reinstall.
    if store.sales[sale].wasRefunded { return }
    // A phone still has it: `pending` says whether it may.
    if phones.contains(where: { $0.shadow.row(sale).state != .none }) { return }
    let epoch = "epoch-\(min(backend.epoch, 9))"
    // What is owed waits where nobody can deliver what takes the room.
    for phone in phones where !isFull(phone) && (phone.shadow.epoch == epoch || plant == .epochIgnored) {
      checker.expect(
        .delivered, !phone.shadow.row(sale).isBuried,
        "\(Names.id(sale)) was settled before the backend was restored, and is not credited any more")
    }
  }

  private var hasLied: Bool { knobs.faults.contains { $0.fault == .wrongOrder } }

  struct Pending: CustomStringConvertible {
    var invariant: Invariant
    var description: String
  }

  /// What is still pending, and why that is so; nil if nothing is.
  func pending() -> Pending? {
    for phone in phones {
      let shadow = phone.shadow
      let name = "phone \(phone.number + 1)"
      for sale in shadow.rows.indices where shadow.rows[sale].state != .none {
        let row = shadow.rows[sale]
        // An old image holds a receipt that has lost it since: it is kept, tried daily, and somebody is told.
        // So is what a lying backend had bound to the wrong order.
        let isAside = row.state == .quarantined || row.wasSetAside
        if isAside, isOnRecord[sale], row.receipt >= 0 && !row.isSigned || hasLied {
          checker.mark(.keptForSomebody)
          continue
        }
        // And where such ones take all the room, there is none to come back to.
        if row.state == .quarantined, isFull(phone) { continue }
        let wait = row.readyAt - deviceNow(phone).milliseconds
        return Pending(
          invariant: .delivered,
          description: "\(name) has \(Names.id(sale)) \(row.state) in lane \(Names.lanes[row.lane].text), "
            + "\(row.attempts) attempts" + (wait > 0 ? ", postponed for \(wait / 1_000) s" : "")
            + why(processes[phone.number], Names.lanes[row.lane]))
      }
      for sale in shadow.rows.indices where shadow.rows[sale].owesFinish {
        // What the store does not list any more is done; a listing of the right account will tell.
        if !store.sales[sale].isListed { continue }
        return Pending(invariant: .finished, description: "\(name) still has to finish \(Names.id(sale))")
      }
      for sale in shadow.rows.indices where shadow.rows[sale].isUnseen {
        return Pending(invariant: .finished, description: "\(name) was never told of \(Names.id(sale))")
      }
      if shadow.claims != 0, !shadow.rows.contains(where: { $0.state != .none && $0.lane == 0 }) {
        return Pending(invariant: .delivered, description: "\(name) has a claim that is never over")
      }
    }
    for sale in store.sales.indices where store.sales[sale].isListed {
      // It waits for room that entries take which nobody can deliver yet.
      let isNobodys = !phones.contains { store.lists(sale, to: $0.number, as: $0.storeAccount) }
      let isSettled = isOnRecord[sale]
      // Settled where no phone has heard of it, it has to be taken once more.
      let isKnown = isSettled && phones.contains { $0.shadow.row(sale).isBuried }
      if !isKnown, phones.contains(where: isFull) { continue }
      if !isSettled, isNobodys, knobs.entries < 64 { continue }
      return Pending(
        invariant: isSettled ? .finished : .delivered,
        description: "\(Names.id(sale)) is \(isSettled ? "settled" : "paid") and unfinished in the store")
    }
    return nil
  }
}
